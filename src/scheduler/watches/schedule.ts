import { SCHEDULES } from '../../records/account-keys.ts';
import { ACTIVE, feedChannelId, type Schedule } from '../../records/schedules.ts';
import {
  listWatches,
  type PlacedWatch,
  type Watch,
  WatchedChannel,
  watchedChannels,
} from '../../records/watches.ts';
import { watchWords } from '../../views/watches/watch.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ScheduleKind } from '../schedules/lifecycle.ts';
import { postPending } from '../schedules/outbox.ts';
import { ensurePolling, type PageContext, pageContext } from '../schedules/polling.ts';
import { afterPage, type FeedPage, fromPage, isActive, readFeed, WATCH_FEED, without } from './feed.ts';

export const WATCHES: ScheduleKind<PlacedWatch> = {
  command: 'watch',
  collection: 'watched-channels',
  requester: SCHEDULES,
  list: async ({ store }) => (await listWatches(store)).map(asSchedule),
  setState: (workspace, schedule, change) =>
    changeWatch(workspace, schedule, (watch) => ({ ...watch, state: change(watch.state) })),
  start: (workspace, { record }) => ensurePolling(workspace, WATCH_FEED.interval, record.account),
  async postPending(workspace, schedule) {
    const doc = await watchedChannels(workspace.store).get(feedChannelId(schedule));
    await postPending(workspace, WATCH_FEED.outbox, doc);
  },
  async prepareResume(workspace, { id, record }) {
    const account = await workspace.accounts.resolve(SCHEDULES, record.account);
    const page = await readFeed(workspace, account);
    const mentions = await workspace.names.mentions(account.name);
    return async () => {
      await watchedChannels(workspace.store).update(feedChannelId(record), (current) => {
        const existing = current?.watches.find((one) => one.id === id);
        const context = pageContext(workspace, mentions);
        return existing && current ? withPage(current, page, existing, context) : current;
      });
    };
  },
  async remove({ store }, schedule) {
    let removed: WatchedChannel | undefined;
    await watchedChannels(store).update(feedChannelId(schedule), (current) => {
      const watches = current?.watches.filter(({ id }) => id === schedule.id) ?? [];
      if (current === undefined || watches.length === 0) return current;
      removed = { ...current, watches, pending: [] };
      const left = current.watches.filter(({ id }) => id !== schedule.id);
      // What is kept for it stays, as it may come back.
      return left.length === 0 ? undefined : { ...current, watches: left };
    });
    return removed;
  },
  /** Of a channel that was not watched in the meantime, what happened since the removal is still news. */
  async restore({ store }, removed) {
    const { watches, ...channel } = WatchedChannel.parse(removed);
    const changed = await watchedChannels(store).update(feedChannelId(channel), (current) => {
      const others = current?.watches ?? [];
      const missing = watches.filter(({ id }) => !others.some((one) => one.id === id));
      return { ...(current ?? channel), watches: [...others, ...missing] };
    });
    const watch = changed?.watches.find(({ id }) => id === watches[0]?.id);
    if (watch === undefined) throw new TypeError('a removed watch has no record');
    return asSchedule({ channel: channel.channel, account: channel.account, watch });
  },
};

/** Those of channels. What a person watches for themselves is nobody else's to see or change. */
export const CHANNEL_WATCHES: ScheduleKind<PlacedWatch> = {
  ...WATCHES,
  list: async (workspace) =>
    (await WATCHES.list(workspace)).filter(({ record }) => record.watch.person === undefined),
};

export function asSchedule(record: PlacedWatch): Schedule<PlacedWatch> {
  const { channel, account } = record;
  const { id, setUpBy, state, person } = record.watch;
  const isOwn = person !== undefined;
  const what = `the watch of ${watchWords(record)}`;
  const resume = isOwn ? `watch mine --account ${account}` : 'watch resume';
  return { id, name: id, what, channel, setUpBy, account, state, resume, record };
}

/** Changes one watch; undefined where it was removed. */
export async function changeWatch(
  { store }: Pick<Workspace, 'store'>,
  { id, channel, account }: Pick<Schedule, 'id' | 'channel' | 'account'>,
  change: (current: Watch) => Watch,
): Promise<Schedule<PlacedWatch> | undefined> {
  const changed = await watchedChannels(store).update(feedChannelId({ channel, account }), (current) =>
    current === undefined
      ? undefined
      : { ...current, watches: current.watches.map((one) => (one.id === id ? change(one) : one)) },
  );
  const watch = changed?.watches.find((one) => one.id === id);
  return changed && watch && asSchedule({ channel, account: changed.account, watch });
}

/**
 * The channel after a page, for a watch that begins or resumes. Other watches still get their news; a channel that a
 * person had paused begins anew, any other catches up.
 */
export function withPage(
  channel: WatchedChannel,
  page: FeedPage,
  watch: Watch | undefined,
  context: PageContext,
): WatchedChannel {
  const isAnew = watch?.state.kind !== 'paused' || watch.state.cause === 'person';
  const isResumed = watch?.state.kind === 'paused' && isAnew;
  const kept = isResumed ? without(channel.kept, watch.id) : channel.kept;
  if (isActive(channel)) return afterPage({ ...channel, kept }, page, context);
  if (isAnew) return { ...fromPage(channel, page, context.now), pending: [] };
  const { watches } = channel;
  const resumed = watches.map((one) => (one.id === watch.id ? { ...one, state: ACTIVE } : one));
  return { ...afterPage({ ...channel, watches: resumed }, page, context), watches };
}
