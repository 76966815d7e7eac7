import { setImmediate } from 'node:timers/promises';
import type { ChannelMove } from '../../records/channels.ts';
import type { FeedKind, FeedOf } from '../../records/feeds.ts';
import { Push } from '../../records/pushes.ts';
import { type ChannelQuiets, channelQuiets, keepQuietsUntil, type Quiet } from '../../records/quiets.ts';
import { moveRecoveries } from '../../records/recoveries.ts';
import { documentId, feedPlace, isSameSubject, SCHEDULES_LOCK, Schedule } from '../../records/schedules.ts';
import { Run } from '../../records/test-runs.ts';
import { WaitingCommand } from '../../records/waiting-commands.ts';
import type { Collection } from '../../store/store.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { planEnds } from '../episodes/end-quiet.ts';
import { replanEscalations } from '../episodes/escalation.ts';
import { REVIEW_FAILURES } from '../episodes/queues.ts';
import { SCHEDULE_TYPES } from '../schedule-types.ts';
import { listFollowers } from '../schedules/outbox.ts';
import { expectRoomForSchedule } from '../schedules/pause-schedule.ts';
import { Removal } from '../schedules/remove-schedules.ts';
import { FollowedServer } from '../servers/provisioning.ts';
import { ServerOrder } from '../servers/server-order.ts';
import { listSetUp, moveChannelCard } from '../setup/show-channel-card.ts';
import { atPresent } from '../watches/feed.ts';
import { moveFailures } from './move-failures.ts';

/**
 * Moves everything that is set up in a channel to another one: schedules, their news, open failures and recovery figures. Repeat
 * it after a kill, until it resolves.
 * @param settings true to move the channel's settings too: account, project, zone and the like
 * @param isSameChannel true if Slack gave the channel a new id. Then messages, tests and waiting commands move, too. If false,
 * an open failure gets a new message, and the restrictions of admins stay
 * @throws UserError if the other channel would have more schedules than it may; nothing is moved then
 */
export async function moveChannel(
  workspace: Workspace,
  from: string,
  to: string,
  { settings, isSameChannel = false }: { settings: boolean; isSameChannel?: boolean },
): Promise<void> {
  const { channels, home, log, store } = workspace;
  const move: ChannelMove = { from, to, isSameChannel };
  if (from === to) return;
  if (!isSameChannel) await expectRoom(workspace, move);
  if (settings) await channels.move(move);
  await moveQuiets(workspace, move);
  await moveFailures(workspace, move);
  await store.exclusive(SCHEDULES_LOCK, async () => {
    await moveFeed(workspace, 'watch', move);
    await moveFeed(workspace, 'invoices', move);
    await moveSchedules(workspace, move);
  });
  await moveDocuments(workspace, move);
  if (isSameChannel) await moveChannelCard(workspace, move);
  await resumeThere(workspace, move);
  log.info({ event: 'channel_moved', channel: to }, 'Everything in a channel moved');
  await home.refresh();
}

function expectRoom(workspace: Workspace, { from, to }: ChannelMove): Promise<void> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const own = await listSetUp(workspace, from);
    if (own.length > 0) await expectRoomForSchedule(workspace, to, own.length, false);
  });
}

/** The failures that move are held back there, too. */
async function moveQuiets({ store }: Workspace, { from, to }: ChannelMove): Promise<void> {
  const quiets = channelQuiets(store);
  const own = await quiets.get(from);
  if (own === undefined) return;
  const add = (current: ChannelQuiets = { quiets: [] }): ChannelQuiets => {
    const isNew = ({ id }: Quiet): boolean => !current.quiets.some((one) => one.id === id);
    return { quiets: [...current.quiets, ...own.quiets.filter(isNew)] };
  };
  await quiets.update(to, add, keepQuietsUntil(add(await quiets.get(to))));
  await quiets.delete(from);
}

/** Moves the position in the feeds before the schedules, so that no event is skipped or comes twice. */
async function moveFeed<K extends FeedKind>(
  workspace: Workspace,
  kind: K,
  { from, to, isSameChannel }: ChannelMove,
): Promise<void> {
  const { feeds } = workspace;
  for (const feed of await feeds.list(kind)) {
    if (feed.channel !== from) continue;
    const hearing = await feeds.getHeard(feed.account);
    const moved = withChannel(atPresent(feed, hearing), to, isSameChannel);
    const followers = await listFollowers(workspace, kind, moved);
    const isFollowed = followers.some(({ state }) => state.kind === 'active');
    await feeds.update(kind, moved, (current) =>
      current === undefined ? moved : mergeFeeds(isFollowed ? current : moved, isFollowed ? moved : current),
    );
    await feeds.update(kind, feed, () => undefined);
    await feeds.dropHeard(feed.account, from);
  }
}

