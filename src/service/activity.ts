import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { isSameProject, type ProjectKey } from '../core/project-ref.ts';
import { daysBetween, formatDay, HOUR_MS, MINUTE_MS } from '../core/time/clock.ts';
import { type ActivityRange, countDays, MAX_DAYS, type Range } from '../core/time/range.ts';
import { type ListOptions, readRows, requestJson } from './call.ts';
import type { AccountClient } from './client.ts';
import {
  Identifier,
  listAt,
  NullableText,
  Numeric,
  OptionalText,
  orElse,
  StatedText,
  Timestamp,
  takeFirst,
} from './fields.ts';

/** Outcomes of a deployment. */
export const OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** API 6 (docs/service-api.md) names two event types without a complete list. Services send these too. */
const OUTCOMES_BY_EVENT: ReadonlyMap<string, Outcome> = new Map([
  ['deploy_completed', 'succeeded'],
  ['deploy_failed', 'failed'],
  ['deployment_failed', 'failed'],
  ['deploy_cancelled', 'cancelled'],
  ['deploy_canceled', 'cancelled'],
  ['deploy_aborted', 'cancelled'],
]);

/** Returns undefined for a running deployment and for any other event. */
export function readEventOutcome(event: string): Outcome | undefined {
  return OUTCOMES_BY_EVENT.get(event);
}

/** True for a failed deployment. The deployment that a failed check belongs to may have succeeded. */
export function isFailure(event: string): boolean {
  return readEventOutcome(event) === 'failed';
}

/** True for any event that the service calls failed, such as `deployment_check_failed`. */
export function isCalledFailed(event: string): boolean {
  return event.endsWith('_failed');
}

const EventProperties = orElse(
  z.object({ end_ref: NullableText, servers: z.unknown().optional().transform(readNames) }),
  { end_ref: null, servers: [] },
);

/** API 2.11 (docs/service-api.md). `event` may be any word. */
export const ActivityEvent = z.object({
  event: Identifier.transform((word) => word.toLowerCase()),
  properties: EventProperties,
  project: orElse(z.object({ name: OptionalText, permalink: OptionalText, identifier: OptionalText }), null),
  user: NullableText,
  created_at: Timestamp,
});
export interface ActivityEvent extends z.infer<typeof ActivityEvent> {
  /** The time of `created_at`, if somebody has read it. Milliseconds since the epoch. */
  at?: number;
  /** When its revision was live before, if Deckhand knows that. Milliseconds since the epoch. */
  back?: { from: number; to: number } | undefined;
}

const Figure = Numeric.nullish().catch(undefined);

/** API 2.12. Null: there is nothing to compare with. Undefined: the service gives no figure. Neither means 0. */
export const ActivityStats = z.object({
  total_deployments: Figure,
  total_deployments_delta: Figure,
  /** Percentage. */
  success_rate: Figure,
  /** Percentage points. */
  success_rate_delta: Figure,
  /** Text for people, e.g. `1m 12s`. */
  avg_duration: StatedText,
  active_servers: Figure,
});
export interface ActivityStats extends z.infer<typeof ActivityStats> {}

/** API 4.9 (docs/service-api.md): maximum number of events in the feed, for any range. Older ones are not read. */
export const MAX_EVENTS = 100;

/** Bare events, or events and statistics. */
const Answer = z.preprocess(
  (value) => ({
    events: takeFirst(isObject(value) ? listAt(value, 'events') : value, MAX_EVENTS),
    stats: isObject(value) ? value.stats : undefined,
  }),
  z.object({ events: z.array(z.unknown()), stats: ActivityStats.optional().catch(undefined) }),
);
export interface Activity {
  /** Most recent first, at most the latest 100. */
  events: readonly ActivityEvent[];
  /** Number of further events that could not be read. */
  unread?: number;
  /** Number of further events that repeat one. */
  repeated?: number;
  /** Undefined if they were not requested or not given. */
  stats: ActivityStats | undefined;
}

/**
 * Reads a hundred rows three times as fast as `ActivityEvent`. Compiled on first use, which takes some
 * milliseconds.
 */
let compiledEvent: typeof ActivityEvent | undefined;

/**
 * Reads the events of a range, each deployment once, and the statistics if requested. API 4.9.
 * @param range default: the last seven days
 * @param keepTwins true for a reader that compares pages
 */
export async function getActivity(
  account: AccountClient,
  {
    range,
    stats,
    keepTwins = false,
  }: { range?: ActivityRange | undefined; stats?: boolean | undefined; keepTwins?: boolean } = {},
  options?: ListOptions,
): Promise<Activity> {
  const query = { ...(range === undefined ? {} : { range }), ...(stats ? { include: 'stats' } : {}) };
  const operation = 'getActivity';
  const answer = await requestJson(account, Answer, { operation, path: ['activity'], query }, options);
  compiledEvent ??= z.compile(ActivityEvent);
  const readable = readRows(account, compiledEvent, answer.events, operation, options);
  const twins = keepTwins ? new Set() : findTwins(readable);
  const events = readable.filter((event) => !twins.has(event));
  const unread = answer.events.length - readable.length;
  return {
    events,
    ...(unread === 0 ? {} : { unread }),
    ...(twins.size === 0 ? {} : { repeated: twins.size }),
    stats: answer.stats,
  };
}

