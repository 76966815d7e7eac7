import { code, count, mrkdwn, takeStart } from '../../core/mrkdwn.ts';
import { DAY_MS, formatDay } from '../../core/time/clock.ts';
import { safeUrl } from '../blocks/make-blocks.ts';
import { linkName } from '../blocks/page-links.ts';

/** Commits of a project that wait to be deployed. Foreign texts without secrets. */
export interface WaitingCommits {
  amount: number;
  /** True if more wait than the service counts. */
  isMore: boolean;
  /** Time of the oldest, milliseconds since the epoch; undefined if unknown. */
  oldest: number | undefined;
  /** The first ones that the service lists. */
  first: ReadonlyArray<{ ref: string; author: string; title: string; url: string }>;
}

/** "12 commits wait to be deployed, the oldest since Tuesday" */
export function waitingWords(
  { amount, isMore, oldest }: WaitingCommits,
  { zone, now }: { zone: string; now: number },
): string {
  const number = `${isMore ? 'At least ' : ''}${count(amount, 'commit')}`;
  const since = oldest === undefined ? '' : describeSince(oldest, zone, now);
  if (amount === 1 && !isMore) return `${number} waits to be deployed${since && `, ${since}`}`;
  return `${number} wait to be deployed${since && `, the oldest ${since}`}`;
}

/** "`d4fc766` Fix cart rounding by Ben Sommer", a line each, with the revision as a link to its page; mrkdwn. */
export function listWaiting({ first }: WaitingCommits): string[] {
  return first.map(({ ref, author, title, url }) =>
    [linkRevision(ref, url), title && mrkdwn(title, 120), author && `by ${mrkdwn(author, 60)}`]
      .filter(Boolean)
      .join(' '),
  );
}

/** Slack shows no code inside a link. */
function linkRevision(ref: string, url: string): string {
  const short = takeStart(ref, 7);
  return safeUrl(url) === undefined ? ref && code(short) : linkName(mrkdwn(short), url);
}

/** A weekday is clear for six days. */
const CLEAR_MS = 6 * DAY_MS;

/** "since today", "since Tuesday", "since 3 Oct" */
function describeSince(at: number, zone: string, now: number): string {
  if (formatDay(zone, at) === formatDay(zone, now)) return 'since today';
  const isClear = now - at < CLEAR_MS;
  const format: Intl.DateTimeFormatOptions = isClear
    ? { weekday: 'long' }
    : { day: 'numeric', month: 'short' };
  return `since ${new Intl.DateTimeFormat('en-GB', { ...format, timeZone: zone }).format(at)}`;
}
