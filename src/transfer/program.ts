import { existsSync, realpathSync } from 'node:fs';
import process from 'node:process';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CONFIG_EXIT_CODE, TEMPORARY_EXIT_CODE } from '../config.ts';
import { EncryptionKeysError } from '../store/encryption-keys.ts';
import { SealError } from '../store/sealer.ts';
import { StoreError } from '../store/store.ts';
import type { Filled } from './fill.ts';
import { describeCounts } from './items.ts';

/** EX_USAGE of sysexits.h. */
const USAGE_EXIT_CODE = 64;

export interface Program {
  /** As it is typed behind `npm run`. */
  name: string;
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** Resolves with what is printed. */
  run(given: Given): Promise<string>;
}

interface Given {
  env: Record<string, string | undefined>;
  /** What stands beside the options. */
  words: readonly string[];
  options: Readonly<Record<string, unknown>>;
}

/** What is wrong with what was typed. */
export class UsageError extends Error {
  readonly code = 'usage_error';
}

/** What a program prints, and what it ends with. */
interface Ending {
  code: number;
  out: string;
  err: string;
}

/** Runs it with what was typed, where Node was started with this file. */
export async function runProgram(program: Program, file: string): Promise<void> {
  // The path may lead through a link, such as that of the current release.
  if (file !== realpathSync(process.argv[1] ?? '.')) return;
  const { code, out, err } =
    loadEnvironment() ?? (await carryOut(program, process.argv.slice(2), process.env));
  process.stdout.write(out);
  process.stderr.write(err);
  process.exitCode = code;
}

/** Undefined unless the `.env` of the working folder cannot be read. */
function loadEnvironment(): Ending | undefined {
  try {
    if (existsSync('.env')) process.loadEnvFile();
    return undefined;
  } catch {
    const err = '.env could not be read. Make it readable for this user, or run this in another folder.\n';
    return { code: CONFIG_EXIT_CODE, out: '', err };
  }
}

/** What goes wrong and can be put right is one sentence; anything else is thrown. */
export async function carryOut(program: Program, args: string[], env: Given['env']): Promise<Ending> {
  try {
    const given = parse(program, args, env);
    const said = given.options.help === true ? program.help : `${await program.run(given)}\n`;
    return { code: 0, out: said, err: '' };
  } catch (error) {
    const [sentence, code] = faultOf(error, program) ?? [];
    if (sentence === undefined || code === undefined) throw error;
    return { code, out: '', err: `${sentence}\n` };
  }
}

function parse({ options }: Program, args: string[], env: Given['env']): Given {
  const help = { type: 'boolean', short: 'h' } as const;
  const { values, positionals } = parseArgs({
    args,
    options: { ...options, help },
    allowPositionals: true,
  });
  return { env, words: positionals, options: values };
}

type Fault = [sentence: string, exitCode: number];

function faultOf(error: unknown, { name }: Program): Fault | undefined {
  if (isUsage(error)) {
    const [first = ''] = error.message.split(/\.\s/);
    return [`${first.replace(/\.$/, '')}. See npm run ${name} -- --help.`, USAGE_EXIT_CODE];
  }
  if (error instanceof SealError || error instanceof EncryptionKeysError)
    return [error.message.replace(/\.?$/, '.'), CONFIG_EXIT_CODE];
  if (!(error instanceof StoreError)) return undefined;
  return [error.message, error.isTemporary ? TEMPORARY_EXIT_CODE : CONFIG_EXIT_CODE];
}

function isUsage(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

/** What the operator reads at the end. */
export function describeFilled(name: string, { counts, opened, shut }: Filled): string {
  const lines = [`${name} has ${describeCounts(counts)}; sealed values opened there: ${opened}.`];
  if (shut.length > 0)
    lines.push(`${shut.length} sealed values do not open, as they did not before: ${shut.join(', ')}.`);
  return lines.join('\n');
}
