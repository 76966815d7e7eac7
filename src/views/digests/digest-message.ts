import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import {
  capitalised,
  code,
  count,
  dateTime,
  joinFirst,
  joinLinesWithin,
  mrkdwn,
  toSentence,
  truncateMarkup,
} from '../../core/mrkdwn.ts';
import { findProjectPage, type Pages } from '../../core/service-pages.ts';
import { DIGEST_RANGES } from '../../core/time/range.ts';
import type { Subject } from '../../records/episodes.ts';
import type { KnownActivity } from '../../records/ledger.ts';
import type { RecoveryFigures } from '../../records/recoveries.ts';
import type { Digest } from '../../records/schedules.ts';
import {
  countDeployments,
  type DeploymentsData,
  excludeFailures,
  groupFailures,
  type ProjectFailures,
} from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import {
  coverageNotes,
  feedBlocks,
  figureBlocks,
  projectName,
  rangeWords,
  recoveryBlocks,
  statsBlocks,
  subjectWords,
} from '../activity/activity-message.ts';
import { type Charts, percentage, totalWords, withCharts } from '../activity/chart.ts';
import { roughly, zoneName } from '../blocks/formats.ts';
import { type Choice, checkboxesInput, searchInput, selectInput } from '../blocks/inputs.ts';
import { inPages, skippedWords } from '../blocks/lists.ts';
import { button, buttons, context, header, LIMITS, notes, section } from '../blocks/make-blocks.ts';
import { linkName } from '../blocks/page-links.ts';
import { accountInput, type TimedForm, timedModal, timeInputs } from '../schedules/timed-modal.ts';

/** Something that fails when the digest is read. Foreign text. */
export interface StillFailing {
  kind: Subject['kind'];
  /** Its key at the service. */
  project: string;
  name: string;
  permalink: string | undefined;
  /** Servers, or other parts of the project. */
  titles: readonly string[];
  /** Milliseconds since the epoch. */
  since: number;
  reason?: string | undefined;
  /** The person who is on it. */
  owner?: string | undefined;
}

/** The report of one account in a digest. `reason` is escaped mrkdwn: why there is nothing to show. */
export type AccountReport =
  | {
      kind: 'reported';
      account: string;
      activity: KnownActivity;
      data: DeploymentsData;
      /** Text about failures of the whole account that its feed does not hold. */
      unlisted?: string | undefined;
      /** Figures of the digest's project, if a channel follows it. */
      recovery?: RecoveryFigures | undefined;
      skipped?: readonly SkippedRows[];
      /** The latest first. */
      failing?: readonly StillFailing[];
      /** Commits of its project that wait to be deployed, in words. */
      waiting?: string | undefined;
      /** Beginning of a digest of the range `since_last`, milliseconds since the epoch. */
      from?: number | undefined;
    }
  | { kind: 'failed'; account: string; reason: string };

export type ReportedAccount = Extract<AccountReport, { kind: 'reported' }>;

export interface DigestFrame {
  digest: Digest;
  /** Undefined for a message without links. */
  pages?: Pages | undefined;
  /** Due time of a late digest, milliseconds since the epoch. */
  lateSince?: number | undefined;
  /** Milliseconds since the epoch. */
  next?: number | undefined;
  /** True for a preview: one person sees it, and it has no buttons. */
  isPreview?: boolean | undefined;
}

/** Maximum number of accounts with all figures, because Slack takes about 13,000 characters a message. */
const MAX_IN_FULL = 4;
/** Maximum number of characters for all accounts' failures together. */
const FAILURES_ROOM = 2400;

/** The root message, with figures, failures and a chart for each account. */
export function digestMessage(frame: DigestFrame, reports: readonly AccountReport[]): Message {
  const data = reports.flatMap((report) =>
    report.kind === 'reported' ? [[report.account, report.data] as const] : [],
  );
  return withCharts(new Map(data), (charts) => drawDigest(frame, reports, charts));
}