/** The service may report one deployment twice, moments apart. */
const TWIN_MS = 10_000;
const ENDED = /^deploy_completed$|_failed$/;

/**
 * Finds events that repeat another one of the page. After another outcome of the project, the same deployment
 * is a new one.
 * @param page the latest first
 */
export function findTwins(page: readonly ActivityEvent[]): Set<ActivityEvent> {
  const latest = new Map<string, { deployment: string; at: number }>();
  const ordered = page.toReversed().toSorted((one, other) => readEventTime(one) - readEventTime(other));
  return new Set(
    ordered.filter((event) => {
      if (!ENDED.test(event.event)) return false;
      const { user, properties } = event;
      const servers = new Set(properties.servers.map((name) => name.toLowerCase()));
      const id = identifyProject(event);
      const deployment = JSON.stringify([event.event, properties.end_ref, [...servers].toSorted(), user]);
      const before = latest.get(id);
      const at = readEventTime(event);
      latest.set(id, { deployment, at });
      return before?.deployment === deployment && at - before.at <= TWIN_MS;
    }),
  );
}

/** Key of the event's project; empty if it has none. It survives a rename if the event has an identifier. */
export function identifyProject({ project }: ActivityEvent): string {
  return project?.identifier || project?.permalink || project?.name || '';
}

/** The failed deployments of one project. */
export interface ProjectFailures {
  failed: number;
  /** The latest failure. */
  last: ActivityEvent;
  /** True if each failure was followed by a success on every server that it names. */
  isPassing: boolean;
}

/** Failed deployments by project, the project with the latest failure first. @param events the latest first */
export function groupFailures(events: readonly ActivityEvent[]): ProjectFailures[] {
  const groups = [...Map.groupBy(events, identifyProject).values()].flatMap(summarizeFailures);
  return groups.toSorted((one, other) => readEventTime(other.last) - readEventTime(one.last));
}

function summarizeFailures(events: readonly ActivityEvent[]): ProjectFailures[] {
  const failures = events.filter(({ event }) => isFailure(event));
  const [last] = failures;
  if (last === undefined) return [];
  const isPassing = failures.every((failure) => {
    const later = events.slice(0, events.indexOf(failure));
    const successes = later.filter(({ event }) => readEventOutcome(event) === 'succeeded');
    const passed = new Set(successes.flatMap(({ properties }) => properties.servers));
    const isEverywhere = successes.some(({ properties }) => properties.servers.length === 0);
    const { servers } = failure.properties;
    return successes.length > 0 && (isEverywhere || servers.every((server) => passed.has(server)));
  });
  return [{ failed: failures.length, last, isPassing }];
}

/** Milliseconds since the epoch. */
export function readEventTime({ at, created_at }: ActivityEvent): number {
  return at ?? Date.parse(created_at);
}

/** Maximum number of servers of an event. */
const MAX_SERVERS = 100;

/** Reads the first names of a list, or of a text such as "web-1, web-2". */
function readNames(value: unknown): string[] {
  const list: unknown = typeof value === 'string' ? value.split(',', MAX_SERVERS) : value;
  const items: unknown[] = Array.isArray(list) ? list.slice(0, MAX_SERVERS) : [list];
  return items
    .map((item) => (isObject(item) ? item.name : item))
    .flatMap((item) => (typeof item === 'string' && item.trim() !== '' ? [item.trim()] : []));
}

/** The events of a project. */
export function filterEvents(events: readonly ActivityEvent[], project: ProjectKey): ActivityEvent[] {
  return events.filter((event) => event.project !== null && isSameProject(event.project, project));
}

/**
 * The data of the chart of a range's events.
 * @param range or a time from which the days run
 * @param now milliseconds since the epoch
 */
export function countByDay(
  { range, zone }: { range: Range | number; zone: string },
  { events, since }: { events: readonly ActivityEvent[]; since: number | undefined },
  now: number,
): DeploymentsData {
  return { zone, bars: deploymentBars(events, { zone, range, now, isTruncated: since !== undefined }) };
}

/** True if the service cut the feed, so that older events are missing. */
export function isTruncated({ events, unread = 0, repeated = 0 }: Omit<Activity, 'stats'>): boolean {
  return events.length + unread + repeated >= MAX_EVENTS;
}

/** The data of a chart of deployments. */
export interface DeploymentsData {
  /** IANA zone in which days begin. */
  zone: string;
  /** Every day in order, including days without deployments. If older events are not known, the first may be incomplete. */
  bars: readonly DeploymentsBar[];
}

