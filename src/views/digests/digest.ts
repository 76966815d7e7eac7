import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import {
  capitalised,
  code,
  count,
  dateTime,
  joinLinesWithin,
  mrkdwn,
  truncateMarkup,
} from '../../core/mrkdwn.ts';
import { ACTIVITY_RANGES } from '../../core/time/range.ts';
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
  rangeWords,
  recoveryBlocks,
  statsBlocks,
  subjectWords,
} from '../activity/activity.ts';
import { type Charts, percentage, totalWords, withCharts } from '../activity/chart.ts';
import { zoneName } from '../blocks/formats.ts';
import { type Choice, checkboxesInput, searchInput, selectInput } from '../blocks/inputs.ts';
import { inPages, skippedWords } from '../blocks/lists.ts';
import { button, buttons, context, header, LIMITS, notes, section } from '../blocks/message.ts';
import { accountInput, type TimedForm, timedModal, timeInputs } from '../schedules/timed.ts';

/** The report of one account in a digest. `said` is escaped mrkdwn: why there is nothing to show. */
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
    }
  | { kind: 'failed'; account: string; reason: string };

export type ReportedAccount = Extract<AccountReport, { kind: 'reported' }>;

export interface DigestFrame {
  digest: Digest;
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
  const summary = joinLinesWithin(summaries, 1000).replaceAll('\n', '; ');
  return {
    text: truncateMarkup(
      `${late.join('')} Deployment digest, ${range}. ${summary}`.trim(),
      LIMITS.messageText,
    ),
    blocks: [
      header(`Deployment digest, ${range}`),
      ...late.map((text) => context(text)),
      ...inFull.flatMap((report) => reportBlocks(report, digest, inFull.length, charts)),
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
  if (digest.project !== undefined || typeof total !== 'number') return `${name}: ${totalWords(report.data)}`;
  const succeeded = typeof rate === 'number' ? `, ${percentage(rate)} succeeded` : '';
  return `${name}: ${count(total, 'deployment')}${succeeded}`;
}

function reportBlocks(report: AccountReport, digest: Digest, amount: number, charts: Charts): KnownBlock[] {
  if (report.kind === 'failed') return [section(`${code(report.account)}  :warning: ${report.reason}`)];
  const { project, range } = digest;
  const chart = charts.get(report.account);
  const name = subjectWords(report.account, digest.project);
  return [
    section(project === undefined ? name : `${name}: ${totalWords(report.data)}`),
    ...(project === undefined ? statsBlocks(report.activity.stats, range) : []),
    ...recoveryBlocks(report.recovery, range),
    ...drawFailures(report, FAILURES_ROOM / amount),
    ...(chart ? [chart] : []),
    ...notes(...coverageNotes(report.activity)),
  ];
}

/** Failed deployments of the range, by project. The thread lists each of them. */
function drawFailures({ activity, data, unlisted }: ReportedAccount, room: number): KnownBlock[] {
  const groups = groupFailures(activity.events);
  if (groups.length === 0 && unlisted !== undefined) return [section(`:x: *${unlisted}*`)];
  if (groups.length === 0) return [context(noFailures(activity, data))];
  const amount = groups.reduce((sum, { failed }) => sum + failed, 0);
  const title = `*${unlisted ?? count(amount, 'failed deployment')}*`;
  const lines = groups.map(failuresLine);
  return [section(`${title}\n${joinLinesWithin(lines, room, 'more projects')}`)];
}

/** "Billing API: 8 failed, last by Grace Park, passing again" */
function failuresLine({ failed, last, isPassing }: ProjectFailures): string {
  const name = last.project?.name || last.project?.permalink;
  const icon = isPassing ? ':large_green_circle:' : ':x:';
  const author = last.user === null ? '' : `, last by ${mrkdwn(last.user, 30)}`;
  const where = name ? mrkdwn(name, 60) : 'No project';
  return `${icon} ${where}: ${failed} failed${author}${isPassing ? ', passing again' : ''}`;
}

function noFailures(activity: KnownActivity, data: DeploymentsData): string {
  const { stats, since, gaps, unread } = activity;
  const isWhole = since === undefined && gaps.length === 0 && unread === undefined;
  const isQuiet = countDeployments(data) === 0 && !(stats?.total_deployments ?? 0);
  if (isQuiet) return ':zzz: No deployments in this period.';
  if (isWhole || excludeFailures(activity)) return ':white_check_mark: No failed deployments.';
  return ':information_source: No failed deployments in the events we can see.';
}

/** A change that a person made with a button of the digest's message. */
export interface FooterChange {
  /** E.g. "snoozed until 9 March by <@U1>"; mrkdwn. */
  text: string;
  isAsleep: boolean;
}

/** The last two blocks of the message; for a preview only one. */
function drawFooter({ digest, next, isPreview }: DigestFrame, change?: FooterChange): KnownBlock[] {
  const notes = context(
    `Set up by <@${digest.createdBy}>`,
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
  { zone, project }: { zone: string; project?: { name: string } | undefined },
): Message[] {
  return reports.flatMap((report) => {
    if (report.kind === 'failed' || report.activity.events.length === 0) return [];
    const { events } = report.activity;
    const of = subjectWords(report.account, project);
    const title = `${count(events.length, 'event')} of ${of}`;
    const blocks = [section(`*Events*  ${title}`), ...feedBlocks(events, zone)];
    const pages = inPages(blocks, { most: MAX_BLOCKS, room: MAX_CHARACTERS }, measureBlock);
    return pages.slice(0, MAX_REPLIES).map((blocks, at): Message => {
      const isTruncated = at === MAX_REPLIES - 1 && pages.length > MAX_REPLIES;
      return { text: title, blocks: isTruncated ? [...blocks, section('_and more, earlier_')] : blocks };
    });
  });
}

function measureBlock(block: KnownBlock): number {
  return JSON.stringify(block).length;
}

const RANGES = ACTIVITY_RANGES.map((value): Choice => ({ value, text: capitalised(rangeWords(value).name) }));
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