function drawDigest(frame: DigestFrame, reports: readonly AccountReport[], charts: Charts): Message {
  const { digest, lateSince } = frame;
  const range = rangeWords(digest.range).name;
  const inFull = reports.slice(0, MAX_IN_FULL);
  const skipped = reports.flatMap((report) => (report.kind === 'reported' ? (report.skipped ?? []) : []));
  const late = lateSince === undefined ? [] : [`:hourglass: Late: this was due ${dateTime(lateSince)}.`];
  const summaries = reports.map((report) => describeReport(report, digest));
  const rest = summaries.slice(MAX_IN_FULL);
  const lines = [...late, joinLinesWithin(summaries, 1000)];
  return {
    text: truncateMarkup(`Deployment digest, ${range}\n${lines.join('\n')}`, LIMITS.messageText),
    blocks: [
      header(`Deployment digest, ${range}`),
      ...late.map((text) => context(text)),
      ...inFull.flatMap((report) => reportBlocks(report, frame, inFull.length, charts)),
      ...(rest.length === 0 ? [] : [section(joinLinesWithin(rest, 1500, 'more accounts'))]),
      ...notes(skippedWords(skipped)),
      ...drawFooter(frame),
    ],
  };
}

/** "acme: 14 deployments, 92.9 % succeeded" */
function describeReport(report: AccountReport, digest: Digest): string {
  if (report.kind === 'failed') return `${code(report.account)}: ${report.reason}`;
  const name = subjectWords(report.account, digest.project);
  const { total_deployments: total, success_rate: rate } = report.activity.stats ?? {};
  const waiting = report.waiting === undefined ? '' : `. ${report.waiting}`;
  if (isQuiet(report.activity, report.data)) return `${name}: no deployments in this period${waiting}`;
  if (digest.project !== undefined || typeof total !== 'number')
    return `${name}: ${totalWords(report.data)}${waiting}`;
  const succeeded = typeof rate === 'number' ? `, ${percentage(rate)} succeeded` : '';
  return `${name}: ${count(total, 'deployment')}${succeeded}`;
}

function reportBlocks(
  report: AccountReport,
  { digest, pages }: DigestFrame,
  amount: number,
  charts: Charts,
): KnownBlock[] {
  if (report.kind === 'failed') return [section(`${code(report.account)}  :warning: ${report.reason}`)];
  const { project } = digest;
  const chart = charts.get(report.account);
  const name = subjectWords(report.account, project, pages);
  const { compared } = rangeWords(digest.range);
  const isOwn = project === undefined && digest.range !== 'since_last';
  return [
    section(isOwn ? name : `${name}: ${totalWords(report.data)}`),
    ...drawFigures(report, digest),
    ...recoveryBlocks(report.recovery, compared),
    ...drawFailures(report, FAILURES_ROOM / amount, pages, isOwn),
    ...drawOutages(report, FAILURES_ROOM / amount, pages),
    ...drawStillFailing(report, FAILURES_ROOM / amount, pages),
    ...(report.waiting === undefined ? [] : [section(`:package: ${report.waiting}.`)]),
    ...(chart ? [chart] : []),
    ...notes(...coverageNotes(report.activity)),
  ];
}

function drawFigures({ activity, from }: ReportedAccount, { project, range }: Digest): KnownBlock[] {
  if (project === undefined && range !== 'since_last') return statsBlocks(activity.stats, range);
  if (project === undefined)
    return statsBlocks(activity.figures, range, from === undefined ? '' : ` since ${dateTime(from)}`);
  const scope = from === undefined ? undefined : `Since ${dateTime(from)}`;
  return figureBlocks(activity.figures, rangeWords(range).compared, scope);
}

/**
 * Failed deployments of the range, by project. The thread lists each of them.
 * @param isOwn true if the title does not say how many deployments there were
 */
