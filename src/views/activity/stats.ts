import type { KnownBlock } from '../../core/message.ts';
import { count, mrkdwn, mrkdwnText } from '../../core/mrkdwn.ts';
import type { Activity, ActivityRange, ActivityStats } from '../../service/activity.ts';
import { context } from '../blocks/message.ts';
import { outcomeOf, percentage, rounded } from './chart.ts';

/** What a range is called, and what its deltas compare with (API 4.9, docs/service-api.md). */
export const RANGE_WORDS = {
  today: { name: 'today', compared: 'the same part of yesterday' },
  last_7_days: { name: 'the last 7 days', compared: 'the 7 days before' },
  last_30_days: { name: 'the last 30 days', compared: 'the 30 days before' },
  this_week: { name: 'this week', compared: 'the same part of last week' },
} as const satisfies Record<ActivityRange, { name: string; compared: string }>;

/**
 * The figures as tiles. Null means that there is nothing to count or compare, shown as an em dash; what the service
 * leaves out is "n/a". Neither is ever 0.
 */
export function statsBlocks(stats: ActivityStats | undefined, range: ActivityRange): KnownBlock[] {
  if (stats === undefined || Object.values(stats).every((figure) => figure === undefined))
    return [context(':information_source: No readable figures from the service.')];
  return [
    { type: 'section', fields: tilesOf(stats).map(([label, value]) => mrkdwnText(`*${label}*\n${value}`)) },
    context(`▲ ▼ against ${RANGE_WORDS[range].compared}`),
  ];
}

/**
 * "40 failed; the newest 100 events hold 3 of them", where the figures imply failures that the feed of the whole
 * account does not hold; undefined otherwise. A cancelled deployment may be what did not succeed.
 */
export function unlistedFailures({ events, stats }: Activity): string | undefined {
  const { success_rate: rate, total_deployments: total } = stats ?? {};
  if (typeof rate !== 'number' || rate >= 100) return undefined;
  const amountOf = (outcome: string): number =>
    events.filter(({ event }) => outcomeOf(event) === outcome).length;
  const held = amountOf('failed');
  const cancelled = amountOf('cancelled');
  const newest = events.length === 1 ? 'newest event holds' : `newest ${events.length} events hold`;
  const feed = `the ${newest} ${held === 0 ? 'none' : held} of them`;
  if (!total) return held + cancelled > 0 ? undefined : `Some failed; ${feed}`;
  const failed = Math.max(1, Math.round((total * (100 - rate)) / 100)) - cancelled;
  return failed > held ? `${rounded(failed)} failed; ${feed}` : undefined;
}

/** "Whole account: 22 deployments, 91 % succeeded", beside the figures of one project. */
export function accountWords(activity: Pick<Activity, 'stats'>, unlisted?: string): string {
  const { total_deployments: total, success_rate: rate } = activity.stats ?? {};
  const amount = typeof total === 'number' ? count(total, 'deployment') : 'no figures';
  const succeeded = typeof rate === 'number' ? `, ${percentage(rate)} succeeded` : '';
  return `Whole account: ${amount}${succeeded}.${unlisted === undefined ? '' : ` ${unlisted}.`}`;
}

/** True where the figures leave no room for a failure. */
export function sayNothingFailed({ stats }: Activity): boolean {
  const { success_rate: rate, total_deployments: total } = stats ?? {};
  return typeof rate === 'number' ? rate >= 100 : rate === null && total === 0;
}

function tilesOf(stats: ActivityStats): Array<[label: string, value: string]> {
  const amount = figure(stats.total_deployments, rounded);
  const rate = figure(stats.success_rate, percentage);
  return [
    ['Deployments', `${amount}  ${figure(stats.total_deployments_delta, (by) => change(by, ''))}`],
    ['Success rate', `${rate}  ${figure(stats.success_rate_delta, (by) => change(by, ' points'))}`],
    // The service gives "0s" then.
    [
      'Average duration',
      figure(stats.total_deployments === 0 ? null : stats.avg_duration, (time) => mrkdwn(time, 60)),
    ],
    ['Active servers now', figure(stats.active_servers, rounded)],
  ];
}

/** A figure in words, also where it is missing. */
function figure<T>(value: T | null | undefined, wordsOf: (value: T) => string): string {
  if (value === undefined) return 'n/a';
  return value === null ? '—' : wordsOf(value);
}

function change(value: number, unit: string): string {
  if (value === 0) return 'no change';
  return `${value > 0 ? '▲' : '▼'} ${rounded(Math.abs(value))}${unit}`;
}
