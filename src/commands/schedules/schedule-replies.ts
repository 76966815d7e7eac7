import { closest, distance } from 'fastest-levenshtein';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import { type Message, mayRead } from '../../core/message.ts';
import { code, unmarked } from '../../core/mrkdwn.ts';
import { isNamed, spellName } from '../../core/names.ts';
import {
  findNextTime,
  isAsleep,
  isPersonal,
  type Schedule,
  type ScheduleKind,
  type ScheduleOf,
  type TimedKind,
  type TimedSchedule,
  type Watch,
} from '../../records/schedules.ts';
import { INVOICES } from '../../scheduler/invoices/notices.ts';
import { readPolling } from '../../scheduler/schedules/polling.ts';
import { listSetUp } from '../../scheduler/setup/show-channel-card.ts';
import { ACTIVITY } from '../../scheduler/watches/feed.ts';
import { canBePushed, isPushFor } from '../../scheduler/watches/switch-push.ts';
import { buttons } from '../../views/blocks/make-blocks.ts';
import { withFooterChange } from '../../views/digests/digest-message.ts';
import { notifyStateMessage } from '../../views/invoices/invoice-messages.ts';
import { SCHEDULE_FACES, type ScheduleFace } from '../../views/schedules/faces.ts';
import {
  type ListedSchedule,
  type ListScope,
  type ScheduleChange,
  type ScheduleListing,
  scheduleList,
} from '../../views/schedules/schedule.ts';
import { timedLines } from '../../views/schedules/timed-modal.ts';
import { describeSchedule, nameSchedule, scheduleWords } from '../../views/schedules/words.ts';
import { showCardButton } from '../../views/setup/channel-card.ts';
import { watchLines } from '../../views/watches/watch-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../context.ts';
import { expectAllowed } from '../permission.ts';
import { lookUpProject } from '../targets/targets.ts';

interface ListOptions extends Pick<ScheduleListing, 'isWhole'> {
  /** All if left out. */
  isMeant?: ((schedule: Schedule) => boolean) | undefined;
  /** True for a list in a channel, which names nothing of a person's direct messages. */
  isShared?: boolean;
}

/** Set if the account does not list the schedule's project any more. */
interface Listed {
  isGone?: boolean;
}

/**
 * Schedules with the present names of their projects. People's watches of their own deployments are listed nowhere.
 * @param user the reader; undefined for a list in a channel
 */
async function listVisible<K extends ScheduleKind>(
  kind: K,
  workspace: Workspace,
  user: string | undefined,
): Promise<Array<ScheduleOf<K> & Listed>> {
  const all = await workspace.schedules.list(kind);
  const visible = all.filter(
    (schedule) =>
      !isPersonal(schedule) && mayRead(user, { channel: schedule.channel, person: schedule.createdBy }),
  );
  return Promise.all(
    visible.map(async (schedule) => {
      const project = schedule.kind === 'invoices' ? undefined : await lookUpProject(workspace, schedule);
      if (project === 'gone') return { ...schedule, isGone: true };
      return project === undefined ? schedule : { ...schedule, project };
    }),
  );
}

export async function listSchedules(
  kind: ScheduleKind,
  { invocation, workspace }: CommandContext,
  scope: ListScope,
  { isWhole, isMeant = () => true, isShared = false }: ListOptions = {},
): Promise<Message> {
  const { user } = invocation;
  const visible: ReadonlyArray<Schedule & Listed> = await listVisible(
    kind,
    workspace,
    isShared ? undefined : user,
  );
  const all = visible.filter(isMeant);
  const listed = scope === 'all' ? all : all.filter(({ channel }) => channel === invocation.channel);
  const elsewhere = all.length - listed.length;
  const unreadable = await workspace.schedules.countUnreadable(kind);
  const { role } = SCHEDULE_FACES[kind];
  const canChange = await workspace.roles.holds(user, role);
  const details = { scope, elsewhere, unreadable, word: workspace.word, canChange };
  const listing = { ...details, ...defined({ isWhole }) };
  const ownLists: Partial<Record<ScheduleKind, DrawList>> = OWN_LISTS;
  const list = await (ownLists[kind] ?? listTimed)(workspace, listed, listing, SCHEDULE_FACES[kind]);
  return offerCard({ invocation, workspace }, list);
}

/** Adds the button for the card of the channel, if it has one and the person may post it. */
export async function offerCard(
  { invocation, workspace }: Pick<CommandContext, 'invocation' | 'workspace'>,
  message: Message,
): Promise<Message> {
  const { channel, user } = invocation;
  if (channel === undefined || !(await workspace.roles.holds(user, 'operator'))) return message;
  if ((await listSetUp(workspace, channel)).length === 0) return message;
  return { ...message, blocks: [...message.blocks, ...buttons(showCardButton())] };
}

type DrawList = (
  workspace: Workspace,
  listed: ReadonlyArray<Schedule & Listed>,
  listing: ScheduleListing,
  face: ScheduleFace,
) => Promise<Message> | Message;

/** Lists of the kinds that do not run by the clock. */
const OWN_LISTS: Readonly<Record<Exclude<ScheduleKind, TimedKind>, DrawList>> = {
  async watch(workspace, listed, listing, face) {
    const watches = listed.filter((one) => one.kind === 'watch');
    return scheduleList(face, await describeWatches(workspace, watches, listing.scope), listing);
  },
  async invoices(workspace, listed, { word }) {
    const readPace = await readPolling(workspace, INVOICES);
    const all = listed.filter((one) => one.kind === 'invoices');
    const notices = all.map((one) => ({ notices: one, polling: readPace(one.account) }));
    return notifyStateMessage(notices, word);
  },
};

