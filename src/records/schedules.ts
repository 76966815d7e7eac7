import { z } from 'zod';
import { WATCH_MODES, WEEKDAYS } from '../core/choices.ts';
import { MAX_PATTERN } from '../core/names.ts';
import { isSameOrNone, ProjectRef } from '../core/project-ref.ts';
import { nextOccurrence } from '../core/time/cron.ts';
import { DIGEST_RANGES } from '../core/time/range.ts';
import { addDays, dayAt, instantAt, ZoneName } from '../core/time/zone.ts';
import type { WorkspaceStore } from '../store/store.ts';
import { Reported } from './digest-marks.ts';

const Time = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);

/** Frequency of a digest or a guard; times look like `09:00`. */
export const Cadence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('daily'), time: Time }),
  z.object({ kind: z.literal('weekdays'), time: Time }),
  z.object({ kind: z.literal('weekly'), day: z.enum(WEEKDAYS), time: Time }),
  z.object({ kind: z.literal('hourly') }),
  z.object({ kind: z.literal('cron'), cron: z.string().max(200) }),
]);
export type Cadence = z.infer<typeof Cadence>;

/** The five cron fields of a cadence. */
export function makeCron(cadence: Cadence): string {
  if (cadence.kind === 'cron') return cadence.cron;
  if (cadence.kind === 'hourly') return '0 * * * *';
  const [hour, minute] = cadence.time.split(':').map(Number);
  const days = { daily: '*', weekdays: '1-5', weekly: '' }[cadence.kind];
  return `${minute} ${hour} * * ${cadence.kind === 'weekly' ? cadence.day : days}`;
}

/**
 * The next times, milliseconds since the epoch.
 * @throws CronError if a cron expression is wrong or matches no date, or the zone is unknown
 */
export function listNextTimes(cadence: Cadence, zone: string, after: number, amount: number): number[] {
  const cron = makeCron(cadence);
  const times: number[] = [];
  for (let from = after; times.length < amount; from = times.at(-1) ?? from)
    times.push(nextOccurrence(cron, zone, from));
  return times;
}

/** A time of the day; an end may be 24:00. */
const TimeOrMidnight = z.string().regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/);

/** The hours in which a watch posts, Monday to Friday. If `to` is not after `from`, they end on the next day. */
export const WorkingHours = z.object({
  from: TimeOrMidnight,
  to: TimeOrMidnight,
  zone: ZoneName,
});
export interface WorkingHours extends z.infer<typeof WorkingHours> {}

/** @param at milliseconds since the epoch */
export function isWithin({ from, to, zone }: WorkingHours, at: number): boolean {
  const today = dayAt(zone, at);
  // Hours that began yesterday may still go on.
  return [addDays(today, -1), today].some((day) => {
    if (!isWorkingDay(day)) return false;
    const last = to > from ? day : addDays(day, 1);
    return at >= toInstant(zone, day, from) && at < toInstant(zone, last, to);
  });
}

/** Start of the next working hours; undefined during working hours. @param at milliseconds since the epoch */
export function nextOpening(hours: WorkingHours, at: number): number | undefined {
  if (isWithin(hours, at)) return undefined;
  const { from, zone } = hours;
  const today = dayAt(zone, at);
  const days = Array.from({ length: 7 }, (_, ahead) => addDays(today, ahead)).filter(isWorkingDay);
  return days.map((day) => toInstant(zone, day, from)).find((opening) => opening > at);
}

/** The person or group to mention if nobody takes a failure. */
export const Escalation = z.object({
  mention: z.string().regex(/^[UWS][A-Z0-9]{1,30}$/, 'That is no id of a person or user group.'),
  /** Handle that people read. */
  name: z.string().max(80).optional(),
  /** Minutes after the post of the failure. The demo uses fractions, so that nobody waits for five minutes. */
  after: z.union([z.number().int().min(5).max(240), z.number().positive().lt(1)]),
});
export interface Escalation extends z.infer<typeof Escalation> {}

type Day = ReturnType<typeof dayAt>;

function isWorkingDay({ year, month, day }: Day): boolean {
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return weekday >= 1 && weekday <= 5;
}

function toInstant(zone: string, day: Day, time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return instantAt(zone, day, hour, minute);
}

