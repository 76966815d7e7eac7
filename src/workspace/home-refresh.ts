import { z } from 'zod';
import { type Clock, DAY_MS, HOUR_MS } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { undefinedOnSlackError } from '../slack/failure.ts';
import type { MessageRef, WorkspaceSlack } from '../slack/slack.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { readZone } from './slack-people.ts';

/** A person who opened App Home lately, and the version that Slack shows them. */
export const Viewer = z.object({ openedAt: z.number(), hash: z.string().optional() });
export interface Viewer extends z.infer<typeof Viewer> {}

/** Changes come in groups, so a refresh waits for further ones. */
const SOON_MS = 300;
/** Slack accepts some 100 `views.publish` a minute from a workspace. */
const A_VIEWER_MS = 700;
const MIN_MS = 1_500;

export interface HomeParts {
  store: WorkspaceStore;
  /** Sends the job that publishes App Home. @param at milliseconds since the epoch */
  refreshAt(at: number): Promise<unknown>;
  clock: Clock;
  log: Logger;
  slack: WorkspaceSlack;
}

/** App Home of everyone who opened it lately. */
export function createHome({ store, refreshAt, clock, log, slack }: HomeParts) {
  const viewers: Collection<Viewer> = store.collection('home-viewers', Viewer);
  /** Due time of the latest refresh. */
  let planned = 0;
  /** Nobody has App Home open before this time. */
  let unseenUntil = 0;
  let amount = 1;
  const permalinks = new TtlCache<string | undefined>(clock, DAY_MS);
  const zones = new TtlCache<string>(clock, HOUR_MS);

  return {
    /** Viewers by user. Each expires some time after opening it. */
    viewers,
    /** Call it after a viewer was stored, and before reading what they see. */
    opened(): void {
      unseenUntil = 0;
    },
    /** Call it after a change of anything on App Home. A refresh follows soon. Never rejects. */
    async refresh(): Promise<void> {
      const now = clock.now();
      // A planned refresh will show this change too.
      if (planned > now || unseenUntil > now) return;
      unseenUntil = now + SOON_MS;
      try {
        if ((await viewers.list()).length === 0) return;
        unseenUntil = 0;
        const at = Math.max(now + SOON_MS, planned + Math.max(MIN_MS, amount * A_VIEWER_MS));
        planned = at;
        await refreshAt(at);
      } catch (error) {
        log.warn({ event: 'home_not_refreshed', err: error }, 'App Home not refreshed');
      }
    },
    /** Number of people who have it open. It limits how often Deckhand refreshes it. */
    seenBy(people: number): void {
      amount = people;
    },
    /** Address of a message, cached; undefined if Slack gives none. */
    permalink: (messageRef: MessageRef) =>
      undefinedOnSlackError(
        permalinks.get([messageRef.channel, messageRef.ts], () => slack.permalink(messageRef)),
      ),
    /** The person's IANA zone, up to an hour old. */
    zone: (user: string) => zones.get([user], () => readZone({ slack, log }, user)),
  };
}
