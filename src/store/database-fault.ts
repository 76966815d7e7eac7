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

type PostgresFault = [is: RegExp, isTemporary: boolean, says: (at: Address, message: string) => string];

const SCHEMA_HINT = 'Have their owner run what deckhand schema prints.';

/** By Node's names of errors, Postgres' SQLSTATE, and the words of the driver, which has no code for its own. */
const POSTGRES_FAULTS: readonly PostgresFault[] = [
  [
    /^ECONNREFUSED/,
    true,
    ({ server }) => `Postgres does not answer at ${server}. Start it, or correct STORE_URL.`,
  ],
  [/^ENOTFOUND/, false, ({ host }) => `There is no host ${host}. Correct STORE_URL.`],
  [
    /^EAI_AGAIN/,
    true,
    ({ host }) => `The host ${host} could not be looked up. Check DNS, or correct STORE_URL.`,
  ],
  [
    /^28P01/,
    false,
    ({ server }) => `Postgres at ${server} refuses the user or the password. Correct STORE_URL.`,
  ],
  [
    /^28000/,
    false,
    ({ server }) =>
      `Postgres at ${server} does not let this user in. Correct STORE_URL, or the rules in pg_hba.conf.`,
  ],
  [
    /^3D000/,
    false,
    ({ server, database }) =>
      `Postgres at ${server} has no database ${database}. Create it, or correct STORE_URL.`,
  ],
  [
    /^42501/,
    false,
    ({ server, database }, message) =>
      `The user of STORE_URL lacks a right in ${database} at ${server}: ${message}. ${SCHEMA_HINT}`,
  ],
  [
    /^(42P01|3F000)/,
    false,
    ({ server, database }, message) =>
      `Something is missing in ${database} at ${server}: ${message}. ${SCHEMA_HINT}`,
  ],
  [
    /^25006/,
    false,
    ({ server }) => `Postgres at ${server} is a standby that can only be read. Give STORE_URL the primary.`,
  ],
  [/^53300/, true, ({ server }) => `Postgres at ${server} has no free connections. Allow more of them.`],
  [/^57P01/, true, ({ server }) => `Postgres at ${server} is shutting down. Wait until it is up again.`],
  [/^57P03/, true, ({ server }) => `Postgres at ${server} is starting up. Wait until it is done.`],
  [
    /server does not support SSL/,
    false,
    ({ server }) =>
      `Postgres at ${server} offers no TLS. Switch it on there, or take sslmode out of STORE_URL.`,
  ],
  [
    /certificate/i,
    false,
    ({ server }, message) =>
      `The certificate of Postgres at ${server} is not accepted: ${message}. Correct sslmode or sslrootcert in STORE_URL.`,
  ],
  [
    /client password/,
    false,
    ({ server }) => `Postgres at ${server} asks for a password. Add it to STORE_URL.`,
  ],
  [
    /^(ECONN|EHOST|ENET|EPIPE|ETIMEDOUT)|time-?out|terminated/i,
    true,
    ({ server }, message) => `Postgres at ${server} cannot be reached: ${message}. Check STORE_URL.`,
  ],
];

function postgresFault(url: string, error: Error, code: unknown): Fault | undefined {
  const address = addressOf(url);
  const text = `${code ?? ''} ${error.message}`.trim();
  const known = POSTGRES_FAULTS.find(([is]) => is.test(text));
  if (known !== undefined) return [known[2](address, error.message), known[1]];
  if (!('severity' in error)) return undefined;
  return [`Postgres at ${address.server} cannot be used: ${error.message} (${code}). Check STORE_URL.`, true];
}
