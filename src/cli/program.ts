import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CONFIG_EXIT_CODE, type Config, ConfigError, readVersion, TEMPORARY_EXIT_CODE } from '../config.ts';
import { StoreError } from '../core/errors.ts';
import { escapeControls } from '../core/json.ts';
import { systemClock } from '../core/time/clock.ts';
import { createService, type Service } from '../service/client.ts';
import { SealError } from '../store/data-keys.ts';
import { EncryptionKeysError } from '../store/encryption-keys.ts';

/** EX_USAGE and EX_DATAERR of sysexits.h. */
const USAGE_EXIT_CODE = 64;
const DATA_EXIT_CODE = 65;

export type Environment = Record<string, string | undefined>;

/** One of the programs of `deckhand`. */
export interface Program {
  /** The command as people type it. */
  command: string;
  help: string;
  options?: NonNullable<ParseArgsConfig['options']>;
  /** Asks for the one argument that the program takes. Undefined: it takes none. */
  argument?: string;
  /** Resolves with the text to print, or with undefined if the process keeps running. Default exit code: 0. */
  main(input: Input): Promise<string | { text: string; code: number } | undefined>;
}

interface Input {
  env: Environment;
  /** Empty if the program takes none. */
  argument: string;
  options: Readonly<Record<string, unknown>>;
}

/** A fault that the operator can put right, in a sentence, or a sentence a line. */
export class ProgramError extends Error {
  readonly code = 'program_error';
  readonly exitCode: number;

  constructor(exitCode: number, ...sentences: string[]) {
    super(sentences.join('\n'));
    this.name = 'ProgramError';
    this.exitCode = exitCode;
  }
}

export function usageError(sentence: string): ProgramError {
  return new ProgramError(USAGE_EXIT_CODE, sentence);
}

/** @param faults the faults of a file or description, a sentence each */
export function dataError(...faults: string[]): ProgramError {
  return new ProgramError(DATA_EXIT_CODE, ...faults);
}

/** The output of a program, and its exit code. */
interface Ending {
  code: number;
  out: string;
  err: string;
}

/** Runs a program. A fault that the operator can put right becomes an `Ending`; any other error is thrown. */
export async function callProgram(
  program: Program,
  args: readonly string[],
  env: Environment,
): Promise<Ending> {
  try {
    const input = readInput(program, args, env);
    const result = input.options.help === true ? program.help.trimEnd() : await program.main(input);
    const { text, code } = typeof result === 'object' ? result : { text: result, code: 0 };
    return { code, out: text === undefined ? '' : `${escapeControls(text)}\n`, err: '' };
  } catch (error) {
    const usage = describeUsage(error);
    const fault = usage
      ? { sentence: `${usage}. See ${program.command} --help.`, exitCode: USAGE_EXIT_CODE }
      : describeFault(error);
    if (fault === undefined) throw error;
    return { code: fault.exitCode, out: '', err: `${escapeControls(fault.sentence)}\n` };
  }
}

function readInput({ options, argument }: Program, args: readonly string[], env: Environment): Input {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  const [word = '', ...more] = positionals;
  const isWrong = argument === undefined ? word !== '' : word === '' || more.length > 0;
  if (isWrong && values.help !== true)
    throw usageError(argument ?? `Unknown program or argument ${JSON.stringify(word)}`);
  return { env, argument: word, options: values };
}

/** The first sentence of an error about the arguments, without its full stop. */
function describeUsage(error: unknown): string | undefined {
  const isOurs = error instanceof ProgramError && error.exitCode === USAGE_EXIT_CODE;
  const isNodes =
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  return isOurs || isNodes ? error.message.split(/\.(?:\s|$)/, 1)[0] : undefined;
}

export interface Fault {
  /** Names the fault and the next step. */
  sentence: string;
  exitCode: number;
}

/** Returns undefined for a bug. */
export function describeFault(error: unknown): Fault | undefined {
  if (error instanceof ProgramError) return { sentence: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return { sentence: error.message, exitCode: CONFIG_EXIT_CODE };
  if (error instanceof SealError || error instanceof EncryptionKeysError)
    return { sentence: error.message.replace(/\.?$/, '.'), exitCode: CONFIG_EXIT_CODE };
  if (!(error instanceof StoreError)) return undefined;
  return { sentence: error.message, exitCode: error.isTemporary ? TEMPORARY_EXIT_CODE : CONFIG_EXIT_CODE };
}

/** Puts the system's refusal of a file into a sentence. Returns any other error as it is. */
export function fileFault(path: string, done: 'written' | 'read', cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOSPC')
    return new StoreError(`The disk of ${path} is full. Free some space.`, { cause, isTemporary: true });
  if (!/^E[A-Z]+$/.test(code)) return cause;
  const sentence = `${path} could not be ${done} (${code}). Check the path, and who may use it.`;
  return new StoreError(sentence, { cause });
}

/** Opens the service alone, for a program. */
export function openService({
  SERVICE_BASE_URL: baseUrl,
  SERVICE_SIGNUP_URL: signupUrl,
  SERVICE_DESCRIPTION_URL: descriptionUrl,
  proxies,
}: Config): Service {
  return createService({
    baseUrl,
    signupUrl,
    descriptionUrl,
    proxies,
    version: readVersion(),
    clock: systemClock,
  });
}
