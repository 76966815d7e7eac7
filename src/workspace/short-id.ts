import { createHash } from 'node:crypto';

/** Without letters that are read as others, or that make words together. */
const ALPHABET = 'bcdfghjkmnpqrstvwxz23456789';

/**
 * A short name for people to type, e.g. `d7k2`: the same for the same seed and try.
 * @param attempt from 0; another name for each, one character longer every fourth
 */
export function shortId(prefix: string, seed: string, attempt: number): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([seed, attempt]))
    .digest();
  const length = 3 + Math.floor(attempt / 4);
  const letters = [...bytes].slice(0, length).map((byte) => ALPHABET[byte % ALPHABET.length]);
  return prefix + letters.join('');
}
