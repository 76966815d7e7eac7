import { createSecretKey, type KeyObject } from 'node:crypto';

/** One key of `ENCRYPTION_KEYS`. A `KeyObject` never prints its bytes. */
export interface EncryptionKey {
  id: string;
  key: KeyObject;
}

/** The first key seals; all keys open. */
export type EncryptionKeys = readonly [EncryptionKey, ...EncryptionKey[]];

/** All faults of `ENCRYPTION_KEYS`, by position and id; never holds a key. */
export class EncryptionKeysError extends Error {
  readonly code = 'encryption_keys_error';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`ENCRYPTION_KEYS ${faults.join('; ')}`);
    this.name = 'EncryptionKeysError';
    this.faults = faults;
  }
}

const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{1,32}$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * Reads `id:base64-of-32-bytes[,id:…]`.
 * @throws EncryptionKeysError with all faults at once
 */
export function parseEncryptionKeys(text: string): EncryptionKeys {
  if (text.trim() === '') throw new EncryptionKeysError(['is not set']);
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .map((entry, index) => parseEntry(entry, `entry ${index + 1}`));
  const faults = entries.flatMap((entry) => (typeof entry === 'string' ? [entry] : []));
  const keys = entries.flatMap((entry) => (typeof entry === 'string' ? [] : [entry]));
  for (const id of findRepeated(keys.map((key) => key.id))) faults.push(`has the id ${id} more than once`);
  const [first, ...rest] = keys;
  if (first === undefined || faults.length > 0) throw new EncryptionKeysError(faults);
  return [first, ...rest];
}

function parseEntry(entry: string, where: string): EncryptionKey | string {
  if (entry === '') return `${where} is empty`;
  const colon = entry.indexOf(':');
  // Without a colon the entry may be the key itself, so no message may quote it.
  if (colon === -1) return `${where} has no id: write id:key`;
  const id = entry.slice(0, colon);
  if (!ID.test(id)) return `${where} has an id of other than 1 to 32 letters, digits, - and _`;
  const encoded = entry.slice(colon + 1);
  if (!BASE64.test(encoded)) return `${where} (${id}) is not base64`;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== KEY_BYTES) return `${where} (${id}) has ${bytes.length} bytes instead of ${KEY_BYTES}`;
  return { id, key: createSecretKey(bytes) };
}

function findRepeated(ids: string[]): Set<string> {
  return new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
}