function listTimed(
  workspace: Workspace,
  listed: readonly Schedule[],
  listing: ScheduleListing,
  face: ScheduleFace,
): Message {
  const timed = listed.filter((one) => 'cadence' in one);
  return scheduleList(face, describeTimed(workspace, timed, listing.scope), listing);
}

async function describeWatches(
  workspace: Workspace,
  watches: ReadonlyArray<Watch & Listed>,
  scope: ListScope,
): Promise<ListedSchedule[]> {
  const readPace = await readPolling(workspace, ACTIVITY);
  const feeds = await workspace.feeds.list('watch');
  const waiting = feeds.flatMap((feed) => [...feed.waiting.entries, ...(feed.begun?.lines ?? [])]);
  const pushes = await workspace.pushes.list();
  return watches.map((watch) => {
    const backlog = waiting.filter((one) => one.for.includes(watch.id)).length;
    const { isGone = false } = watch;
    const push = pushes.find((one) => isPushFor(one, watch));
    const { config, pages } = workspace;
    const polling = readPace(watch.account);
    const details = { scope, polling, backlog, isGone, push, publicUrl: config.PUBLIC_URL, pages };
    return {
      schedule: watch,
      lines: watchLines(watch, details),
      canBePushed: canBePushed(workspace, watch, push),
    };
  });
}

function describeTimed(
  { clock, pages }: Workspace,
  schedules: readonly TimedSchedule[],
  scope: ListScope,
): ListedSchedule[] {
  const now = clock.now();
  return schedules.map((schedule) => {
    const lines = timedLines(schedule, { scope, now, nextAt: findNextTime(schedule, now), pages });
    return { schedule, lines };
  });
}

/** Redraws a posted digest after one of its buttons was used; undefined for any other kind. */
export function redrawPosted(
  message: Message,
  schedule: Schedule,
  done: ScheduleChange['done'],
  { invocation, workspace: { clock } }: CommandContext,
): Message | undefined {
  if (schedule.kind !== 'digest') return undefined;
  const frame = { digest: schedule, next: findNextTime(schedule, clock.now()) };
  const change = { text: `${done} by <@${invocation.user}>`, isAsleep: isAsleep(schedule) };
  return withFooterChange(message, frame, change);
}

/** Typing mistakes in an id of four letters; more mistakes mean another id. */
const MAX_MISTAKES = 2;

/**
 * Finds a schedule by its id in any channel, or by its project in this channel. Without a name: this channel's only one, or
 * the only one that `fits`.
 * @throws UserError if the name is unknown, or several match
 */
export async function resolveSchedule<K extends ScheduleKind>(
  kind: K,
  { invocation, workspace }: CommandContext,
  nameOrId: string | undefined,
  {
    done = 'used',
    fits = () => true,
  }: { done?: string; fits?: ((schedule: Schedule) => boolean) | undefined } = {},
): Promise<ScheduleOf<K>> {
  const all = await listVisible(kind, workspace, invocation.user);
  const here = all.filter(({ channel }) => channel === invocation.channel);
  const { noun, commands } = SCHEDULE_FACES[kind];
  const askWhich = (some: readonly Schedule[]): UserError => {
    const choices = some.map((one) => ({ value: one.id, text: unmarked(scheduleWords(one)) }));
    return new UserError(`Which ${noun} should be ${done}?`, undefined, { choices });
  };
  if (nameOrId === undefined) {
    if (here.length === 0) throw new UserError(`This channel has no ${noun} yet.`, commands.add);
    const [only, ...others] = here.length === 1 ? here : here.filter(fits);
    if (only !== undefined && others.length === 0) return only;
    throw askWhich(here);
  }
  const query = nameOrId.toLowerCase();
  const byWord = here.filter((schedule) => isNamedByProject(schedule, nameOrId));
  const match = all.find(({ id }) => id.toLowerCase() === query) ?? byWord[0];
  if (match?.id.toLowerCase() !== query && byWord.length > 1) throw askWhich(byWord);
  if (match !== undefined) return match;
  const ids = (here.length > 0 ? here : all).map(nameSchedule);
  throw new UserError(`There is no ${noun} ${code(nameOrId, 40)}.${nearWords(query, ids)}`, commands.list);
}

/** Digests have no name but their id: several may be of one project. */
export function isNamedByProject(schedule: Schedule, spelling: string): boolean {
  const project = schedule.kind === 'guard' || schedule.kind === 'watch' ? schedule.project : undefined;
  const pattern = schedule.kind === 'watch' ? schedule.pattern : undefined;
  if (pattern !== undefined) return spellName(pattern) === spellName(spelling);
  return project !== undefined && isNamed(project, spelling);
}

function nearWords(query: string, ids: readonly string[]): string {
  const near = closest(query, ids);
  const isNear = ids.length > 0 && distance(query, near) <= MAX_MISTAKES;
  return isNear ? ` Did you mean ${code(near)}?` : '';
}

/** Checks that the schedule's own channel allows the command too. @throws Refusal */
export async function expectAllowedThere(
  context: CommandContext,
  { kind, channel }: Pick<Schedule, 'kind' | 'channel'>,
  name: string,
): Promise<void> {
  // All changes of invoice notices belong to one command.
  const command = kind === 'invoices' ? SCHEDULE_FACES.invoices.command : name;
  await expectAllowed(context, channel, { command, role: undefined });
}

export function createRemovedError(schedule: Schedule): UserError {
  const { list } = SCHEDULE_FACES[schedule.kind].commands;
  return new UserError(`Somebody has removed ${describeSchedule(schedule)}.`, list);
}
