import process from 'node:process';
import { CONFIG_EXIT_CODE, ConfigError, parseConfig } from './config.ts';
import { readVersion } from './version.ts';

/** EX_USAGE of sysexits.h. */
const USAGE_EXIT_CODE = 64;

const HELP = `Usage: deckhand [option]

Without an option, Deckhand starts. Its settings are environment variables, or lines of a .env file in the
working folder; docs/operations.md lists them.

Options:
  --check-config  Check the settings, list every fault, and end with 0 or 78
  --version       Print the version
  --help          Print this text

Deckhand ends with 78 where a setting is at fault, and with 75 where starting it again later may help.
`;

type Environment = Record<string, string | undefined>;

/** What is typed after `deckhand`; without anything, Deckhand runs. */
export async function commandLine(args: readonly string[], env: Environment): Promise<void> {
  const [option, ...more] = args;
  if (option === undefined) return start(env);
  if (more.length > 0) return refuse(`Give one option, not ${args.length}.`);
  switch (option) {
    case '--help':
    case '-h':
      process.stdout.write(HELP);
      return;
    case '--version':
    case '-v':
      process.stdout.write(`${readVersion()}\n`);
      return;
    case '--check-config':
      return checkConfig(env);
    default:
      return refuse(`There is no option ${JSON.stringify(option)}.`);
  }
}

/** Loaded only now: the options need none of it. */
async function start(env: Environment): Promise<void> {
  const { run } = await import('./run.ts');
  await run(env);
}

function checkConfig(env: Environment): void {
  try {
    parseConfig(env);
    process.stdout.write('The configuration is valid.\n');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = CONFIG_EXIT_CODE;
  }
}

function refuse(sentence: string): void {
  process.stderr.write(`${sentence} See deckhand --help.\n`);
  process.exitCode = USAGE_EXIT_CODE;
}
