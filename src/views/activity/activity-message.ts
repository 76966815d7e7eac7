import type { Button } from '@slack/types';
import { z } from 'zod';
import type { KnownBlock, Message } from '../../core/message.ts';
import {
  capitalised,
  code,
  count,
  dateOnly,
  dateTime,
  mrkdwn,
  mrkdwnText,
  sanitize,
  takeStart,
  timeOnly,
} from '../../core/mrkdwn.ts';
import { ProjectRef } from '../../core/project-ref.ts';
import type { Pages } from '../../core/service-pages.ts';
import { DAY_MS, formatDay, MINUTE_MS } from '../../core/time/clock.ts';
import { countDays, type DigestRange, isServiceRange, Range } from '../../core/time/range.ts';
import type { CountedFigures } from '../../records/figures.ts';
import type { Coverage, KnownActivity } from '../../records/ledger.ts';
import type { RecoveryFigures } from '../../records/recoveries.ts';
import {
  type Activity,
  type ActivityEvent,
  type ActivityStats,
  countUnlisted,
} from '../../service/activity.ts';
import { dayName, roughly } from '../blocks/formats.ts';
import { listBlocks } from '../blocks/lists.ts';
import { button, buttons, context, header, notes, section } from '../blocks/make-blocks.ts';
import { projectLink, serverLink } from '../blocks/page-links.ts';
import { outcomeIcon, outcomeWords, percentage, rounded } from './chart.ts';

/** The request. A button carries it, so that a click works after a restart. */
export const ActivityAsk = z.object({
  account: z.string(),
  range: Range,
  stats: z.boolean(),
  project: ProjectRef.optional(),
  /** A server of the project. */
  server: z.object({ identifier: z.string(), name: z.string() }).optional(),
  /** Names of a person at the service. */
  people: z.array(z.string()).optional(),
  /** True for deployments that ended, without other events. */
  isHistory: z.boolean().optional(),
  /** True for failed deployments alone. */
  isFailed: z.boolean().optional(),
  /** True for the day before today. */
  isYesterday: z.boolean().optional(),
  /** From 0. */
  page: z.int().nonnegative(),
  /** IANA time zone of the days. */
  zone: z.string(),
});
export interface ActivityAsk extends z.infer<typeof ActivityAsk> {}

/** The reader: the person who asked, with buttons, or a channel. */
export type ActivityAudience = { kind: 'person'; isShared: boolean } | { kind: 'channel'; sharedBy: string };

const PAGE = 12;

interface ActivityParts {
  chart?: KnownBlock | undefined;
  recovery?: RecoveryFigures | undefined;
  /** Undefined for a message without links. */
  pages?: Pages | undefined;
}

/** One page of a range's feed by day. Figures and chart are above it if requested. */
export function activityMessage(
  query: ActivityAsk,
  activity: KnownActivity,
  audience: ActivityAudience,
  { chart, recovery, pages: addresses }: ActivityParts = {},
): Message {
  const { events } = activity;
  const pages = Math.max(1, Math.ceil(events.length / PAGE));
  const page = Math.min(query.page, pages - 1);
  const visible = events.slice(page * PAGE, (page + 1) * PAGE);
  const name = query.isYesterday ? 'yesterday' : rangeWords(query.range).name;
  const of = describeAsk(query);
  const { title, unit, nothing } = nameEvents(query);
  const none = activity.unread === undefined ? nothing : 'no event could be read';
  const what = events.length === 0 ? none : count(events.length, unit);
  return {
    text: `${title} of ${of}, ${name}: ${what}`,
    blocks: [
      header(`${title}, ${name}`),
      section(`${describeAsk(query, addresses)}: ${what}`),
      ...(query.stats ? drawFigures(query, activity, chart, recovery) : []),
      ...feedBlocks(visible, query.zone, (event) => projectName(event, query.account, addresses)),
      context(...listNotes(query, activity, { page, pages }, audience)),
      ...(audience.kind === 'person'
        ? drawActivityButtons({ ...query, page }, pages, audience.isShared)
        : []),
    ],
  };
}

function nameEvents({ isFailed, isHistory }: ActivityAsk) {
  if (isFailed)
    return { title: 'Failed deployments', unit: 'failed deployment', nothing: 'no deployment failed' };
  if (isHistory) return { title: 'Deployments', unit: 'deployment', nothing: 'nothing happened' };
  return { title: 'Activity', unit: 'event', nothing: 'nothing happened' };
}

