import { readFileSync } from 'node:fs';
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import process from 'node:process';
import { parseEnv } from 'node:util';
import { CONFIG_EXIT_CODE, parseConfig, readVersion, SECRETS } from '../config.ts';
import { callProgram, type Fault, type Program } from './program.ts';

const START: Program = {
  command: 'deckhand',
  options: {
    'check-config': { type: 'boolean' },
    'check-service': { type: 'boolean' },
    version: { type: 'boolean', short: 'v' },
  },
  help: `Usage: deckhand [start] [option]
       deckhand <program> [--help]

Without a program, Deckhand starts. Its settings are environment variables, or lines of a .env file in the
working folder. docs/operations.md lists them.

Programs:
  backup <file>   Write the SQLite store into a file, while Deckhand runs
  restore <file>  Make a new SQLite store from such a file
  migrate         Move everything from one store into another
  rotate-keys     Wrap all data keys with the first of ENCRYPTION_KEYS
  export          Print what people have set up, as YAML
  apply <file>    Set up what such a file says
  doctor          Check the settings, the store, Slack's tokens and the accounts, while Deckhand runs
  schema          Print the statements that create what Postgres needs, for the owner of the database

Options:
  --check-config  Check the settings and list every fault. Exit code 0 or 78
  --check-service Compare Deckhand's calls with the service's published description. Exit code 0 or 65
  --version       Print the version
  --help          Print this text, or the help of a program

Exit codes: 64 for a mistake in the command, 65 for a mistake in a file, 78 if a setting or something else has to
change first, 75 if the same may succeed later.
`,
  async main({ env, options }) {
    if (options.version === true) return readVersion();
    if (options['check-config'] === true) {
      parseConfig(env);
      return 'The configuration is valid.';
    }
    if (options['check-service'] === true)
      return (await import('./check-service.ts')).checkService(parseConfig(env));
    // Before the settings are checked: building the image starts Deckhand without any, to compile all of its code.
    const { startProcess } = await import('./start.ts');
    await startProcess(parseConfig(env));
    return undefined;
  },
};

/** Programs by name. Each is loaded only if it is requested. */
const PROGRAMS: ReadonlyMap<string | undefined, () => Promise<Program>> = new Map([
  ['start', async () => START],
  ['backup', async () => (await import('./backup.ts')).BACKUP],
  ['restore', async () => (await import('./backup.ts')).RESTORE],
  ['migrate', async () => (await import('./migrate.ts')).MIGRATE],
  ['rotate-keys', async () => (await import('./rotate-keys.ts')).ROTATE_KEYS],
  ['schema', async () => (await import('./schema.ts')).SCHEMA],
  ['export', async () => (await import('./configuration.ts')).EXPORT],
  ['doctor', async () => (await import('./doctor.ts')).DOCTOR],
  ['apply', async () => (await import('./apply.ts')).APPLY],
]);

/** Time for each address of a host before Node tries the next. Node's 250 ms are too short for a far host. */
const ADDRESS_TIMEOUT_MS = 2_500;

/** Runs what a person typed after `deckhand`. */
export async function commandLine(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_TIMEOUT_MS);
  const load = PROGRAMS.get(args[0]);
  const program = (await load?.()) ?? START;
  const fault = loadEnvironment(env);
  const { code, out, err } = fault
    ? { code: fault.exitCode, out: '', err: `${fault.sentence}\n` }
    : await callProgram(program, load === undefined ? args : args.slice(1), env);
  if (out !== '') process.stdout.write(out);
  if (err !== '') process.stderr.write(err);
  process.exitCode = code;
}

/** Adds variables from `.env` in the working folder, and secrets from their files, that the environment does not have. */
function loadEnvironment(env: NodeJS.ProcessEnv): Fault | undefined {
  const text = readUtf8('.env');
  // An empty variable counts as not set.
  for (const [name, value] of Object.entries(parseEnv(text.content ?? '')))
    env[name] = env[name]?.trim() || value;
  const sentences: string[] = [];
  if (text.why !== undefined && text.why !== 'ENOENT')
    sentences.push(`.env could not be read (${text.why}). ${READABLE}, or remove it.`);
  for (const name of SECRETS) {
    const path = env[`${name}_FILE`]?.trim();
    if (path) sentences.push(...loadSecret(env, name, path));
  }
  return sentences.length === 0 ? undefined : { sentence: sentences.join('\n'), exitCode: CONFIG_EXIT_CODE };
}

const READABLE = 'Make it a text file in UTF-8 that this user can read';

/** Returns the faults. */
function loadSecret(env: NodeJS.ProcessEnv, name: string, path: string): string[] {
  if (env[name]?.trim()) return [`${name} and ${name}_FILE are both set. Remove one of them.`];
  const { content, why = content?.trim() ? undefined : 'it is empty' } = readUtf8(path);
  env[name] = content;
  return why === undefined ? [] : [`${path} of ${name}_FILE could not be read (${why}). ${READABLE}.`];
}

function readUtf8(path: string): { content: string; why?: undefined } | { why: string; content?: undefined } {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { why: code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : code };
  }
}