function drawFailures(
  { account, activity, data, unlisted }: ReportedAccount,
  room: number,
  pages: Pages | undefined,
  isOwn: boolean,
): KnownBlock[] {
  const groups = groupFailures(activity.events);
  if (groups.length === 0 && unlisted !== undefined) return [section(`:x: *${unlisted}*`)];
  if (groups.length === 0 && isQuiet(activity, data)) return notes(isOwn && NO_DEPLOYMENTS);
  if (groups.length === 0) return [context(noFailures(activity))];
  const amount = groups.reduce((sum, { failed }) => sum + failed, 0);
  const title = `*${unlisted ?? count(amount, 'failed deployment')}*`;
  const lines = groups.map((group) => failuresLine(group, account, pages));
  return [section(`${title}\n${joinLinesWithin(lines, room, 'more projects')}`)];
}

/** "Storefront: web-1 was unreachable for 3 h 4 min, until 14:02: No route to host. @ana was on it." */
function drawOutages(
  { account, activity: { outages = [] } }: ReportedAccount,
  room: number,
  pages: Pages | undefined,
): KnownBlock[] {
  if (outages.length === 0) return [];
  const lines = outages.toReversed().map(({ name, permalink, titles, since, endedAt, reason, owner }) => {
    const where = linkName(mrkdwn(name, 60), findProjectPage(pages, { account, permalink }));
    const was = `${nameParts(titles)} ${titles.length === 1 ? 'was' : 'were'} unreachable`;
    const why = reason === undefined ? '' : `: ${mrkdwn(reason, 150)}`;
    const who = owner === undefined ? '' : ` <@${owner}> was on it.`;
    const time = `for ${roughly(endedAt - since)}, until ${dateTime(endedAt)}`;
    return `:large_green_circle: ${where}: ${toSentence(`${was} ${time}${why}`)}${who}`;
  });
  return [
    section(`*${count(outages.length, 'outage')}*\n${joinLinesWithin(lines, room, 'earlier outages')}`),
  ];
}

function drawStillFailing(
  { account, failing = [] }: ReportedAccount,
  room: number,
  pages: Pages | undefined,
): KnownBlock[] {
  if (failing.length === 0) return [];
  const lines = failing.map(({ kind, name, permalink, titles, since, reason, owner }) => {
    const to = titles.length === 0 ? '' : ` to ${nameParts(titles)}`;
    const what =
      kind === 'deployments'
        ? `deployments${to} have been failing`
        : `${nameParts(titles)} ${titles.length === 1 ? 'is' : 'are'} unreachable`;
    const why = reason === undefined ? '' : `: ${mrkdwn(reason, 150)}`;
    const who = owner === undefined ? '' : ` <@${owner}> is on it.`;
    const where = linkName(mrkdwn(name, 60), findProjectPage(pages, { account, permalink }));
    return `:rotating_light: ${where}: ${toSentence(`${what} since ${dateTime(since)}${why}`)}${who}`;
  });
  return [section(`*Still failing*\n${joinLinesWithin(lines, room, 'more')}`)];
}

function nameParts(titles: readonly string[]): string {
  return joinFirst(titles.map((title) => mrkdwn(title === 'Repository' ? 'the repository' : title, 40)));
}

/** "Billing API: 8 failed, last by Grace Park, passing again", "Storefront: 1 failed, by Kim" */
function failuresLine(
  { failed, last, isPassing }: ProjectFailures,
  account: string,
  pages: Pages | undefined,
): string {
  const { name, permalink } = last.project ?? {};
  const icon = isPassing ? ':large_green_circle:' : ':x:';
  const author = last.user === null ? '' : `, ${failed === 1 ? 'by' : 'last by'} ${mrkdwn(last.user, 30)}`;
  const page = findProjectPage(pages, { account, permalink: permalink || undefined });
  const where = name || permalink ? linkName(mrkdwn(name || permalink, 60), page) : 'No project';
  return `${icon} ${where}: ${failed} failed${author}${isPassing ? ', passing again' : ''}`;
}

const NO_DEPLOYMENTS = ':zzz: No deployments in this period.';

function isQuiet({ stats }: KnownActivity, data: DeploymentsData): boolean {
  return countDeployments(data) === 0 && !(stats?.total_deployments ?? 0);
}

/** True if no event of the range is missing or unreadable. */
export function isWhole({ since, gaps, unread }: KnownActivity): boolean {
  return since === undefined && gaps.length === 0 && unread === undefined;
}

