import { randomBytes, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** An id as Slack writes them: a letter or two that say what it is, then ten capitals and digits. */
export function newId(prefix: string): string {
  return prefix + pick(10);
}

export function secretHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** Digits such as the middle parts of tokens and trigger ids have. */
export function digits(length: number): string {
  return Array.from({ length }, () => String(randomInt(10))).join('');
}

/** What Slack gives a block or element that came without an id of its own. */
export function shortId(): string {
  return pick(5);
}

function pick(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