/** "*web-1* of *Storefront* in `acme`", or "*Kim* in `acme`"; mrkdwn. */
function describeAsk({ account, project, server, people }: ActivityAsk, pages?: Pages): string {
  const [person] = people ?? [];
  if (person !== undefined || project === undefined)
    return subjectWords(account, person === undefined ? undefined : { name: person });
  const subject = subjectWords(account, project, pages);
  const place = { account, permalink: project.permalink };
  return server === undefined ? subject : `${serverLink(pages, place, server)} of ${subject}`;
}

/** "*Storefront* in `acme`", or the account alone; mrkdwn. @param pages for a link */
export function subjectWords(
  account: string,
  project: { name: string; permalink?: string | undefined } | undefined,
  pages?: Pages,
): string {
  return project === undefined
    ? code(account)
    : `${projectLink(pages, account, project)} in ${code(account)}`;
}

function drawFigures(
  query: ActivityAsk,
  activity: KnownActivity,
  chart: KnownBlock | undefined,
  recovery: RecoveryFigures | undefined,
): KnownBlock[] {
  const drawn = chart ? [chart] : [];
  // The service's own figures are those of the whole account, and of its own ranges.
  if (query.project !== undefined || query.people !== undefined || !isServiceRange(query.range))
    return [
      section(capitalised(outcomeWords(activity.events))),
      ...figureBlocks(activity.figures, rangeWords(query.range).compared),
      ...recoveryBlocks(recovery, rangeWords(query.range).compared),
      ...drawn,
    ];
  const unlisted = unlistedFailures(activity);
  const failures = unlisted ? [section(`:x: *${unlisted}*`)] : [];
  return [...statsBlocks(activity.stats, query.range), ...failures, ...drawn];
}

/** The recovery figures of one project; nothing if no channel follows it. */
export function recoveryBlocks(figures: RecoveryFigures | undefined, compared: string): KnownBlock[] {
  if (figures === undefined) return [];
  const note = figures.since === undefined && `Compared with ${compared}`;
  return [section(`*Recovery*  ${recoveryWords(figures)}`), ...(note ? [context(note)] : [])];
}

/** "3 outages ▲ 1 (1 still open), median time to recover 38 min ▼ 12 min, longest 2 h 5 min ▲ 1 h" */
export function recoveryWords({
  failures,
  open,
  medianMs,
  longestMs,
  before,
  since,
}: RecoveryFigures): string {
  const stillOpen = open === 0 ? '' : ` (${open} still open)`;
  const more = failures - (before?.failures ?? failures);
  const delta = more === 0 ? '' : ` ${change(more, '')}`;
  const time = (what: string, ms: number | undefined, earlier: number | undefined): string[] => {
    if (ms === undefined) return [];
    const change = earlier === undefined ? 0 : ms - earlier;
    const sign = change > 0 ? '▲' : '▼';
    return [
      `${what} ${roughly(ms)}${Math.abs(change) < MINUTE_MS ? '' : ` ${sign} ${roughly(Math.abs(change))}`}`,
    ];
  };
  const parts = [
    `${failures === 0 ? 'no outages' : count(failures, 'outage')}${delta}${stillOpen}`,
    ...time('median time to recover', medianMs, before?.medianMs),
    ...time('longest', longestMs, before?.longestMs),
  ];
  return `${parts.join(', ')}${since === undefined ? '' : ` (followed since ${dateOnly(since)})`}`;
}

/** @param nameProject mrkdwn for the project of an event */
export function feedBlocks(
  events: readonly ActivityEvent[],
  zone: string,
  nameProject: (event: ActivityEvent) => string,
): KnownBlock[] {
  const days = Map.groupBy(events, (event) => formatDay(zone, event.created_at));
  return [...days].flatMap(([day, ofDay]) => {
    const lines = [
      `*${dayName(day)}*`,
      ...ofDay.map((event) => eventLine(event, undefined, undefined, [nameProject(event)])),
    ];
    return listBlocks(lines);
  });
}

/** Maximum number of named servers; a count replaces the rest. */
const MAX_SERVERS = 5;

/**
 * One line for each event: outcome, time, project, event, revision, servers and person.
 * @param describePerson mrkdwn for a person's name at the service
 * @param where mrkdwn for the project; empty if the message is about one project
 */
