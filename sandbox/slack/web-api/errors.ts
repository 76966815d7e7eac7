/** A Web API method's refusal: `{ ok: false, error, … }`, with HTTP 200 as Slack does it. */
export class SlackError extends Error {
  readonly code: string;
  readonly extra: Record<string, unknown>;

  constructor(code: string, extra: Record<string, unknown> = {}) {
    super(code);
    this.name = 'SlackError';
    this.code = code;
    this.extra = extra;
  }
}

/** @param needed a scope, or those of which one is enough */
export function missingScope(needed: string, given: readonly string[]): SlackError {
  return new SlackError('missing_scope', { needed, provided: given.join(',') });
}

/** A refusal that says what is wrong, e.g. `invalid_blocks` with each fault and its place. */
export function refusal(code: string, faults: readonly string[]): SlackError {
  return new SlackError(code, {
    ...(code === 'invalid_blocks' ? { errors: faults } : {}),
    response_metadata: { messages: faults.map((fault) => `[ERROR] ${fault}`) },
  });
}
