import { randomBytes } from 'node:crypto';
import { UserError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import type { Logger } from '../observability/log.ts';
import { ServiceError } from '../service/errors.ts';
import { SlackFailure, type SlackFailureKind } from '../slack/failure.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type Explained, explainServiceError, failureWords } from '../views/blocks/failures.ts';
import { AccountFailure } from '../workspace/accounts.ts';
import type { Workspace } from '../workspace/workspace.ts';

export interface FailureContext {
  /** The slash command's word. */
  word: string;
  now: number;
  /** Set where the failing call was made with a key that is not stored yet. */
  newAccount?: string;
}

export function failureContext({ config, clock }: Pick<Workspace, 'config' | 'clock'>): FailureContext {
  return { word: config.SLACK_COMMAND, now: clock.now() };
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
  if (error instanceof SlackFailure) return SLACK_FAILURES[error.kind];
  if (error instanceof StoreUnavailable)
    return { text: 'Deckhand’s database does not answer right now.', next: 'Try again in a minute.' };
  const next = 'Try again. If it keeps happening, contact your administrator.';
  return { text: 'Something went wrong in Deckhand.', next };
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
    log.info({ event: 'refused', ...fields, reason: error.message }, 'a request was refused with a reason');
    return explained;
  }
  const outside = error instanceof AccountFailure ? error.cause : error;
  if (outside instanceof ServiceError || outside instanceof SlackFailure) {
    const reference = isUnexpected(outside) ? newReference() : undefined;
    log.warn(
      { event: 'outside_failure', ...fields, ...outsideFields(outside), reference },
      'a call to Slack or the service failed',
    );
    return { ...explained, reference };
  }
  const reference = newReference();
  const event = error instanceof StoreUnavailable ? 'store_failed' : 'bug';
  log.error({ event, ...fields, reference, err: error }, 'an unexpected error was thrown');
  return { ...explained, reference };
}

/** Explains and logs what ended a job, in one paragraph of mrkdwn. */
export function failureReason(
  workspace: Pick<Workspace, 'config' | 'clock' | 'log'>,
  error: unknown,
  fields: Record<string, unknown>,
): string {
  return failureWords(explainAndLog(error, failureContext(workspace), workspace.log, fields));
}

/** An answer that shows a fault of Deckhand, Slack or the service: the log has what is needed to find it. */
function isUnexpected(error: ServiceError | SlackFailure): boolean {
  return error.kind === (error instanceof ServiceError ? 'unexpected' : 'rejected');
}

function outsideFields(error: ServiceError | SlackFailure): Record<string, unknown> {
  if (error instanceof ServiceError)
    return { operation: error.operation, kind: error.kind, status: error.status, reason: error.message };
  return { method: error.method, kind: error.kind, reason: error.reason };
}

const SLACK_FAILURES: Record<SlackFailureKind, Explained> = {
  gone: {
    text: 'Deckhand cannot post in this channel.',
    next: 'Invite it with `/invite @deckhand`, or use a channel that is not archived.',
  },
  busy: { text: 'Slack asks Deckhand to slow down.', next: 'Try again in a minute.' },
  expired: { text: 'This form or button has expired.', next: 'Run the command again.' },
  forbidden: {
    text: 'Slack does not allow Deckhand to do this here.',
    next: 'Ask a workspace admin about the app’s permissions.',
  },
  revoked: {
    text: 'Deckhand is no longer installed in this workspace.',
    next: 'Ask a workspace admin to install it again.',
  },
  unreachable: { text: 'Slack did not accept the answer.', next: 'Try again in a minute.' },
  rejected: { text: 'Slack did not accept the answer.', next: 'Try again in a minute.' },
};

/** Identifies one failure, for the person and in the log. */
export function newReference(): string {
  return randomBytes(4).toString('hex');
}
