import type { Keyv } from 'keyv';

/**
 * What a database gives beyond keyv's own calls: conditional writes and ranges. Keys are
 * `workspace/collection/id`, so all that a workspace holds is one range of an index.
 */
export interface Backend {
  /** Without error listeners, so that a failing adapter throws instead of answering "nothing there". */
  keyv: Keyv;
  /** The stored text under a key, before it is decoded. */
  read(key: string): Promise<string | undefined>;
  /** Stores the text if the key is free; `expires` is the end of the row by the database's wall clock. */
  insert(key: string, text: string, expires: number | undefined): Promise<boolean>;
  /** Replaces the text if it is still `from`. */
  replace(key: string, from: string, to: string, expires: number | undefined): Promise<boolean>;
  /** Deletes the row if its text is still `from`. */
  remove(key: string, from: string): Promise<boolean>;
  /** Rows whose key starts with `prefix`, in key order. */
  range(prefix: string): Promise<Array<{ key: string; value: string }>>;
  /** The last `limit` of these rows, the last one first; none after the key `upTo` where one is given. */
  rangeEnd(prefix: string, limit: number, upTo?: string): Promise<Array<{ key: string; value: string }>>;
  deleteRange(prefix: string): Promise<void>;
  /** Takes the traces of deleted rows out of the files, as far as they are ours. */
  scrub(): Promise<void>;
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** The first string after all strings that start with `prefix`, which must end in `/`. */
export function endOfRange(prefix: string): string {
  return `${prefix.slice(0, -1)}0`; // '0' follows '/' in byte order
}

/** What an adapter gives for a row's text; anything else than text is no row. */
export function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
