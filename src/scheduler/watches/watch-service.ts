import type { Account } from '../../workspace/accounts.ts';
import { expectRoomForSchedule } from '../../workspace/schedule-limits.ts';
import { ACTIVE, SCHEDULES_LOCK, type Schedule } from '../../workspace/schedules.ts';
import {
  freeWatchId,
  listWatches,
  type PlacedWatch,
  type Watch,
  watchedChannels,
} from '../../workspace/watches.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { feedChannelId } from '../schedules/outbox.ts';
import { newChannel, readFeed } from './feed.ts';
import { asSchedule, changeWatch, WATCHES, withPage } from './schedule.ts';

export interface AskedWatch {
  channel: string;
  account: Account;
  project: Watch['project'];
  mode: Watch['mode'];
  user: string;
  requestId: string;
}

/** What came of the request: a channel has one watch a project, whose mode may change. */
export interface SetUp {
  kind: 'new' | 'changed' | 'resumed' | 'same';
  schedule: Schedule<PlacedWatch>;
}

/** Begins to watch from now on, so the feed is read first. @throws AccountFailure where the service does not show it */
export async function setUpWatch(workspace: Workspace, asked: AskedWatch): Promise<SetUp> {
  const { channel, account } = asked;
  const page = await readFeed(workspace, account);
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const placed = await listWatches(workspace.store);
    const all = placed.map(({ watch }) => watch);
    const made = newWatch(workspace, asked, freeWatchId(all, asked.requestId));
    const isKnown = placed.some(
      (one) => one.channel === channel && one.account === account.name && isSameProject(one.watch, made),
    );
    if (!isKnown) await expectRoomForSchedule(workspace, channel);
    let kind: SetUp['kind'] = 'same';
    const empty = newChannel(channel, account.name);
    const id = feedChannelId(empty);
    const changed = await watchedChannels(workspace.store).update(id, (current = empty) => {
      const standing = current.watches.find((one) => isSameProject(one, made));
      kind = kindOf(standing, asked);
      const read = withPage(workspace, current, page, standing);
      return { ...read, watches: withWatch(read.watches, standing, made) };
    });
    const watch = changed?.watches.find((one) => isSameProject(one, made)) ?? made;
    const schedule = asSchedule({ watch, channel, account: account.name });
    await WATCHES.start(workspace, schedule);
    await WATCHES.postPending?.(workspace, schedule);
    return { kind, schedule };
  });
}

/** What a person decides of a watch. */
export type WatchChoices = Pick<Watch, 'mode'> & { project: Watch['project'] };

/** Undefined where it was removed; 'taken' where another watch of the channel has the project. */
export function editWatch(
  workspace: Workspace,
  { id, channel, account }: Schedule,
  { mode, project }: WatchChoices,
): Promise<Schedule<PlacedWatch> | 'taken' | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const others = (await listWatches(workspace.store)).filter(
      (one) => one.channel === channel && one.account === account && one.watch.id !== id,
    );
    if (others.some(({ watch }) => isSameProject(watch, { project }))) return 'taken';
    return changeWatch(workspace, { id, channel, account }, ({ project: _, ...watch }) => ({
      ...watch,
      mode,
      ...(project === undefined ? {} : { project }),
    }));
  });
}

function isSameProject(one: Pick<Watch, 'project'>, other: Pick<Watch, 'project'>): boolean {
  return one.project?.permalink === other.project?.permalink;
}

/** A watch that was set up again after a kill is as new as it was. */
function kindOf(standing: Watch | undefined, { mode, requestId }: AskedWatch): SetUp['kind'] {
  if (standing === undefined || standing.requestId === requestId) return 'new';
  if (standing.mode !== mode) return 'changed';
  return standing.state.kind === 'paused' ? 'resumed' : 'same';
}

function newWatch({ clock }: Workspace, { requestId, project, mode, user }: AskedWatch, id: string): Watch {
  return { id, requestId, project, mode, setUpBy: user, setUpAt: clock.now(), state: ACTIVE };
}

function withWatch(watches: readonly Watch[], standing: Watch | undefined, made: Watch): Watch[] {
  if (standing === undefined) return [...watches, made];
  const { mode, state } = made;
  return watches.map((watch) => (watch.id === standing.id ? { ...watch, mode, state } : watch));
}
