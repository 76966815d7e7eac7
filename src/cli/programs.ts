import { readFileSync } from 'node:fs';
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import process from 'node:process';
import { parseEnv } from 'node:util';
import { CONFIG_EXIT_CODE, parseConfig, readVersion } from '../config.ts';
import { carryOut, type Program, UsageError } from './program.ts';

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
working folder; docs/operations.md lists them.

Programs:
  backup <file>   Write the SQLite store into a file, while Deckhand runs
  restore <file>  Put such a file in the place of the store
  migrate         Move everything from one store into another
  rotate-keys     Wrap all data keys with the first of ENCRYPTION_KEYS
  export          Print what people have set up, as YAML
  apply <file>    Make the store as such a file says
  schema          Print the statements that make what Postgres needs, for the owner of the database

Options:
  --check-config  Check the settings, list every fault, and end with 0 or 78
  --check-service Compare Deckhand's calls with the service's published description, and end with 0 or 65
  --version       Print the version
  --help          Print this text, or that of a program

Deckhand ends with 64 where what was typed is wrong, with 65 where a file is, with 78 where a setting is at fault or
something else has to change, and with 75 where the same may succeed later.
`,
  async run({ env, words, options }) {
    if (words.length > 0) throw new UsageError(`There is no program ${JSON.stringify(words[0])}`);
    if (options.version === true) return readVersion();
    if (options['check-config'] === true) {
      parseConfig(env);
      return 'The configuration is valid.';
    }
    if (options['check-service'] === true)
      return (await import('./maintenance.ts')).checkService(parseConfig(env));
    // Before the settings are checked, so that a container without any is built with all of it compiled.
    const { run } = await import('./start.ts');
    await run(parseConfig(env));
    return undefined;
  },
};

/** By the word behind `deckhand`. Each is loaded only where it is asked for. */
const PROGRAMS: ReadonlyMap<string | undefined, () => Promise<Program>> = new Map([
  ['start', async () => START],
  ['backup', async () => (await import('./backup.ts')).BACKUP],
  ['restore', async () => (await import('./backup.ts')).RESTORE],
  ['migrate', async () => (await import('./migrate.ts')).MIGRATE],
  ['export', async () => (await import('./configuration.ts')).EXPORT],
  ['apply', async () => (await import('./apply.ts')).APPLY],
  ['schema', async () => (await import('./maintenance.ts')).SCHEMA],
  ['rotate-keys', async () => (await import('./maintenance.ts')).ROTATE_KEYS],
]);

/** Time for each address of a host, before the next is tried. */
const ADDRESS_TIMEOUT_MS = 2_500;

/** What is typed after `deckhand`; without a program, Deckhand runs. */
export async function commandLine(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  // Node's own 250 ms are less than a round trip to a far host takes.
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_TIMEOUT_MS);
  const named = PROGRAMS.get(args[0]);
  const program = (await named?.()) ?? START;
  const { code, out, err } =
    loadEnvironment(env) ?? (await carryOut(program, named === undefined ? args : args.slice(1), env));
  if (out !== '') process.stdout.write(out);
  if (err !== '') process.stderr.write(err);
  process.exitCode = code;
}

/** Adds what `.env` in the working folder sets and the environment does not. @returns why it cannot be read */
function loadEnvironment(env: NodeJS.ProcessEnv): Awaited<ReturnType<typeof carryOut>> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync('.env'));
    for (const [name, value] of Object.entries(parseEnv(text))) env[name] ??= value;
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return undefined;
    const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : code;
    const next = 'Make it a text file in UTF-8 that this user can read, or remove it.';
    return { code: CONFIG_EXIT_CODE, out: '', err: `.env could not be read (${why}). ${next}\n` };
  }
}