function noFailures(activity: KnownActivity): string {
  if (isWhole(activity) || excludeFailures(activity)) return ':white_check_mark: No failed deployments.';
  return ':information_source: No failed deployments in the events we can see.';
}

/** A change that a person made with a button of the digest's message. */
export interface FooterChange {
  /** E.g. "snoozed until 9 March by <@U1>"; mrkdwn. */
  text: string;
  isAsleep: boolean;
}

/** The last two blocks of the message; for a preview only one. Names no person, because each digest would notify them. */
function drawFooter({ digest, next, isPreview }: DigestFrame, change?: FooterChange): KnownBlock[] {
  const notes = context(
    zoneName(digest.zone),
    next !== undefined && `next ${dateTime(next)}`,
    change?.text,
    isPreview && 'preview',
  );
  if (isPreview) return [notes];
  const value = { id: digest.id };
  const changes = change?.isAsleep
    ? [button('Resume', 'digest:resume', { value })]
    : [button('Snooze a week', 'digest:snooze', { value }), button('Pause', 'digest:pause', { value })];
  return [notes, ...buttons(...changes, button('Preview', 'digest:preview', { value }))];
}

/** Updates a posted digest after a person used a button; undefined for any other message. */
export function withFooterChange(
  { text, blocks }: Message,
  frame: DigestFrame,
  change: FooterChange,
): Message | undefined {
  if (blocks[0]?.type !== 'header') return undefined;
  return { text, blocks: [...blocks.slice(0, -2).map(sendable), ...drawFooter(frame, change)] };
}

/** Slack returns charts with fields that it does not accept. */
function sendable(block: KnownBlock): KnownBlock {
  if (block.type !== 'data_visualization') return block;
  return { type: block.type, title: block.title, chart: block.chart };
}

/** Slack refuses messages whose blocks hold much over 13,000 characters. */
const MAX_CHARACTERS = 9_000;
const MAX_BLOCKS = 40;
const MAX_REPLIES = 4;

/** Thread replies with the events of each account, by day. Cuts what exceeds a few replies, and adds a note. */
export function threadMessages(
  reports: readonly AccountReport[],
  { digest: { zone, project }, pages }: Pick<DigestFrame, 'digest' | 'pages'>,
): Message[] {
  return reports.flatMap((report) => {
    if (report.kind === 'failed' || report.activity.events.length === 0) return [];
    const {
      account,
      activity: { events },
    } = report;
    const title = `${count(events.length, 'event')} of ${subjectWords(account, project, pages)}`;
    const drawn = feedBlocks(events, zone, (event) => projectName(event, account, pages));
    const blocks = [section(title), ...drawn];
    const limits = { most: MAX_BLOCKS, room: MAX_CHARACTERS };
    const parts = inPages(blocks, limits, (block) => JSON.stringify(block).length);
    return parts.slice(0, MAX_REPLIES).map((blocks, at): Message => {
      const isTruncated = at === MAX_REPLIES - 1 && parts.length > MAX_REPLIES;
      return { text: title, blocks: isTruncated ? [...blocks, section('_and more, earlier_')] : blocks };
    });
  });
}

const RANGES = DIGEST_RANGES.map((value): Choice => ({ value, text: capitalised(rangeWords(value).name) }));
const SKIP_QUIET: readonly Choice[] = [
  { value: 'skip_quiet', text: 'Skip it when there were no deployments' },
];

export function digestModal(form: TimedForm): ModalView {
  return timedModal('digest', form, [
    ...timeInputs(form),
    selectInput('range', 'What it covers', {
      hint: 'Figures are compared with the period before.',
      choices: RANGES,
    }),
    ...accountInput(form, 'Only one account', {
      hint: 'Leave it empty to cover every connected account.',
      optional: true,
    }),
    searchInput('project', 'Only one project', {
      placeholder: 'All projects, or search one',
      optional: true,
    }),
    checkboxesInput('skip_quiet', 'Quiet times', { optional: true, choices: SKIP_QUIET }),
  ]);
}
