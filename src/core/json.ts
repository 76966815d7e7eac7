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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