export function eventLine(
  event: ActivityEvent,
  when: (at: string) => string = timeOnly,
  describePerson: (name: string) => string = (name) => mrkdwn(name, 30),
  where: readonly string[] = [projectName(event)],
): string {
  const [revision, author] = revisionWords(event, describePerson);
  const parts = [
    `${outcomeIcon(event.event)} ${when(event.created_at)}`,
    ...where,
    mrkdwn(event.event.replaceAll('_', ' '), 30),
  ];
  if (revision) parts.push(revision);
  const { servers } = event.properties;
  if (servers.length > MAX_SERVERS) parts.push(`on ${servers.length} servers`);
  else if (servers.length > 0) parts.push(`on ${servers.map((server) => mrkdwn(server, 24)).join(', ')}`);
  if (author) parts.push(author);
  parts.push(...rewindWords(event));
  return parts.join('  ');
}

/** ":rewind: back to `e9b5d9c`, live 7 October at 16:20 to 8 October at 09:09", if the revision was live before; mrkdwn. */
export function rewindWords(event: ActivityEvent): string[] {
  const { back } = event;
  if (back === undefined) return [];
  const [revision] = revisionWords(event, mrkdwn);
  return [`:rewind: back to ${revision}, live ${dateTime(back.from)} to ${dateTime(back.to)}`];
}

/** The Slack user who has claimed a name at the service, or else the name; mrkdwn. */
export function namePerson(name: string, findMentioned: (name: string) => string | undefined): string {
  const user = findMentioned(name);
  return user === undefined ? mrkdwn(name, 30) : `<@${user}>`;
}

/** "`4bcef3e`" and "by Grace Park"; each is empty if the event does not say. */
export function revisionWords(
  { properties: { end_ref: revision }, user }: ActivityEvent,
  describePerson: (name: string) => string,
): [revision: string, author: string] {
  return [revision ? code(takeStart(sanitize(revision), 7)) : '', user ? `by ${describePerson(user)}` : ''];
}

/** @param account with `pages`, for a link */
export function projectName({ project }: ActivityEvent, account = '', pages?: Pages): string {
  const name = project?.name || project?.permalink || 'no project';
  return projectLink(pages, account, { name, permalink: project?.permalink || undefined }, 40);
}

function listNotes(
  query: ActivityAsk,
  activity: Coverage,
  { page, pages }: { page: number; pages: number },
  audience: ActivityAudience,
): string[] {
  const notes = [mrkdwn(query.zone, 60)];
  if (pages > 1) notes.push(`page ${page + 1} of ${pages}`);
  notes.push(...coverageNotes(activity));
  if (audience.kind === 'channel') notes.push(`shared by <@${audience.sharedBy}>`);
  else if (audience.isShared) notes.push('shared with this channel');
  return notes;
}

function drawActivityButtons(query: ActivityAsk, pages: number, isShared: boolean): KnownBlock[] {
  const { page, stats } = query;
  const turn = (label: string, which: string, change: Partial<ActivityAsk>): Button =>
    button(label, `activity:page#${which}`, { value: { ...query, ...change } });
  return buttons(
    page > 0 && turn('Newer', 'newer', { page: page - 1 }),
    page < pages - 1 && turn('Older', 'older', { page: page + 1 }),
    turn(stats ? 'Hide figures' : 'Show figures', 'figures', { stats: !stats }),
    !isShared && button('Share to channel', 'activity:share', { value: query }),
  );
}

/** The name of a range, and the period that its deltas compare with (API 4.9, docs/service-api.md). */
const RANGE_WORDS = {
  since_last: { name: 'since the last digest', compared: 'the same length of time before' },
  today: { name: 'today', compared: 'the same part of yesterday' },
  last_7_days: { name: 'the last 7 days', compared: 'the 7 days before' },
  last_30_days: { name: 'the last 30 days', compared: 'the 30 days before' },
  this_week: { name: 'this week', compared: 'the same part of last week' },
} as const satisfies Record<DigestRange, { name: string; compared: string }>;

export function rangeWords(range: Range | DigestRange): { name: string; compared: string } {
  if (range === 'since_last' || isServiceRange(range)) return RANGE_WORDS[range];
  const days = count(countDays(range) ?? 0, 'day');
  return { name: `the last ${days}`, compared: `the ${days} before` };
}

/** Maximum number of named gaps. */
const MAX_GAPS = 3;

