import { resolve } from 'node:path';
import { StoreError } from '../core/errors.ts';

const SQLITE = 'sqlite://';

/** A sentence for the operator, with placeholders such as `{path}`, and whether the fault may pass by itself. */
type Fault = [sentence: string, isTemporary?: boolean | undefined];

/**
 * Explains why a database cannot be used, in one sentence with its path or address and the next step. Returns undefined if
 * neither the error nor one of its causes came from a database.
 */
export function explainDatabaseFault(url: string, error: unknown): StoreError | undefined {
  const findFault = url.startsWith(SQLITE) ? sqliteFault : postgresFault;
  for (let at = error; at instanceof Error; at = at.cause) {
    const [sentence, isTemporary = false] = findFault(at, 'code' in at ? at.code : undefined) ?? [];
    if (sentence === undefined) continue;
    const names: Record<string, string> = { ...namesIn(url), message: at.message };
    const message = sentence.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '');
    return new StoreError(message, { cause: error, isTemporary });
  }
  return undefined;
}

/** Like `explainDatabaseFault`, for any error of a store. A `StoreError` with its own sentence stays as it is. */
export function explainStoreFault(url: string, error: unknown): StoreError | undefined {
  if (error instanceof StoreError && error.code === 'store_error') return error;
  return explainDatabaseFault(url, error) ?? (error instanceof StoreError ? error : undefined);
}

/** Never holds the whole address, which may include a password. */
function namesIn(url: string): Record<string, string> {
  if (url.startsWith(SQLITE)) return { path: resolve(url.slice(SQLITE.length)) };
  const { hostname = '', port = '', pathname = '' } = URL.parse(url) ?? {};
  const host = hostname || 'localhost';
  return { host, server: `${host}:${port || 5432}`, database: pathname.slice(1) };
}

/** The fault may pass without a change of the configuration. */
const PASSES = true;

const SCHEMA_HINT = 'Have their owner run what deckhand schema prints.';
const GRANT_HINT = 'Have its owner grant it. docs/operations.md lists the rights.';
const TLS_HINT = 'Correct sslmode or sslrootcert in STORE_URL.';

const LOCKED: Fault = [
  '{path} is locked by another program. Stop that one, or wait until it is done.',
  PASSES,
];

/** Faults by SQLite's primary result codes, which are the lowest byte of the extended codes. */
const SQLITE_FAULTS: Readonly<Record<number, Fault>> = {
  5: LOCKED,
  6: LOCKED,
  8: ['{path} cannot be written. Allow this user to write it and its folder.'],
  10: ['{path} could not be read or written. Check the disk that it is on.', PASSES],
  11: ['{path} is damaged. Restore it from a backup, or move it away to start empty.'],
  13: ['The disk of {path} is full. Free some space.', PASSES],
  14: [
    '{path} could not be opened. Allow this user to read and write it and its folder, or correct STORE_URL.',
  ],
  26: ['{path} is not an SQLite database. Correct STORE_URL, or move the file away.'],
};

function sqliteFault(error: Error, code: unknown): Fault | undefined {
  if (code !== 'ERR_SQLITE_ERROR' || !('errcode' in error)) return undefined;
  return (
    SQLITE_FAULTS[Number(error.errcode) & 0xff] ?? ['{path} could not be opened: {message}. Check STORE_URL.']
  );
}

/** Faults by Node's error codes, Postgres' SQLSTATE, and messages of the driver, which have no code. */
const POSTGRES_FAULTS: ReadonlyArray<[is: RegExp, ...Fault]> = [
  [/^ECONNREFUSED/, 'Postgres does not answer at {server}. Start it, or correct STORE_URL.', PASSES],
  // A container of the database may not have its name yet.
  [/^ENOTFOUND/, 'There is no host {host}. Wait until it is in DNS, or correct STORE_URL.', PASSES],
  [/^EAI_/, 'The host {host} could not be looked up. Check DNS, or correct STORE_URL.', PASSES],
  [/^ENOENT connect/, 'Postgres has no socket there: {message}. Start it, or correct STORE_URL.', PASSES],
  [/^28P01/, 'Postgres at {server} refuses the user or the password. Correct STORE_URL.'],
  [
    /^28000/,
    'Postgres at {server} does not let this user in. Correct STORE_URL, or the rules in pg_hba.conf.',
  ],
  [/^3D000/, 'Postgres at {server} has no database {database}. Create it, or correct STORE_URL.'],
  [
    /^42501.* (for schema public|for database|must be owner)/,
    `The user of STORE_URL may not create tables in {database} at {server}: {message}. ${SCHEMA_HINT}`,
  ],
  [/^42501/, `The user of STORE_URL lacks a right in {database} at {server}: {message}. ${GRANT_HINT}`],
  [/^(42P01|3F000)/, `Something is missing in {database} at {server}: {message}. ${SCHEMA_HINT}`],
  [/^25006/, 'Postgres at {server} is a standby that can only be read. Give STORE_URL the primary.'],
  [/^53300/, 'Postgres at {server} has no free connections. Allow more of them.', PASSES],
  [/^57P01/, 'Postgres at {server} is shutting down. Wait until it is up again.', PASSES],
  [/^57P03/, 'Postgres at {server} is starting up. Wait until it is done.', PASSES],
  [
    /does not support SSL/,
    'Postgres at {server} offers no TLS. Switch it on there, or take sslmode out of STORE_URL.',
  ],
  [/certificate/i, `The certificate of Postgres at {server} is not accepted: {message}. ${TLS_HINT}`],
  [/client password/, 'Postgres at {server} asks for a password. Add it to STORE_URL.'],
  [
    /^(ECONN|EHOST|ENET|EPIPE|ETIMEDOUT)|time-?out|terminated/i,
    'Postgres at {server} cannot be reached: {message}. Check STORE_URL.',
    PASSES,
  ],
];

function postgresFault(error: Error, code: unknown): Fault | undefined {
  const text = `${code ?? ''} ${error.message}`.trim();
  const [, sentence, isTemporary] = POSTGRES_FAULTS.find(([is]) => is.test(text)) ?? [];
  if (sentence !== undefined) return [sentence, isTemporary];
  if (!('severity' in error)) return undefined;
  return [`Postgres at {server} cannot be used: {message} (${code}). Check STORE_URL.`, PASSES];
}
