import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { JobType } from '../core/job.ts';
import { createTtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { MessageRef, WorkspaceSlack } from '../slack/slack.ts';
import type { WorkspaceJobs } from './workspace-jobs.ts';

const NoData = z.object({});
export const REFRESH_HOME: JobType<z.infer<typeof NoData>> = { queue: 'refresh-home', schema: NoData };

/** The App Home of everybody who had it open lately. */
export interface Home {
  /** To be called after anything that it shows has changed: soon it shows that too. Never rejects. */
  refresh(): Promise<void>;
  /** How many have it open, which decides how often it may be refreshed. */
  seenBy(viewers: number): void;
  /** The address of a message; undefined where Slack does not tell. Known ones are kept. */
  permalink(shown: MessageRef): Promise<string | undefined>;
}

/** Changes come in bunches. */
const SOON_MS = 300;
/** Slack takes some 100 `views.publish` a minute from a workspace. */
const A_VIEWER_MS = 700;
const LEAST_MS = 1_500;
const DAY_MS = 24 * 60 * 60_000;

export interface HomeParts {
  jobs: WorkspaceJobs;
  clock: Clock;
  log: Logger;
  slack: WorkspaceSlack;
}

export function createHome({ jobs, clock, log, slack }: HomeParts): Home {
  /** When the latest refresh is due. */
  let planned = 0;
  let viewers = 1;
  const permalinks = createTtlCache<string | undefined>(clock, DAY_MS);

  return {
    async refresh() {
      const now = clock.now();
      // One that is still to come will see this change as well.
      if (planned > now) return;
      const startAfter = Math.max(now + SOON_MS, planned + Math.max(LEAST_MS, viewers * A_VIEWER_MS));
      planned = startAfter;
      try {
        // One refresh shows what many have done.
        await jobs.send(REFRESH_HOME, {}, { key: String(startAfter), startAfter, newTrace: true });
      } catch (error) {
        log.warn({ event: 'home_not_refreshed', err: error }, 'App Home may show what was');
      }
    },
    seenBy(now) {
      viewers = now;
    },
    async permalink(shown) {
      try {
        return await permalinks.get([shown.channel, shown.ts], () => slack.permalink(shown));
      } catch (error) {
        if (isSlackFailure(error)) return undefined;
        throw error;
      }
    },
  };
}
