import { randomUUID } from 'node:crypto';
import { type ActivityEvent, getActivity } from '../../service/activity.ts';
import { type WatchedChannel, watchedChannels } from '../../workspace/watches.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { PollState } from '../polling.ts';
import { postPending } from '../schedules/outbox.ts';
import { pollAccount } from '../schedules/poll-account.ts';
import type { Poll, Poller } from '../schedules/poller.ts';
import { WATCH_OUTBOX } from './outbox.ts';
import { WATCH_BEAT, WATCHES } from './schedule.ts';
import { afterPage, isActive } from './watched-channel.ts';

/** A place is stored at least this often, so that it tells roughly when the feed was looked at. */
const PLACE_MS = 3_600_000;

/** Spec 4.9: seven days, so that no time zone's midnight and no pause of ours hides an event. */
export const WATCHED_RANGE = 'last_7_days';

export const WATCH_ROUNDS: Poller = {
  beat: WATCH_BEAT,
  isWanted: async (workspace, account) => (await activeOf(workspace, account)).length > 0,
  look,
};

/** The channels that something active watches the account for. */
async function activeOf(
  { store }: Workspace,
  account: string,
): Promise<Array<{ id: string; doc: WatchedChannel }>> {
  const rows = await watchedChannels(store).list();
  return rows.filter(({ doc }) => doc.account === account && isActive(doc));
}

/** One request for all channels that watch the account. */
function look(workspace: Workspace, look: Poll): Promise<PollState> {
  const { account, signal } = look;
  return pollAccount(workspace, WATCHES, look, {
    fetch: (client) => getActivity(client, { range: WATCHED_RANGE }, { signal, retries: 0 }),
    async take({ events }) {
      for (const { id } of await activeOf(workspace, account)) await takeNews(workspace, id, events);
    },
  });
}

/** Moves the channel's place and keeps what is to be posted, in one step; then sees to it that it is posted. */
async function takeNews(workspace: Workspace, id: string, events: readonly ActivityEvent[]): Promise<void> {
  const stored = watchedChannels(workspace.store);
  const moved = (current: WatchedChannel): WatchedChannel =>
    isActive(current)
      ? afterPage(current, events, {
          now: workspace.clock.now(),
          batch: randomUUID(),
          word: workspace.config.SLACK_COMMAND,
        })
      : current;
  const standing = await stored.get(id);
  if (standing === undefined || !isActive(standing)) return;
  const isMoved = hasMoved(standing, moved(standing));
  const kept = isMoved
    ? await stored.update(id, (current) => (current === undefined ? undefined : moved(current)))
    : standing;
  if (kept !== undefined) await postPending(workspace, WATCH_OUTBOX, id, kept.pending);
}

/** Most looks find nothing, and then nothing is written. */
function hasMoved(before: WatchedChannel, after: WatchedChannel): boolean {
  return (
    after.pending.length !== before.pending.length ||
    after.place.floor !== before.place.floor ||
    after.place.seen.length !== before.place.seen.length ||
    after.place.seen[0]?.[0] !== before.place.seen[0]?.[0] ||
    after.place.lookedAt - before.place.lookedAt > PLACE_MS
  );
}
