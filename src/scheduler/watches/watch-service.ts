import { isDeepStrictEqual } from 'node:util';
import { isSameOrNone } from '../../core/project-ref.ts';
import type { Account } from '../../records/accounts.ts';
import { ACTIVE, feedChannelId, SCHEDULES_LOCK, type Schedule } from '../../records/schedules.ts';
import { listWatches, type PlacedWatch, type Watch, watchedChannels } from '../../records/watches.ts';
import { freeId } from '../../store/store.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { expectRoomForSchedule } from '../schedules/lifecycle.ts';
import { pageContext } from '../schedules/polling.ts';
import { isActive, newChannel, readFeed } from './feed.ts';
import { asSchedule, changeWatch, WATCHES, withPage } from './schedule.ts';

/** What a person decides of a watch. */
export type WatchChoices = Pick<Watch, 'mode' | 'project' | 'server' | 'hours'>;

export interface AskedWatch extends WatchChoices, Pick<Watch, 'person'> {
  channel: string;
  account: Account;
  user: string;
  requestId: string;
}

/** What came of the request: a channel has one watch a project and server, whose mode and hours may change. */
export interface SetUp {
  kind: 'new' | 'changed' | 'resumed' | 'same';
  schedule: Schedule<PlacedWatch>;
}

/** Begins to watch from now on, so the feed is read first. @throws AccountFailure where the service does not show it */
export async function setUpWatch(workspace: Workspace, asked: AskedWatch): Promise<SetUp> {
  const { channel, account } = asked;
  const page = await readFeed(workspace, account);
  const context = pageContext(workspace, await workspace.names.mentions(account.name));
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const placed = await listWatches(workspace.store);
    // Repeated after a kill, also where the watch was edited in between.
    const repeated = placed.find(({ watch }) => watch.requestId === asked.requestId);
    if (repeated !== undefined) return { kind: 'new', schedule: await started(workspace, repeated) };
    const id = freeId('w', asked.requestId, (taken) => placed.some(({ watch }) => watch.id === taken));
    const made = newWatch(workspace, asked, id);
    const isKnown = placed.some(
      (one) => one.channel === channel && one.account === account.name && isSameSubject(one.watch, made),
    );
    // A person has one of their own for each account.
    if (!isKnown && asked.person === undefined) await expectRoomForSchedule(workspace, channel);
    let kind: SetUp['kind'] = 'same';
    const empty = newChannel(channel, account.name);
    const changed = await watchedChannels(workspace.store).update(feedChannelId(empty), (current = empty) => {
      const existing = current.watches.find((one) => isSameSubject(one, made));
      kind = kindOf(existing, asked);
      const read = withPage(current, page, existing, context);
      return { ...read, watches: withWatch(read.watches, existing, made) };
    });
    const watch = changed?.watches.find((one) => isSameSubject(one, made)) ?? made;
    return { kind, schedule: await started(workspace, { watch, channel, account: account.name }) };
  });
}

async function started(workspace: Workspace, placed: PlacedWatch): Promise<Schedule<PlacedWatch>> {
  const schedule = asSchedule(placed);
  await WATCHES.start(workspace, schedule);
  await WATCHES.postPending?.(workspace, schedule);
  return schedule;
}

/** Begins to watch from now on, without asking the service: nothing of before is news. */
export function addWatch(
  workspace: Workspace,
  { channel, account, watch }: PlacedWatch,
): Promise<Schedule<PlacedWatch>> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const now = workspace.clock.now();
    const empty = { ...newChannel(channel, account), cursor: { seen: [], floor: now, lookedAt: now } };
    await watchedChannels(workspace.store).update(feedChannelId(empty), (current = empty) => {
      const watches = [...current.watches.filter(({ id }) => id !== watch.id), watch];
      return { ...(isActive(current) ? current : empty), watches };
    });
    return started(workspace, { watch, channel, account });
  });
}

/** Undefined where it was removed; 'taken' where another watch of the channel has the project and server. */
export function editWatch(
  workspace: Workspace,
  { id, channel, account }: Schedule,
  choices: WatchChoices,
): Promise<Schedule<PlacedWatch> | 'taken' | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const others = (await listWatches(workspace.store)).filter(
      (one) => one.channel === channel && one.account === account && one.watch.id !== id,
    );
    if (others.some(({ watch }) => isSameSubject(watch, choices))) return 'taken';
    return changeWatch(workspace, { id, channel, account }, (watch) => ({ ...watch, ...choices }));
  });
}

type WatchSubject = Pick<Watch, 'project' | 'server' | 'person'>;

export function isSameSubject(one: WatchSubject, other: WatchSubject): boolean {
  const isSameServer = one.server?.identifier.toLowerCase() === other.server?.identifier.toLowerCase();
  return isSameOrNone(one.project, other.project) && isSameServer && one.person === other.person;
}

function kindOf(existing: Watch | undefined, { mode, hours }: AskedWatch): SetUp['kind'] {
  if (existing === undefined) return 'new';
  if (existing.mode !== mode || !isDeepStrictEqual(existing.hours, hours)) return 'changed';
  return existing.state.kind === 'paused' ? 'resumed' : 'same';
}

function newWatch({ clock }: Workspace, asked: AskedWatch, id: string): Watch {
  const { requestId, mode, user: setUpBy, project, server, hours, person } = asked;
  const choices = { mode, project, server, hours, person };
  return { id, requestId, ...choices, setUpBy, setUpAt: clock.now(), state: ACTIVE };
}

function withWatch(watches: readonly Watch[], existing: Watch | undefined, made: Watch): Watch[] {
  if (existing === undefined) return [...watches, made];
  const { mode, state, project, server, hours } = made;
  return watches.map((watch) =>
    watch.id === existing.id
      ? { ...watch, mode, state, project, server, hours, mutedUntil: undefined }
      : watch,
  );
}