/** "counted since 1 October at 09:00", "not counted: 3 October at 02:00 to 05:00"; mrkdwn. */
export function coverageNotes({ since, gaps }: Coverage): string[] {
  const some = gaps.slice(-MAX_GAPS).map(({ from, to }) => {
    const isShort = to - from < DAY_MS / 2;
    return `not counted: ${dateTime(from)} to ${isShort ? timeOnly(to) : dateTime(to)}`;
  });
  const rest = gaps.length - some.length;
  return [
    ...(since === undefined ? [] : [`counted since ${dateTime(since)}`]),
    ...some,
    ...(rest > 0 ? [`and ${count(rest, 'earlier gap')}`] : []),
  ];
}

/**
 * The figures as tiles. Null (nothing to count or compare) is an em dash; a figure that the service leaves
 * out is "n/a". Neither is ever shown as 0.
 */
export function statsBlocks(
  stats: Partial<ActivityStats> | undefined,
  range: DigestRange,
  period = '',
): KnownBlock[] {
  if (stats === undefined || Object.values(stats).every((figure) => figure === undefined))
    return [context(':information_source: The service gave no figures that Deckhand can read.')];
  return [
    { type: 'section', fields: listTiles(stats).map(([label, value]) => mrkdwnText(`*${label}*\n${value}`)) },
    context(`Whole account${period}. Compared with ${RANGE_WORDS[range].compared}`),
  ];
}

/**
 * Figures that Deckhand counted: "▲ 4 deployments, success rate 83.3 % ▼ 2 points, against the 7 days before".
 * @param compared the period before
 * @param scope e.g. "Whole account"; mrkdwn
 */
export function figureBlocks(
  figures: CountedFigures | undefined,
  compared: string,
  scope?: string,
): KnownBlock[] {
  const { total_deployments_delta: more, success_rate: rate, success_rate_delta: by } = figures ?? {};
  const isCompared = more !== undefined && more !== null;
  const parts = [
    isCompared &&
      (more === 0
        ? 'as many deployments'
        : `${change(more, '')} ${Math.abs(more) === 1 ? 'deployment' : 'deployments'}`),
    typeof rate === 'number' && `success rate ${percentage(rate)}${by ? ` ${change(by, ' points')}` : ''}`,
    isCompared && (more === 0 && !by ? `as in ${compared}` : `against ${compared}`),
  ].filter((part) => part !== false);
  const words = parts.join(', ').replace('deployments, as', 'deployments as');
  return notes(capitalised([scope, words].filter(Boolean).join(': ')));
}

/**
 * "40 failed. The latest 100 events show 3 of them", if the figures imply failures that the account's whole
 * feed does not hold. Otherwise undefined.
 */
export function unlistedFailures(activity: Pick<Activity, 'events' | 'stats'>): string | undefined {
  const unlisted = countUnlisted(activity);
  if (unlisted === undefined) return undefined;
  const { failed, held } = unlisted;
  const amount = activity.events.length;
  const latest = amount === 1 ? 'latest event shows' : `latest ${amount} events show`;
  return `${failed === undefined ? 'Some' : rounded(failed)} failed. The ${latest} ${held || 'none'} of them`;
}

function listTiles(stats: Partial<ActivityStats>): Array<[label: string, value: string]> {
  const amount = figure(stats.total_deployments, rounded);
  const rate = figure(stats.success_rate, percentage);
  return [
    ['Deployments', compared(amount, stats.total_deployments_delta, '')],
    ['Success rate', compared(rate, stats.success_rate_delta, ' points')],
    // The service gives "0s" without deployments.
    [
      'Average duration',
      figure(stats.total_deployments === 0 ? null : stats.avg_duration, (time) => mrkdwn(time, 60)),
    ],
    ['Active servers now', figure(stats.active_servers, rounded)],
  ];
}

/** "90 %  ▲ 2 points". One sign is enough for a figure that is missing with its change. */
function compared(words: string, by: number | null | undefined, unit: string): string {
  const difference = figure(by, (value) => change(value, unit));
  return difference === words ? words : `${words}  ${difference}`;
}

/** A figure as text, or a sign for a missing one. */
function figure<T>(value: T | null | undefined, wordsOf: (value: T) => string): string {
  if (value === undefined) return 'n/a';
  return value === null ? '—' : wordsOf(value);
}

function change(value: number, unit: string): string {
  const amount = rounded(Math.abs(value));
  if (Number(amount) === 0) return 'no change';
  return `${value > 0 ? '▲' : '▼'} ${amount}${amount === '1' ? unit.replace(/s$/, '') : unit}`;
}
