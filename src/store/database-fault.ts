import { resolve } from 'node:path';
import { StoreError } from './store.ts';

const SQLITE = 'sqlite://';

/** What the operator reads, and whether the same start may succeed later. */
type Fault = [sentence: string, isTemporary: boolean];

/**
 * Why a database cannot be used, as one sentence with its path or address and what to do. Undefined where nothing among
 * the error and its causes came from a database.
 */
export function databaseFault(url: string, error: unknown): StoreError | undefined {
  for (const each of causesOf(error)) {
    const code = 'code' in each ? each.code : undefined;
    const fault = url.startsWith(SQLITE)
      ? sqliteFault(resolve(url.slice(SQLITE.length)), each, code)
      : postgresFault(url, each, code);
    if (fault !== undefined) return new StoreError(fault[0], { cause: error, isTemporary: fault[1] });
  }
  return undefined;
}

/** Of whatever was asked of a store, which may also fail after it was opened; undefined where it is no fault of one. */
export function storeFault(url: string, error: unknown): StoreError | undefined {
  if (error instanceof StoreError && error.code === 'store_error') return error;
  return databaseFault(url, error) ?? (error instanceof StoreError ? error : undefined);
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error; at = at.cause) causes.push(at);
  return causes;
}

/** SQLite's primary result codes. The extended ones have them in their lowest byte. */
const SQLITE_FAULTS: Readonly<Record<number, (path: string) => Fault>> = {
  5: (path) => [`${path} is locked by another program. Stop that one, or wait until it is done.`, true],
  6: (path) => [`${path} is locked by another program. Stop that one, or wait until it is done.`, true],
  8: (path) => [`${path} cannot be written. Allow this user to write it and its folder.`, false],
  10: (path) => [`${path} could not be read or written. Check the disk that it is on.`, true],
  11: (path) => [`${path} is damaged. Restore it from a backup, or move it away to start empty.`, false],
  13: (path) => [`The disk of ${path} is full. Free some space.`, true],
  14: (path) => [
    `${path} could not be opened. Allow this user to read and write it and its folder, or correct STORE_URL.`,
    false,
  ],
  26: (path) => [`${path} is not an SQLite database. Correct STORE_URL, or move the file away.`, false],
};

function sqliteFault(path: string, error: Error, code: unknown): Fault | undefined {
  if (code !== 'ERR_SQLITE_ERROR' || !('errcode' in error)) return undefined;
  const known = SQLITE_FAULTS[Number(error.errcode) & 0xff];
  return known?.(path) ?? [`${path} could not be opened: ${error.message}. Check STORE_URL.`, false];
}

/** By Node's names of errors and Postgres' SQLSTATE. */
const POSTGRES_FAULTS: Readonly<Record<string, (at: Address) => Fault>> = {
  ECONNREFUSED: ({ server }) => [
    `Postgres does not answer at ${server}. Start it, or correct STORE_URL.`,
    true,
  ],
  ENOTFOUND: ({ host }) => [`There is no host ${host}. Correct STORE_URL.`, false],
  EAI_AGAIN: ({ host }) => [
    `The host ${host} could not be looked up. Check DNS, or correct STORE_URL.`,
    true,
  ],
  '28P01': ({ server }) => [
    `Postgres at ${server} refuses the user or the password. Correct STORE_URL.`,
    false,
  ],
  '28000': ({ server }) => [
    `Postgres at ${server} does not let this user in. Correct STORE_URL, or the rules in pg_hba.conf.`,
    false,
  ],
  '3D000': ({ server, database }) => [
    `Postgres at ${server} has no database ${database}. Create it, or correct STORE_URL.`,
    false,
  ],
  '42501': ({ server, database }) => [
    `The user of STORE_URL may not create tables in ${database} at ${server}. Give it that right.`,
    false,
  ],
  '53300': ({ server }) => [`Postgres at ${server} has no free connections. Allow more of them.`, true],
  '57P01': ({ server }) => [`Postgres at ${server} is shutting down. Wait until it is up again.`, true],
  '57P03': ({ server }) => [`Postgres at ${server} is starting up. Wait until it is done.`, true],
};

interface Address {
  host: string;
  /** Host and port. */
  server: string;
  database: string;
}

/** Never the whole address, which holds a password. */
function addressOf(url: string): Address {
  const { hostname = '', port = '', pathname = '' } = URL.parse(url) ?? {};
  const host = hostname || 'localhost';
  return { host, server: `${host}:${port || 5432}`, database: pathname.slice(1) };
}

/** Of the network; those of Postgres itself come with a severity, and the driver's own have no code. */
const NETWORK_CODES: ReadonlySet<unknown> = new Set([
  'ECONNABORTED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
]);
const DRIVER_MESSAGE = /time-?out|terminated|server does not support SSL|client password|certificate/i;

function postgresFault(url: string, error: Error, code: unknown): Fault | undefined {
  const address = addressOf(url);
  const known = POSTGRES_FAULTS[String(code)];
  if (known !== undefined) return known(address);
  const isPostgres = 'severity' in error || NETWORK_CODES.has(code) || DRIVER_MESSAGE.test(error.message);
  if (!isPostgres) return undefined;
  const named = typeof code === 'string' ? ` (${code})` : '';
  return [`Postgres at ${address.server} cannot be used: ${error.message}${named}. Check STORE_URL.`, true];
}
