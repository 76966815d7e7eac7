import { AccountFailure, AccountKeyUnreadable } from '../core/errors.ts';
import { maskLines } from '../core/mask-secrets.ts';
import { type Clock, MINUTE_MS, withTimeout } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Account } from '../records/accounts.ts';
import { getUndeployedChanges, type UndeployedChanges } from '../service/deployments.ts';
import type { WaitingCommits } from '../views/activity/waiting.ts';
import type { createOfferedCalls } from './offered-calls.ts';

const FRESH_MS = 2 * MINUTE_MS;
/** A message does not wait longer for them. */
const WITHIN_MS = 5_000;
const MAX_COMMITS = 5;

interface Parts {
  clock: Clock;
  offered: ReturnType<typeof createOfferedCalls>;
}

/** Tells which commits of a project wait to be deployed, if the service offers that. */
export function createWaitingCommits({ clock, offered }: Parts) {
  const fresh = new TtlCache<WaitingCommits | undefined>(clock, FRESH_MS);

  async function read(account: Account, project: string): Promise<WaitingCommits | undefined> {
    try {
      const changes = await offered.use(account, 'GET /projects/{}/undeployed_changes', (client) =>
        getUndeployedChanges(client, project, { retries: 0 }),
      );
      return changes && summarize(changes);
    } catch (error) {
      // They are an addition to what a message says.
      if (error instanceof AccountFailure || error instanceof AccountKeyUnreadable) return undefined;
      throw error;
    }
  }

  return {
    /** Undefined if none wait, while the service still looks for them, or if it does not say. @param project key of the project */
    waitingCommits: (account: Account, project: string): Promise<WaitingCommits | undefined> =>
      withTimeout(
        clock,
        WITHIN_MS,
        // The cache's key holds the sealed key, so that a new key never shows answers to an old one.
        fresh.get([account.name, account.sealedKey, project], () => read(account, project)),
      ),
  };
}

function summarize({ count, isMore, isLooking, commits }: UndeployedChanges): WaitingCommits | undefined {
  if (isLooking || count < 1) return undefined;
  const times = commits.flatMap(({ timestamp }) => (timestamp === null ? [] : [Date.parse(timestamp)]));
  const isWhole = !isMore && times.length >= count;
  return {
    amount: count,
    isMore,
    oldest: isWhole ? Math.min(...times) : undefined,
    first: commits.slice(0, MAX_COMMITS).map(({ ref, author, message, short_message: short, url }) => {
      const [title = ''] = maskLines([(short.trim() || message.trim()).split('\n', 1)[0] ?? '']);
      return { ref, author, title, url: maskLines([url])[0] === url ? url : '' };
    }),
  };
}
