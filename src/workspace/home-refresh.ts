import { z } from 'zod';
import { type Clock, DAY_MS, HOUR_MS } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { JobType, WorkspaceJobs } from '../jobs/jobs.ts';
import type { Logger } from '../observability/log.ts';
import { undefinedOnSlackError } from '../slack/failure.ts';
import type { MessageRef, WorkspaceSlack } from '../slack/slack.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { zoneOf } from './slack-people.ts';

const NoData = z.object({});
export const REFRESH_HOME: JobType<z.infer<typeof NoData>> = { queue: 'refresh-home', schema: NoData };

/** Someone who had App Home open lately, and the version that Slack shows them. */
const Viewer = z.object({ openedAt: z.number(), hash: z.string().optional() });
export type Viewer = z.infer<typeof Viewer>;

/** Changes come in groups. */
const SOON_MS = 300;
/** Slack accepts some 100 `views.publish` a minute from a workspace. */
const A_VIEWER_MS = 700;
const MIN_MS = 1_500;

export interface HomeParts {
  store: WorkspaceStore;
  jobs: WorkspaceJobs;
  clock: Clock;
  log: Logger;
  slack: WorkspaceSlack;
}

/** The App Home of everyone who had it open lately. */
export function createHome({ store, jobs, clock, log, slack }: HomeParts) {
  const viewers: Collection<Viewer> = store.collection('home-viewers', Viewer);
  /** When the latest refresh is due. */
  let planned = 0;
  /** Until then it is known that no one has it open. */
  let unseenUntil = 0;
  let amount = 1;
  const permalinks = new TtlCache<string | undefined>(clock, DAY_MS);
  const zones = new TtlCache<string>(clock, HOUR_MS);

  return {
    /** By user; each expires some time after it was opened. */
    viewers,
    /** To be called after a viewer was stored, and before what they see is read. */
    opened(): void {
      unseenUntil = 0;
    },
    /** To be called after anything that it shows has changed: soon it shows that too. Never rejects. */
    async refresh(): Promise<void> {
      const now = clock.now();
      // A refresh that is still to come will show this change as well.
      if (planned > now || unseenUntil > now) return;
      unseenUntil = now + SOON_MS;
      try {
        if ((await viewers.list()).length === 0) return;
        unseenUntil = 0;
        const at = Math.max(now + SOON_MS, planned + Math.max(MIN_MS, amount * A_VIEWER_MS));
        planned = at;
        await jobs.send(REFRESH_HOME, {}, { key: String(at), at });
      } catch (error) {
        log.warn({ event: 'home_not_refreshed', err: error }, 'App Home may be out of date');
      }
    },
    /** How many have it open, which decides how often it may be refreshed. */
    seenBy(seen: number): void {
      amount = seen;
    },
    /** The address of a message; undefined where Slack does not give one. Known ones are kept. */
    permalink: (messageRef: MessageRef) =>
      undefinedOnSlackError(
        permalinks.get([messageRef.channel, messageRef.ts], () => slack.permalink(messageRef)),
      ),
    /** The person's IANA zone, which may be an hour old. */
    zone: (user: string) => zones.get([user], () => zoneOf({ slack, log }, user)),
  };
}