/** The message of the latest successful deployments stays in its channel. */
function withChannel<F extends FeedOf<FeedKind>>(feed: F, channel: string, isSameChannel: boolean): F {
  const pending = feed.pending.map((batch) => {
    const { episode } = batch;
    return episode === undefined
      ? batch
      : { ...batch, episode: { ...episode, subject: { ...episode.subject, channel } } };
  });
  return { ...feed, channel, pending, ...(isSameChannel ? {} : { successes: undefined }) };
}

/** A feed at its own position, with what another one of the account has yet to post. */
function mergeFeeds<F extends FeedOf<FeedKind>>(feed: F, other: F): F {
  const isNew = ({ id }: { id: string }): boolean => feed.pending.every((batch) => batch.id !== id);
  const pending = [...feed.pending, ...other.pending.filter(isNew)];
  if (feed.kind !== 'watch' || other.kind !== 'watch') return { ...feed, pending };
  const waits = new Set(feed.waiting.entries.map(({ number }) => number));
  const others = other.waiting.entries.filter(({ number }) => !waits.has(number));
  const entries = [...feed.waiting.entries, ...others].toSorted((a, b) => a.number - b.number);
  const lines = [...(feed.begun?.lines ?? []), ...(other.begun?.lines ?? [])];
  const begun = lines.length === 0 ? feed.begun : { ...feed.begun, lines };
  return { ...feed, pending, begun, waiting: { ...feed.waiting, entries } };
}

/** A schedule that the other channel has already is dropped. */
async function moveSchedules(workspace: Workspace, { from, to, isSameChannel }: ChannelMove): Promise<void> {
  const { schedules } = workspace;
  const there = await listSetUp(workspace, to);
  for (const schedule of await listSetUp(workspace, from)) {
    if (there.some((other) => isTwin(other, schedule))) await schedules.remove(schedule);
    // A card stays in the channel of its message.
    else
      await moveSchedule(
        workspace,
        schedule,
        isSameChannel ? { channel: to } : { channel: to, card: undefined },
      );
  }
}

/** Reviews no failures, because they move by themselves. */
async function moveSchedule(
  { store }: Workspace,
  schedule: Schedule,
  change: Partial<Schedule>,
): Promise<void> {
  const collection = store.collection('schedules', Schedule);
  const moved = Schedule.parse({ ...schedule, ...change });
  if (moved.kind === 'invoices') moved.id = feedPlace(moved);
  await collection.put(documentId(moved), moved);
  if (moved.id !== schedule.id) await collection.delete(documentId(schedule));
}

function isTwin(one: Schedule, other: Schedule): boolean {
  if (one.kind === 'watch' && other.kind === 'watch')
    return one.account === other.account && isSameSubject(one, other);
  return one.kind === 'invoices' && other.kind === 'invoices' && one.account === other.account;
}

/** Starts what moved, and brings the failures of both channels up to date. */
async function resumeThere(workspace: Workspace, { from, to }: ChannelMove): Promise<void> {
  const { jobs } = workspace;
  const there = await listSetUp(workspace, to);
  for (const schedule of there) {
    if (schedule.state.kind === 'active') await SCHEDULE_TYPES[schedule.kind].start(workspace, schedule);
    await replanEscalations(workspace, schedule);
  }
  await planEnds(workspace, to);
  const accounts = new Set(there.flatMap(({ account }) => account ?? []));
  for (const account of accounts)
    for (const channel of [to, from]) await jobs.send(REVIEW_FAILURES, { channel, account });
  // The other channel may not allow the commands of some schedules.
  await workspace.accountsChanged();
}

/** Moves the documents that name the channel in a field. Safe to repeat. */
async function moveDocuments({ store }: Workspace, { from, to, isSameChannel }: ChannelMove): Promise<void> {
  await moveRecoveries(store, from, to);
  const messages: Collection<object>[] = [
    store.collection('runs', Run),
    store.collection('followed-servers', FollowedServer),
    store.collection('server-orders', ServerOrder),
    store.collection('removed-schedules', Removal),
    store.collection('waiting', WaitingCommand),
  ];
  const pushes = store.collection('pushes', Push);
  for (const collection of [pushes, ...(isSameChannel ? messages : [])])
    await replaceIn<object>(collection, from, to);
}

/** Number of documents that are read at once. */
const PAGE = 200;

async function replaceIn<T extends object>(
  collection: Collection<T>,
  from: string,
  to: string,
): Promise<void> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await collection.latest(PAGE, { offset });
    for (const { id, doc } of page)
      if (replaceText(doc, from, to) !== doc)
        await collection.update(id, (current) => current && replaceText(current, from, to));
    if (page.length < PAGE) return;
    // Other requests run between two pages.
    await setImmediate();
  }
}

/** Replaces a text wherever it is a whole value. Returns the same value if it is nowhere. Pure. */
function replaceText<T>(value: T, from: string, to: string): T {
  if (!JSON.stringify(value).includes(JSON.stringify(from))) return value;
  const replaced = JSON.stringify(value, (_, part: unknown) => (part === from ? to : part));
  return JSON.parse(replaced) as T;
}
