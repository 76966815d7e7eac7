import { createHash } from 'node:crypto';

/** No vowels, no digits that read as one (0, 1, 3, 4, 8), no letters that are read as others: no name spells a word. */
const ALPHABET = 'bcdfghjkmnpqrstvwxz25679';

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
