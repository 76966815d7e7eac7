/** The plain arguments of a call of Slack's Web API. */
export type Arguments = ReadonlyMap<string, string>;

/** Of a body that is a form or JSON. */
export function argumentsOf(body: string): Arguments {
  const entries = body.startsWith('{') ? Object.entries(JSON.parse(body)) : [...new URLSearchParams(body)];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