/** The deployments of a day. */
export interface DeploymentsBar extends Record<Outcome, number> {
  /** E.g. `2026-11-20`. */
  day: string;
}

/** Number of deployments, of one outcome or of all. */
export function countDeployments({ bars }: Pick<DeploymentsData, 'bars'>, outcome?: Outcome): number {
  const counted = outcome === undefined ? OUTCOMES : [outcome];
  const amounts = bars.flatMap((bar) => counted.map((each) => bar[each]));
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

interface Window {
  /** Or a time from which the days run, milliseconds since the epoch. */
  range: Range | number;
  /** IANA zone in which days begin. */
  zone: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** True if older events are not known. */
  isTruncated: boolean;
}

/**
 * Counts the deployments of a feed by outcome and day. Days run to today from the range's first, or from an
 * earlier one in the feed. For a cut feed they begin with its oldest event, because earlier days are unknown.
 * Today is always one day, even if the service's day began before the zone's.
 */
export function deploymentBars(
  events: readonly ActivityEvent[],
  { range, zone, now, isTruncated }: Window,
): DeploymentsBar[] {
  const today = formatDay(zone, findLatestTime(events, now));
  const first = typeof range === 'number' ? formatDay(zone, range) : firstDay(range, today);
  const readDay = createDayReader(zone);
  const bars = new Map<string, DeploymentsBar>();
  for (const event of events) {
    const day = range === 'today' ? today : readDay(readEventTime(event));
    const bar = bars.get(day) ?? createBar(day);
    bars.set(day, bar);
    const outcome = readEventOutcome(event.event);
    if (outcome !== undefined) bar[outcome] += 1;
  }
  const oldest = [...bars.keys()].toSorted()[0];
  const from = oldest !== undefined && (isTruncated || oldest < first) ? oldest : first;
  return daysBetween(from, today, MAX_DAYS).map((day) => bars.get(day) ?? createBar(day));
}

function createBar(day: string): DeploymentsBar {
  return { day, succeeded: 0, failed: 0, cancelled: 0 };
}

/** Zones differ by quarters of an hour, and `Intl` is slow. */
const QUARTER_MS = 15 * MINUTE_MS;

/** A day rarely begins in a block of so many quarters. */
const BLOCK = 16;

/** Reads the days of many instants in a zone. */
function createDayReader(zone: string): (at: number) => string {
  const days = new Map<number, string>();
  function readQuarter(quarter: number): string {
    const day = days.get(quarter) ?? formatDay(zone, quarter * QUARTER_MS);
    days.set(quarter, day);
    return day;
  }
  return (at) => {
    const quarter = Math.floor(at / QUARTER_MS);
    const begin = Math.floor(quarter / BLOCK) * BLOCK;
    const day = readQuarter(begin);
    return day === readQuarter(begin + BLOCK - 1) ? day : readQuarter(quarter);
  };
}

/** If the service's clock is ahead, it has events of a day that has not begun here. */
function findLatestTime(events: readonly ActivityEvent[], now: number): number {
  let latest = now;
  for (const event of events) {
    const at = readEventTime(event);
    if (at > latest && at <= now + HOUR_MS) latest = at;
  }
  return latest;
}

function firstDay(range: Range, today: string): string {
  const date = new Date(today);
  const sinceMonday = (date.getUTCDay() + 6) % 7;
  date.setUTCDate(date.getUTCDate() - ((countDays(range) ?? sinceMonday + 1) - 1));
  return date.toISOString().slice(0, 10);
}

export function countOutcome(events: readonly ActivityEvent[], outcome: Outcome): number {
  return events.filter(({ event }) => readEventOutcome(event) === outcome).length;
}

/** True if the figures exclude a failure. */
export function excludeFailures({ stats }: Pick<Activity, 'stats'>): boolean {
  const { success_rate: rate, total_deployments: total } = stats ?? {};
  return typeof rate === 'number' ? rate >= 100 : rate === null && total === 0;
}

/**
 * The failures that the figures imply, and how many of them the account's whole feed holds. Undefined if it
 * holds all. `failed` is undefined without a total. A cancelled deployment may be the one that did not
 * succeed.
 */
export function countUnlisted({
  events,
  stats,
}: Pick<Activity, 'events' | 'stats'>): { failed: number | undefined; held: number } | undefined {
  const { success_rate: rate, total_deployments: total } = stats ?? {};
  if (typeof rate !== 'number' || rate >= 100) return undefined;
  const held = countOutcome(events, 'failed');
  const cancelled = countOutcome(events, 'cancelled');
  if (!total) return held + cancelled > 0 ? undefined : { failed: undefined, held };
  const failed = Math.max(1, Math.round((total * (100 - rate)) / 100)) - cancelled;
  return failed > held ? { failed, held } : undefined;
}
