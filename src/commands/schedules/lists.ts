import { defined } from '../../core/json.ts';
import { isDirect, type Message, mayRead } from '../../core/message.ts';
import {
  type InvoiceNotices,
  isAsleep,
  isPersonal,
  nextOf,
  type Schedule,
  type ScheduleKind,
  type ScheduleOf,
  type TimedSchedule,
  type Watch,
} from '../../records/schedules.ts';
import { INVOICES } from '../../scheduler/invoices/notices.ts';
import { readPolling } from '../../scheduler/schedules/polling.ts';
import { ACTIVITY } from '../../scheduler/watches/feed.ts';
import { notifyStateMessage } from '../../views/invoices/invoices.ts';
import {
  type ListedSchedule,
  type ListScope,
  SCHEDULE_FACES,
  type ScheduleListing,
  scheduleList,
} from '../../views/schedules/schedule.ts';
import { timedLines } from '../../views/schedules/timed.ts';
import { watchLines } from '../../views/watches/watch.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../command.ts';
import { lookUpProject } from '../targets/project.ts';

interface ListOptions extends Pick<ScheduleListing, 'removed' | 'isShared' | 'isWhole'> {
  /** All if left out. */
  isMeant?: ((schedule: Schedule) => boolean) | undefined;
}

/** Set if the account does not list the schedule's project any more. */
interface Listed {
  isGone?: boolean;
}

/**
 * Schedules that a person may read, or with undefined a channel, under the present names of their projects. Watches of one's
 * own deployments are listed nowhere.
 */
export async function listVisible<K extends ScheduleKind>(
  kind: K,
  workspace: Workspace,
  user: string | undefined,
): Promise<Array<ScheduleOf<K> & Listed>> {
  const all = await workspace.schedules.list(kind);
  const visible = all.filter(
    (schedule) =>
      !isPersonal(schedule) && mayRead(user, { channel: schedule.channel, person: schedule.setUpBy }),
  );
  return Promise.all(
    visible.map(async (schedule) => {
      const project = schedule.kind === 'invoices' ? undefined : await lookUpProject(workspace, schedule);
      if (project === 'gone') return { ...schedule, isGone: true };
      return project === undefined ? schedule : { ...schedule, project };
    }),
  );
}

/** Lists this channel's, or all of a kind. */
export async function listSchedules(
  kind: ScheduleKind,
  { caller, workspace }: CommandContext,
  scope: ListScope,
  { removed, isShared, isWhole, isMeant = () => true }: ListOptions = {},
): Promise<Message> {
  // A list that a channel reads names nothing of anybody's direct messages elsewhere.
  const reader = isShared === true && !isDirect(caller.channel) ? undefined : caller.user;
  const all: ReadonlyArray<Schedule & Listed> = (await listVisible(kind, workspace, reader)).filter(isMeant);
  const listed = scope === 'all' ? all : all.filter(({ channel }) => channel === caller.channel);
  const elsewhere = all.length - listed.length;
  const unreadable = await workspace.schedules.countUnreadable(kind);
  const { role } = SCHEDULE_FACES[kind];
  const canChange = isShared === true || (await workspace.roles.holds(caller.user, role));
  const known = { scope, elsewhere, unreadable, word: workspace.word, canChange };
  const listing = { ...known, removed, ...defined({ isShared, isWhole }) };
  if (kind === 'invoices')
    return listNotices(
      workspace,
      listed.filter((one) => one.kind === 'invoices'),
    );
  const watches = listed.filter((one) => one.kind === 'watch');
  const timed = listed.filter((one) => 'cadence' in one);
  const rows =
    kind === 'watch'
      ? await describeWatches(workspace, watches, scope)
      : describeTimed(timed, scope, workspace.clock.now());
  return scheduleList(SCHEDULE_FACES[kind], rows, listing);
}

async function describeWatches(
  workspace: Workspace,
  watches: ReadonlyArray<Watch & Listed>,
  scope: ListScope,
): Promise<ListedSchedule[]> {
  const readPace = await readPolling(workspace.store, ACTIVITY);
  const lines = (await workspace.feeds.list('watch')).flatMap(({ kept }) => kept.lines);
  return watches.map((watch) => {
    const kept = lines.filter((line) => line.for.includes(watch.id)).length;
    const { isGone = false } = watch;
    const shown = { scope, polling: readPace(watch.account), kept, isGone };
    return { id: watch.id, isAsleep: isAsleep(watch), lines: watchLines(watch, shown) };
  });
}

function describeTimed(schedules: readonly TimedSchedule[], scope: ListScope, now: number): ListedSchedule[] {
  return schedules.map((schedule) => {
    const { id, state, snoozedUntil = 0 } = schedule;
    const lines = timedLines(schedule, { scope, now, nextAt: nextOf(schedule, now) });
    return { id, isAsleep: state.kind === 'paused' || snoozedUntil > now, lines };
  });
}

async function listNotices({ store, word }: Workspace, all: readonly InvoiceNotices[]): Promise<Message> {
  const readPace = await readPolling(store, INVOICES);
  const listed = all.map((notices) => ({ notices, polling: readPace(notices.account) }));
  return notifyStateMessage(listed, word);
}
