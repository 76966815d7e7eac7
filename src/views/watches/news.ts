import type { Message } from '../../core/message.ts';
import { bold, code, count, cut, firstOf, mrkdwn } from '../../core/mrkdwn.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import { eventLine, packed } from '../activity/activity.ts';
import { LIMITS } from '../blocks/limits.ts';
import { context, section } from '../blocks/message.ts';
import { dateTime } from '../blocks/time.ts';

/** An event to post, with the change that it made where transitions are watched. */
export interface WatchNews {
  event: ActivityEvent;
  turn: 'started failing' | 'recovered' | undefined;
}

export interface WatchedNews {
  account: string;
  /** Oldest first. */
  news: readonly WatchNews[];
  /** True where there were so many events that some may be missing. */
  isCut: boolean;
  /** The watches that ask for it. */
  ids: readonly string[];
  /** The slash word. */
  word: string;
}

/** More than these at once become one message whose thread holds them. */
const MOST_AT_ONCE = 10;
/** Slack refuses messages whose blocks hold much over 13,000 characters. */
const MOST_SECTIONS = 3;
const MOST_NAMED = 6;

/** One message for all that is new, with its thread where that is much. */
export function watchMessages(found: WatchedNews): { root: Message; replies: Message[] } {
  const lines = found.news.map(newsLine);
  const texts = packed(lines);
  const isMuch = lines.length > MOST_AT_ONCE || texts.length > MOST_SECTIONS;
  const summary = `:newspaper: ${eventCount(found)} in ${code(found.account)}: ${kindsOf(found.news)}`;
  const shown = isMuch ? [`${summary}. The thread has them.`] : texts;
  return {
    root: {
      text: cut(isMuch || lines.length === 0 ? headline(found) : lines.join('\n'), LIMITS.messageText),
      blocks: [
        ...shown.map((text) => section(text)),
        ...(found.isCut ? [section(cutWords(found))] : []),
        context(sourceOf(found)),
      ],
    },
    replies: isMuch ? pagesOf(texts, found) : [],
  };
}

/** "3 events"; for lists. */
export function newsCount({ news, isCut }: Pick<WatchedNews, 'news' | 'isCut'>): string {
  return isCut ? `${count(news.length, 'event')}, some may be missing` : count(news.length, 'event');
}

function newsLine({ event, turn }: WatchNews): string {
  const line = eventLine(event, dateTime);
  if (turn === undefined) return line;
  const icon = turn === 'recovered' ? ':large_green_circle:' : ':rotating_light:';
  return `${icon} ${projectOf(event)} *${turn}*\n${line}`;
}

function projectOf({ project }: ActivityEvent): string {
  return bold(project?.name || project?.permalink || 'no project', 40);
}

function headline(found: WatchedNews): string {
  return `${eventCount(found)} in ${code(found.account)}${found.isCut ? ', and some may be missing' : ''}`;
}

function eventCount({ news }: WatchedNews): string {
  return count(news.length, 'event');
}

/** "12 deploy completed, 3 deploy failed" */
function kindsOf(news: readonly WatchNews[]): string {
  const groups = [...Map.groupBy(news, ({ event }) => event.event)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  );
  const { kept, more } = firstOf(groups, MOST_NAMED);
  const named = kept.map(([kind, { length }]) => `${length} ${mrkdwn(kind.replaceAll('_', ' '), 40)}`);
  return [...named, ...(more === undefined ? [] : [`${more} kinds`])].join(', ');
}

function cutWords({ word }: WatchedNews): string {
  const all = code(`${word} activity 30d`);
  return `:warning: More happened since the last check than the service lists at once (its latest 100 events), so some may be missing here. ${all} shows its list; its own pages show everything.`;
}

function sourceOf({ account, ids }: WatchedNews): string {
  const { kept, more } = firstOf(ids, MOST_NAMED);
  const named = kept.map((id) => code(id)).join(', ');
  const by = ids.length === 0 ? '' : `, ${ids.length === 1 ? 'watch' : 'watches'} ${named}`;
  return `Activity of ${code(account)}${by}${more === undefined ? '' : ` ${more}`}`;
}

function pagesOf(texts: readonly string[], found: WatchedNews): Message[] {
  const pages: Message[] = [];
  for (let at = 0; at < texts.length; at += MOST_SECTIONS)
    pages.push({
      text: headline(found),
      blocks: texts.slice(at, at + MOST_SECTIONS).map((text) => section(text)),
    });
  return pages;
}
