import { UserError } from '../core/errors.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { AccountFailure } from '../workspace/accounts.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Jobs of one queue at once: followed runs are mostly asleep. */
export const FOLLOWED_AT_ONCE = 20_000;

/** Something that is followed in a root message and its thread. */
export interface Follower {
  /** Follows to the end, and shows it. */
  follow(): Promise<void>;
  /** Shows why it is not followed any more. */
  stopBecause(error: AccountFailure | UserError): Promise<void>;
  /** Nobody can see it any more. */
  abandon(reason: string): Promise<void>;
}

/** Follows to an end that people see, whatever ends it; where the root message is gone, to a line in the log. */
export async function followToTheEnd(
  { metrics }: Workspace,
  signal: AbortSignal,
  follower: Follower,
): Promise<void> {
  metrics.followed(1);
  try {
    await endingWell(follower, signal);
  } catch (error) {
    if (!isSlackFailure(error, 'gone', 'revoked')) throw error;
    // Editing a lost message for ever helps no one.
    await follower.abandon(error.reason);
  } finally {
    metrics.followed(-1);
  }
}

/** The root message tells the reason where the service, or the person's own doing, stops it. */
async function endingWell(follower: Follower, signal: AbortSignal): Promise<void> {
  try {
    await follower.follow();
  } catch (error) {
    const isAnswerable = error instanceof AccountFailure || error instanceof UserError;
    if (!isAnswerable || signal.aborted) throw error;
    await follower.stopBecause(error);
  }
}
