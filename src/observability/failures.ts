import { randomBytes } from 'node:crypto';
import { type Failure, InstallationEnded, isFailure } from '../core/errors.ts';
import type { Logger } from './log.ts';

/**
 * Logs a failure once, at its level: something a person did as info, something the service or Slack did as warn, a bug as
 * error with its stack. Returns the reference that the person gets too, where the failure is unexpected.
 */
export function logFailure(log: Logger, error: unknown, fields: Record<string, unknown>): string | undefined {
  if (error instanceof InstallationEnded) {
    log.info(
      { event: 'installation_ended', ...fields },
      'work of an installation that has ended was dropped',
    );
    return undefined;
  }
  if (!isFailure(error) || isOfStore(error)) {
    const event = isFailure(error) ? 'store_failed' : 'bug';
    const reference = newReference();
    log.error({ event, ...fields, reference, err: error }, 'an unexpected error was thrown');
    return reference;
  }
  if (error.code === 'user_error') {
    // Without its message, which may repeat what was typed.
    log.info({ event: 'refused', ...fields }, 'a request was refused with a reason');
    return undefined;
  }
  const outside = error.code === 'account_failure' ? error.cause : error;
  const isUnexpected = outside.kind === (outside.code === 'service_error' ? 'unexpected' : 'rejected');
  const reference = isUnexpected ? newReference() : undefined;
  const { kind } = outside;
  const details =
    outside.code === 'service_error'
      ? { operation: outside.operation, kind, status: outside.status, reason: outside.message }
      : { method: outside.method, kind, reason: outside.reason, scope: outside.needed };
  // What a person named and is not there is no trouble of the service's.
  const level = kind === 'record_not_found' ? 'info' : 'warn';
  log[level]({ event: 'outside_failure', ...fields, ...details, reference }, 'a call to the outside failed');
  return reference;
}

type StoreFault = Extract<
  Failure,
  { code: 'store_unavailable' | 'document_unreadable' | 'account_key_unreadable' }
>;

function isOfStore(failure: Failure): failure is StoreFault {
  return ['store_unavailable', 'document_unreadable', 'account_key_unreadable'].includes(failure.code);
}

/** Names one failure for the person and the log. */
export function newReference(): string {
  return randomBytes(4).toString('hex');
}
