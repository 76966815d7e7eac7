import { hash, timingSafeEqual } from 'node:crypto';

/** Fields without undefined values. Slack rejects null, and exact optional types reject undefined. */
export type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

export function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}

/** Parses a text from outside. Returns undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses a JSON object from outside. Returns undefined for anything else. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

// Some of these control a terminal, end a line or change its direction. Line feeds and tabs come from Deckhand.
const CONTROLS = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes control characters as JSON does. They could forge log lines or control a terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (sign) =>
    sign === '\n' || sign === '\t' ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** SHA-256 of a value's JSON, in base64url: a key that does not reveal the value. */
export function hashJson(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url');
}

/** Compares in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Id of a document for the options of menus, which hold little. */
export function shortenId(id: string): string {
  return hashJson(id).slice(0, 12);
}

/** True if a button or menu names this id. */
export function isNamedId(id: string, drawn: string): boolean {
  return id === drawn || shortenId(id) === drawn;
}
