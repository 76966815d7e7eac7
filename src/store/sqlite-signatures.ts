import type { DatabaseSync } from 'node:sqlite';

/**
 * Digests of the signatures that were taken. Each request writes one before its ack, and a row at the end of a table
 * without an index changes one page of the log, where a row of `keyv` changes three.
 */
export const CREATE_SIGNATURES = `CREATE TABLE IF NOT EXISTS deckhand_signatures (
  id INTEGER PRIMARY KEY, digest TEXT NOT NULL, expires INTEGER NOT NULL)`;
const ALL = 'SELECT digest, expires FROM deckhand_signatures';
export const ADD_SIGNATURE = 'INSERT INTO deckhand_signatures (digest, expires) VALUES (?, ?)';
export const REMOVE_SIGNATURE = 'DELETE FROM deckhand_signatures WHERE digest = ?';
export const SWEEP_SIGNATURES = 'DELETE FROM deckhand_signatures WHERE expires <= ?';

export interface SignatureRow {
  digest: string;
  /** Milliseconds since the epoch. */
  expires: number;
}

export function readSignatures(database: DatabaseSync): SignatureRow[] {
  return database
    .prepare(ALL)
    .all()
    .map(({ digest, expires }) => ({ digest: String(digest), expires: Number(expires) }));
}