/**
 * Why a schedule posts nothing.
 * - `person`: a person paused it
 * - `account`: none of its accounts works; it resumes by itself once one does
 * - `service`: the service refuses the request
 * - `slack`: Slack refuses the post
 * - `channel`: its command is switched off in its channel; it resumes by itself once it is allowed
 */
export const Paused = z.object({
  kind: z.literal('paused'),
  cause: z.enum(['person', 'account', 'service', 'slack', 'channel']),
  /** Half a sentence of mrkdwn, e.g. "the channel is archived". */
  reason: z.string(),
  /** Person who paused it. */
  requestedBy: z.string().optional(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The request of the person who paused it, so that its repetition after a kill recognises it. */
  causeId: z.string().optional(),
});
export interface Paused extends z.infer<typeof Paused> {}

export const ScheduleState = z.discriminatedUnion('kind', [z.object({ kind: z.literal('active') }), Paused]);
export type ScheduleState = z.infer<typeof ScheduleState>;

export const ACTIVE = { kind: 'active' } as const satisfies ScheduleState;

/** Fields of every schedule. Times are milliseconds since the epoch. */
const Common = z.object({
  /** Short, for people: `d7k2`. Unique among the schedules of its kind. */
  id: z.string(),
  /** The request that set it up, so that its repetition after a kill finds it. */
  requestId: z.string(),
  channel: z.string(),
  createdBy: z.string(),
  createdAt: z.number(),
  state: ScheduleState,
  /** When it was resumed or edited last; earlier occurrences do not count. */
  activeSince: z.number().optional(),
  /** The newest message in its channel about a change. It has the buttons. `text`: mrkdwn. */
  card: z.object({ ts: z.string(), text: z.string() }).optional(),
});

/** How the latest occurrence ended. `missed`: Deckhand was down for too long, and nothing was done. */
const LastOccurrence = z.object({
  scheduledAt: z.number(),
  at: z.number(),
  outcome: z.enum(['posted', 'late', 'quiet', 'reachable', 'unreachable', 'snoozed', 'failed', 'missed']),
  reason: z.string().optional(),
});
export interface LastOccurrence extends z.infer<typeof LastOccurrence> {}

/** Fields of schedules that run by the clock, such as digests and guards. */
const Timed = Common.extend({
  /** Undefined: every connected account. */
  account: z.string().optional(),
  project: ProjectRef.optional(),
  cadence: Cadence,
  zone: ZoneName,
  snoozedUntil: z.number().optional(),
  last: LastOccurrence.optional(),
});

export const Digest = Timed.extend({
  kind: z.literal('digest'),
  range: z.enum(DIGEST_RANGES),
  reported: Reported.optional(),
  /** True to post nothing if there were no deployments. */
  skipQuiet: z.boolean(),
  /**
   * The occurrence that no account has answered yet: time of the first attempt, and how often in a row the
   * service found no feed.
   */
  noAnswer: z.object({ scheduledAt: z.number(), since: z.number(), notFound: z.number() }).optional(),
});
export interface Digest extends z.infer<typeof Digest> {}

/** Tests whether a project is reachable; posts only changes. */
export const Guard = Timed.extend({
  kind: z.literal('guard'),
  account: z.string(),
  project: ProjectRef,
  escalation: Escalation.optional(),
});
export interface Guard extends z.infer<typeof Guard> {}

/** The latest post, or why there was none; mrkdwn. */
export const LastResult = z.object({ at: z.number(), text: z.string() });
export interface LastResult extends z.infer<typeof LastResult> {}

/** Fields of watches and invoice notices, which follow a feed. */
const Following = Common.extend({ account: z.string(), last: LastResult.optional() });

/** Events name a server by its identifier or its name. Several are shown by all names. */
const WatchedServer = z.object({
  identifier: z.string(),
  name: z.string(),
  /** Names and identifiers of several, and patterns such as `web-*`. Absent for one server. */
  names: z.array(z.string().max(200)).max(40).optional(),
  /** True to follow all servers but these. */
  isExcluded: z.boolean().optional(),
});
export interface WatchedServer extends z.infer<typeof WatchedServer> {}

export const Watch = Following.extend({
  kind: z.literal('watch'),
  /** Undefined: the projects of the pattern, or all of the account. */
  project: ProjectRef.optional(),
  /** Names of projects, also of those that the account has later: `shop-*`. Absent with a `project`. */
  pattern: z.string().max(MAX_PATTERN).optional(),
  server: WatchedServer.optional(),
  mode: z.enum(WATCH_MODES),
  /** The person whose own deployments it posts, by direct message. Undefined: everybody's, in a channel. */
  person: z.string().optional(),
  /** Posts nothing before this time. */
  mutedUntil: z.number().optional(),
  /** Events outside these hours wait. Undefined: it posts at any time. */
  hours: WorkingHours.optional(),
  escalation: Escalation.optional(),
});
export interface Watch extends z.infer<typeof Watch> {}

/** Posts new, paid and overdue invoices of an account in a channel. Its id is its `feedPlace`. */
export const InvoiceNotices = Following.extend({ kind: z.literal('invoices') });
export interface InvoiceNotices extends z.infer<typeof InvoiceNotices> {}

/** All kinds, in the order of lists and messages. The other rooms have a table with a row for each. */
export const Schedule = z.discriminatedUnion('kind', [Digest, Guard, Watch, InvoiceNotices]);
export type Schedule = z.infer<typeof Schedule>;
export type ScheduleKind = Schedule['kind'];
export const SCHEDULE_KINDS: readonly ScheduleKind[] = Schedule.options.map(({ shape }) => shape.kind.value);

type ByKind = { [K in ScheduleKind]: Extract<Schedule, { kind: K }> };
// An interface, so that a type with a generic kind stays readable for the type checker.
interface ScheduleByKind extends ByKind {}
export type ScheduleOf<K extends ScheduleKind> = ScheduleByKind[K];

/** A schedule that runs by the clock. */
export type TimedSchedule = Extract<Schedule, { cadence: Cadence }>;
export type TimedKind = TimedSchedule['kind'];

type Bookkeeping = Exclude<keyof z.infer<typeof Timed>, 'cadence' | 'zone' | 'account' | 'project'>;
/** The fields of a schedule by the clock that a person chooses. */
export type ChoicesOf<K extends TimedKind> = Omit<ScheduleOf<K>, Bookkeeping | 'noAnswer' | 'reported'>;
/** The choices of any kind. */
export type TimedChoices = { [K in TimedKind]: ChoicesOf<K> }[TimedKind];

/**
 * A channel and an account. An account's news may go to several channels, and a channel may get news of
 * several accounts.
 */
export interface FeedPlace {
  channel: string;
  account: string;
}

export function feedPlace({ channel, account }: FeedPlace): string {
  return `${channel} ${account}`;
}

type ScheduleKey<K extends ScheduleKind> = { kind: K; id: string };

/** The kind is part of the document's name, because ids are unique only within a kind. */
export function documentId({ kind, id }: ScheduleKey<ScheduleKind>): string {
  return `${kind} ${id}`;
}

function isOfKind<K extends ScheduleKind>(schedule: Schedule, kind: K): schedule is ScheduleOf<K> {
  return schedule.kind === kind;
}

/** Called after changes of schedules; lists alone need neither. */
interface ScheduleHooks {
  /** Reviews failures after a channel began or ceased to follow something. */
  reviewFailures(place: FeedPlace): Promise<void>;
  /** Shows a visible change of a channel's schedules. */
  showCard(channel: string): Promise<void>;
}

export function createSchedules(store: WorkspaceStore, hooks?: ScheduleHooks) {
  const collection = store.collection('schedules', Schedule);

  /** Reviews the failures that the channel shows, and its card. */
  async function tellChanged(before: Schedule | undefined, after: Schedule | undefined): Promise<void> {
    if (hooks === undefined) return;
    if (readShown(before) !== readShown(after))
      for (const channel of new Set([before, after].flatMap((one) => one?.channel ?? [])))
        await hooks.showCard(channel);
    if (readFollowed(before) === readFollowed(after)) return;
    const places = [before, after].flatMap((one): FeedPlace[] =>
      one?.account === undefined ? [] : [{ channel: one.channel, account: one.account }],
    );
    for (const [, place] of new Map(places.map((one) => [feedPlace(one), one])))
      await hooks.reviewFailures(place);
  }

  async function list<K extends ScheduleKind>(kind: K): Promise<ScheduleOf<K>[]> {
    const schedules = (await collection.list(`${kind} `)).map(({ doc }) => doc);
    return schedules
      .filter((schedule) => isOfKind(schedule, kind))
      .toSorted((one, other) => one.createdAt - other.createdAt);
  }

  return {
    async get<K extends ScheduleKind>(kind: K, id: string): Promise<ScheduleOf<K> | undefined> {
      const schedule = await collection.get(documentId({ kind, id }));
      return schedule !== undefined && isOfKind(schedule, kind) ? schedule : undefined;
    },
    list,
    async all(): Promise<Schedule[]> {
      const schedules = (await collection.list()).map(({ doc }) => doc);
      const order = (one: Schedule): number => SCHEDULE_KINDS.indexOf(one.kind);
      return schedules.toSorted((one, other) => order(one) - order(other) || one.createdAt - other.createdAt);
    },
    async countUnreadable(kind: ScheduleKind): Promise<number> {
      const unreadable = await store.unreadable(['schedules']);
      return unreadable.filter(({ id }) => id.startsWith(`${kind} `)).length;
    },
    async put(schedule: Schedule): Promise<void> {
      const before = await collection.get(documentId(schedule));
      await collection.put(documentId(schedule), schedule);
      await tellChanged(before, schedule);
    },
    /** Returns undefined if the schedule was removed. */
    async change<K extends ScheduleKind>(
      key: ScheduleKey<K>,
      change: (current: ScheduleOf<K>) => ScheduleOf<K>,
    ): Promise<ScheduleOf<K> | undefined> {
      let before: Schedule | undefined;
      const changed = await collection.update(documentId(key), (current) => {
        before = current;
        return current !== undefined && isOfKind(current, key.kind) ? change(current) : undefined;
      });
      await tellChanged(before, changed);
      return changed !== undefined && isOfKind(changed, key.kind) ? changed : undefined;
    },
    /** Returns false if the schedule was removed before. */
    async remove(key: ScheduleKey<ScheduleKind>): Promise<boolean> {
      const before = await collection.get(documentId(key));
      const isRemoved = await collection.delete(documentId(key));
      await tellChanged(before, undefined);
      return isRemoved;
    },
  };
}

/** Describes what a watch or guard follows, and whether it does now. Empty for other schedules. */
function readFollowed(schedule: Schedule | undefined): string {
  if (schedule?.kind !== 'watch' && schedule?.kind !== 'guard') return '';
  const { kind, id, channel, account, project, state } = schedule;
  const { server, pattern }: Partial<Watch> = schedule.kind === 'watch' ? schedule : {};
  return JSON.stringify([kind, id, channel, account, project, pattern, server, state.kind]);
}

/** Fields that the card of a channel does not show. */
const HIDDEN: ReadonlySet<string> = new Set([
  ...['requestId', 'createdBy', 'createdAt', 'activeSince', 'card'],
  ...['last', 'noAnswer', 'reported', 'mutedUntil'],
]);

/** The visible part of a schedule in the card of its channel. Empty for a private one. */
function readShown(schedule: Schedule | undefined): string {
  if (schedule === undefined || isPersonal(schedule)) return '';
  return JSON.stringify(schedule, (field, value: unknown) => (HIDDEN.has(field) ? undefined : value));
}

export function findNextTime(
  { state, cadence, zone, snoozedUntil = 0 }: TimedSchedule,
  now: number,
): number | undefined {
  if (state.kind !== 'active') return undefined;
  // An occurrence exactly at the end of the snooze takes place.
  return listNextTimes(cadence, zone, Math.max(now, snoozedUntil - 1), 1)[0];
}

/** True if the schedule posts nothing for now: paused or snoozed. */
export function isAsleep(schedule: Schedule): boolean {
  return (
    schedule.state.kind === 'paused' || (schedule.kind === 'digest' && schedule.snoozedUntil !== undefined)
  );
}

/** True for a watch of a person's own deployments, which is private. */
export function isPersonal(schedule: Schedule): boolean {
  return schedule.kind === 'watch' && schedule.person !== undefined;
}

type WatchSubject = Pick<Watch, 'project' | 'pattern' | 'server' | 'person'>;

/** True if two watches of a channel and account have the same subject. A channel has one watch of a subject. */
export function isSameSubject(one: WatchSubject, other: WatchSubject): boolean {
  const isSameServer = one.server?.identifier.toLowerCase() === other.server?.identifier.toLowerCase();
  const areSameProjects =
    isSameOrNone(one.project, other.project) && one.pattern?.toLowerCase() === other.pattern?.toLowerCase();
  return areSameProjects && isSameServer && one.person === other.person;
}

/** Lock, across replicas, for all changes of a workspace's schedules. */
export const SCHEDULES_LOCK = 'schedules';
