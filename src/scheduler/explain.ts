import { randomBytes } from 'node:crypto';
import { UserError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import type { Logger } from '../observability/log.ts';
import { ServiceError } from '../service/errors.ts';
import { SlackFailure } from '../slack/failure.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type Explained, explainServiceError } from '../views/blocks/failures.ts';
import { AccountFailure } from '../workspace/accounts.ts';

export interface FailureContext {
  word: string;
  now: number;
  /** Set where the failing call was made with a key that is not stored yet. */
  newAccount?: string;
}

/** What failed, in words for the person who caused it. */
export function explain(error: unknown, at: FailureContext): Explained {
  if (error instanceof UserError)
    return { text: error.message, next: error.next && `Try ${code(`${at.word} ${error.next}`)}.` };
  if (error instanceof AccountFailure)
    return explainServiceError(error.cause, {
      ...at,
      account: error.account.name,
      connection: error.account.state,
      sought: error.sought,
    });
  if (error instanceof ServiceError)
    return explainServiceError(error, { ...at, account: at.newAccount ?? 'this account', connection: 'new' });
  if (error instanceof SlackFailure) return explainSlackFailure(error);
  if (error instanceof StoreUnavailable)
    return { text: 'I cannot reach my own records right now.', next: 'Try again in a minute.' };
  return { text: 'Something went wrong on our side.', next: 'Try again; if it stays, tell your operator.' };
}

/**
 * Explains and logs, each failure once and at its level: what a person did as info, what the service or Slack did as
 * warn, a bug as error with its stack. The unexpected gets a reference that the person and the log share.
 */
export function explainAndLog(
  error: unknown,
  at: FailureContext,
  log: Logger,
  fields: Record<string, unknown>,
): Explained {
  const explained = explain(error, at);
  if (error instanceof UserError) {
    log.info({ event: 'refused', ...fields, reason: error.message }, 'told a person why not');
    return explained;
  }
  const outside = error instanceof AccountFailure ? error.cause : error;
  if (outside instanceof ServiceError || outside instanceof SlackFailure) {
    const reference = isUnexpected(outside) ? newReference() : undefined;
    log.warn(
      { event: 'outside_failure', ...fields, ...outsideFields(outside), reference },
      'a call outside failed',
    );
    return { ...explained, reference };
  }
  const reference = newReference();
  const event = error instanceof StoreUnavailable ? 'store_failed' : 'bug';
  log.error({ event, ...fields, reference, err: error }, 'something unexpected was thrown');
  return { ...explained, reference };
}

/** An answer after which one of us must be mended: only the log can tell whoever does it. */
function isUnexpected(error: ServiceError | SlackFailure): boolean {
  return error.kind === (error instanceof ServiceError ? 'unexpected' : 'rejected');
}

function outsideFields(error: ServiceError | SlackFailure): Record<string, unknown> {
  if (error instanceof ServiceError)
    return { operation: error.operation, kind: error.kind, status: error.status, reason: error.message };
  return { method: error.method, kind: error.kind, reason: error.reason };
}

function explainSlackFailure(error: SlackFailure): Explained {
  switch (error.kind) {
    case 'gone':
      return {
        text: 'I cannot post in this channel.',
        next: 'Invite me with `/invite`, or use a channel that is not archived.',
      };
    case 'busy':
      return { text: 'Slack asks me to slow down.', next: 'Try again in a minute.' };
    case 'expired':
      return { text: 'This form or button is too old by now.', next: 'Run the command again.' };
    case 'forbidden':
      return {
        text: 'Slack does not allow me to do this here.',
        next: 'Ask a workspace admin about the app’s permissions.',
      };
    case 'revoked':
      return {
        text: 'Deckhand is not installed in this workspace any more.',
        next: 'Ask a workspace admin to install it again.',
      };
    case 'unreachable':
    case 'rejected':
      return { text: 'Slack did not take my answer.', next: 'Try again in a minute.' };
  }
}

/** Names one failure for the person and the log. */
export function newReference(): string {
  return randomBytes(4).toString('hex');
}
