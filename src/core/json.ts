/** The fields without those that are undefined: Slack refuses null, and exact optional types refuse undefined. */
export type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

export function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}

/** What a text from outside says as JSON; undefined where it is none, as whoever reads on is to say by their own check. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a text from outside says as a JSON object; undefined where it is none. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

// Line breaks between lines and tabs are ours. Of the others some steer a terminal, end a line or turn its direction.
const CONTROLS = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Writes control characters as JSON does, so that they neither forge lines of a log nor steer a terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (sign) =>
    sign === '\n' || sign === '\t' ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
