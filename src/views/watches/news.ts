import type { Message } from '../../core/message.ts';
import { code, count, dateTime, firstOf, mrkdwn, truncate } from '../../core/mrkdwn.ts';
import type { KeptLine } from '../../records/feeds.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { eventLine, revisionWords } from '../activity/activity.ts';
import { LIMITS } from '../blocks/limits.ts';
import { inPages, packed, skippedWords, UNREAD } from '../blocks/lists.ts';
import { context, section } from '../blocks/message.ts';
import { muteButtons } from '../episodes/episode.ts';

/** A piece of news in words. */
export type NewsLine = Pick<KeptLine, 'kind' | 'line'>;

export interface WatchedNews {
  account: string;
  /** Oldest first. */
  lines: readonly NewsLine[];
  /** True where there were so many events that some may be missing. */
  isTruncated: boolean;
  /** Of the feed, where the channel does not know it yet. */
  skipped?: readonly SkippedRows[];
  /** Set where they were kept until working hours: how many older ones there was no room for. */
  kept?: { dropped: number } | undefined;
  /** The slash word. */
  word: string;
  /** True in the direct messages of a person who watches their own deployments. */
  isOwn?: boolean;
}

/** More than these at once become one message whose thread holds them. */
const MAX_AT_ONCE = 10;
/** Slack refuses messages whose blocks hold much over 13,000 characters. */
const MAX_SECTIONS = 3;
const MAX_NAMED = 6;

/** One message for all that is new, with its thread where that is much. */
export function watchMessages(found: WatchedNews): { root: Message; replies: Message[] } {
  const lines = found.lines.map(({ line }) => line);
  const texts = packed(lines);
  const isMuch = lines.length > MAX_AT_ONCE || texts.length > MAX_SECTIONS;
  const isBrief = isMuch || found.kept !== undefined || lines.length === 0;
  const summary = summaryOf(found);
  const shown = isMuch
    ? [`${summary}. The thread has them.`]
    : [...(found.kept && lines.length > 0 ? [`${summary}.`] : []), ...texts];
  return {
    root: {
      text: truncate(isBrief ? headline(found) : lines.join('\n'), LIMITS.messageText),
      blocks: [
        ...shown.map((text) => section(text)),
        ...(found.isTruncated ? [section(cutWords(found))] : []),
        context(
          found.skipped?.length ? skippedWords(found.skipped) : undefined,
          `Activity of ${code(found.account)}`,
        ),
        ...(found.isOwn ? muteButtons(found.account) : []),
      ],
    },
    replies: isMuch
      ? inPages(texts, { most: MAX_SECTIONS }).map((page) => sectionsOf(headline(found), page))
      : [],
  };
}

function sectionsOf(text: string, texts: readonly string[]): Message {
  return { text, blocks: texts.map((each) => section(each)) };
}

/** "3 events"; for lists. */
export function newsCount({ lines, isTruncated }: Pick<WatchedNews, 'lines' | 'isTruncated'>): string {
  if (lines.length === 0 && !isTruncated) return UNREAD;
  return `${count(lines.length, 'event')}${isTruncated ? ', some may be missing' : ''}`;
}

/**
 * @param mentioned the Slack user who has claimed a name at the service
 * @returns `words`: "`4bcef3e` by Grace Park"
 * @param where none in the message of a project's own episode
 */
export function newsLine(
  event: ActivityEvent,
  mentioned: (name: string) => string | undefined,
  where?: readonly [],
): NewsLine & { words: string } {
  const who = (name: string): string => {
    const user = mentioned(name);
    return user === undefined ? mrkdwn(name, 30) : `<@${user}>`;
  };
  const words = revisionWords(event, who).filter(Boolean).join(' ');
  return { kind: event.event, line: eventLine(event, dateTime, who, where), words };
}

/** "12 events in `acme`: 10 deploy completed, 2 deploy failed" */
function summaryOf(found: WatchedNews): string {
  const { kept, lines } = found;
  const said = `${count(lines.length, 'event')}${kept ? ' outside working hours' : ''} in ${code(found.account)}: ${kindsOf(lines)}`;
  const dropped = kept && kept.dropped > 0 ? `, and ${count(kept.dropped, 'older one')}` : '';
  return `${kept ? ':sunrise:' : ':newspaper:'} ${said}${dropped}`;
}

function headline({ lines, isTruncated, skipped, account }: WatchedNews): string {
  const of = code(account);
  if (lines.length === 0 && !isTruncated && skipped?.length)
    return `Activity of ${of} that could not be read`;
  return `${count(lines.length, 'event')} in ${of}${isTruncated ? ', and some may be missing' : ''}`;
}

/** "12 deploy completed, 3 deploy failed" */
function kindsOf(lines: readonly NewsLine[]): string {
  const groups = [...Map.groupBy(lines, ({ kind }) => kind)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  );
  const named = groups.map(([kind, { length }]) => `${length} ${mrkdwn(kind.replaceAll('_', ' '), 40)}`);
  return firstOf(named, MAX_NAMED, 'more kinds');
}

function cutWords({ word }: WatchedNews): string {
  const all = code(`${word} activity 30d`);
  return `:warning: More happened than the service lists at once, so some may be missing here. ${all} shows what it lists.`;
}
