import { logFailure } from '../observability/failures.ts';
import type { Logger } from '../observability/log.ts';
import { type Explained, explain, type FailureContext } from '../views/blocks/failures.ts';

/** Explains a failure and logs it; the unexpected gets a reference that the person and the log share. */
export function explainAndLog(
  error: unknown,
  at: FailureContext,
  log: Logger,
  fields: Record<string, unknown>,
): Explained {
  return { ...explain(error, at), reference: logFailure(log, error, fields) };
}
