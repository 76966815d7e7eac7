import type { Clock } from '../core/clock.ts';
import { createTtlCache } from '../core/ttl-cache.ts';
import type { Engine } from '../jobs/jobs.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { MessageRef, Slack } from '../slack/slack.ts';

export const REFRESH_HOME = 'refresh-home';

/** The App Home of everybody who had it open lately. */
export interface Home {
  /** To be called after anything that it shows has changed: soon it shows that too. Never rejects. */
  refresh(workspace: string): Promise<void>;
  /** How many have it open, which decides how often it may be refreshed. */
  seenBy(workspace: string, viewers: number): void;
  /** The address of a message; undefined where Slack does not tell. Known ones are kept. */
  permalink(workspace: string, shown: MessageRef): Promise<string | undefined>;
  /** Lets go of what is kept in memory. */
  forget(workspace: string): void;
}

/** Changes come in bunches. */
const SOON_MS = 300;
/** Slack takes some 100 `views.publish` a minute from a workspace. */
const A_VIEWER_MS = 700;
const LEAST_MS = 1_500;
const DAY_MS = 24 * 60 * 60_000;
const MOST_PLANNED = 10_000;

export function createHome(parts: { engine: Engine; clock: Clock; log: Logger; slack: Slack }): Home {
  const { engine, clock, log, slack } = parts;
  /** When the latest refresh of each workspace is due. */
  const planned = new Map<string, number>();
  const viewersOf = new Map<string, number>();
  const permalinks = createTtlCache<string | undefined>(clock, DAY_MS);

  return {
    forget(workspace) {
      for (const known of [planned, viewersOf]) known.delete(workspace);
      permalinks.forget(workspace);
    },
    async refresh(workspace) {
      const now = clock.now();
      const last = planned.get(workspace) ?? 0;
      // One that is still to come will see this change as well.
      if (last > now) return;
      if (planned.size >= MOST_PLANNED) planned.clear();
      const pauseMs = Math.max(LEAST_MS, (viewersOf.get(workspace) ?? 1) * A_VIEWER_MS);
      const startAfter = Math.max(now + SOON_MS, last + pauseMs);
      planned.set(workspace, startAfter);
      try {
        const key = `${workspace} ${startAfter}`;
        // One refresh shows what many have done.
        await engine.send(REFRESH_HOME, { workspace }, { key, startAfter, newTrace: true });
      } catch (error) {
        log.warn({ event: 'home_not_refreshed', workspace, err: error }, 'App Home may show what was');
      }
    },
    seenBy(workspace, viewers) {
      if (viewersOf.size >= MOST_PLANNED) viewersOf.clear();
      viewersOf.set(workspace, viewers);
    },
    async permalink(workspace, shown) {
      try {
        return await permalinks.get([workspace, shown.channel, shown.ts], () =>
          slack.permalink(workspace, shown),
        );
      } catch (error) {
        if (isSlackFailure(error)) return undefined;
        throw error;
      }
    },
  };
}
