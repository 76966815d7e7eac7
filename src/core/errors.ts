/**
 * Three kinds of failure. What the person did is a `UserError`: said as it is, logged as info. What the
 * service or Slack did has its own class beside its client, and a sentence in `src/views/errors.ts`. Anything
 * else is a bug: the person gets a reference that the log has too.
 */
export class UserError extends Error {
  readonly code = 'user_error';
  /** One next step, as a person types or does it; Slack mrkdwn of our own making. */
  readonly next: string | undefined;

  /** @param message one sentence for the person; foreign text in it must be escaped already */
  constructor(message: string, next?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UserError';
    this.next = next;
  }
}

/** A command needs an account and none is connected: the person is asked to connect one, and the command waits. */
export class AccountNeeded extends Error {
  readonly code = 'account_needed';

  constructor() {
    super('no account is connected');
    this.name = 'AccountNeeded';
  }
}
