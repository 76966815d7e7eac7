import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CONFIG_EXIT_CODE, ConfigError, TEMPORARY_EXIT_CODE } from '../config.ts';
import { StoreError } from '../core/errors.ts';
import { escapeControls } from '../core/json.ts';
import { EncryptionKeysError, SealError } from '../store/sealer.ts';

/** EX_USAGE and EX_DATAERR of sysexits.h. */
const USAGE_EXIT_CODE = 64;
const DATA_EXIT_CODE = 65;

type Environment = Record<string, string | undefined>;

/** One of the programs of `deckhand`. */
export interface Program {
  /** As it is typed. */
  command: string;
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** Resolves with what is printed; with nothing where it goes on. */
  run(given: Given): Promise<string | undefined>;
}

interface Given {
  env: Environment;
  /** What stands beside the options. */
  words: readonly string[];
  options: Readonly<Record<string, unknown>>;
}

/** What is wrong with what was typed. */
export class UsageError extends Error {
  readonly code = 'usage_error';
}

/** What is wrong in a file that was given; one fault a line. */
export class DataError extends Error {
  readonly code = 'data_error';

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'DataError';
  }
}

/** What may succeed later. */
export class TemporaryError extends Error {
  readonly code = 'temporary_error';
  override readonly name = 'TemporaryError';
}

/** What a program prints, and what it ends with. */
interface Ending {
  code: number;
  out: string;
  err: string;
}

/** What goes wrong and can be put right is one sentence; anything else is thrown. */
export async function carryOut(program: Program, args: readonly string[], env: Environment): Promise<Ending> {
  try {
    const given = parse(program, args, env);
    const said = given.options.help === true ? program.help.trimEnd() : await program.run(given);
    return { code: 0, out: said === undefined ? '' : `${escapeControls(said)}\n`, err: '' };
  } catch (error) {
    const [sentence, code] = faultOf(error, program) ?? [];
    if (sentence === undefined || code === undefined) throw error;
    return { code, out: '', err: `${escapeControls(sentence)}\n` };
  }
}

function parse({ options }: Program, args: readonly string[], env: Environment): Given {
  const help = { type: 'boolean', short: 'h' } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { ...options, help },
    allowPositionals: true,
  });
  return { env, words: positionals, options: values };
}

type Fault = [sentence: string, exitCode: number];

function faultOf(error: unknown, { command }: Program): Fault | undefined {
  if (isUsage(error)) {
    const [first = ''] = error.message.split(/\.\s/);
    return [`${first.replace(/\.$/, '')}. See ${command} --help.`, USAGE_EXIT_CODE];
  }
  if (error instanceof DataError) return [error.message, DATA_EXIT_CODE];
  if (error instanceof TemporaryError) return [error.message, TEMPORARY_EXIT_CODE];
  if (error instanceof ConfigError) return [error.message, CONFIG_EXIT_CODE];
  if (error instanceof SealError || error instanceof EncryptionKeysError)
    return [error.message.replace(/\.?$/, '.'), CONFIG_EXIT_CODE];
  if (!(error instanceof StoreError)) return undefined;
  return [error.message, error.isTemporary ? TEMPORARY_EXIT_CODE : CONFIG_EXIT_CODE];
}

function isUsage(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
