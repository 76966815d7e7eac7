import { z } from 'zod';
import { WATCH_MODES } from '../../core/choices.ts';
import type { Message, ModalView } from '../../core/message.ts';
import {
  bold,
  capitalised,
  code,
  count,
  dateTime,
  listFirst,
  mrkdwn,
  sanitize,
  truncateMarkup,
} from '../../core/mrkdwn.ts';
import { MAX_PATTERN } from '../../core/names.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { NewsItem } from '../../records/feeds.ts';
import type { Push } from '../../records/pushes.ts';
import type { Watch } from '../../records/schedules.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { eventLine, namePerson, revisionWords, rewindWords } from '../activity/activity-message.ts';
import { searchInput, selectInput, textInput } from '../blocks/inputs.ts';
import { inPages, packed, skippedWords, UNREAD } from '../blocks/lists.ts';
import { context, LIMITS, say, section } from '../blocks/make-blocks.ts';
import { modal, refill, type Values } from '../blocks/modal.ts';
import { muteButtons } from '../episodes/episode-buttons.ts';
import { MODE_WORDS } from '../schedules/details.ts';
import { type ListScope, polledLines, type ShownPolling } from '../schedules/schedule.ts';
import { escalationInputs, escalationValues } from '../schedules/timed-modal.ts';
import { scheduleWords } from '../schedules/words.ts';

export const WATCH_EDIT = 'watch.edit';

/** The watch of the form. */
export const WatchOrigin = z.object({
  id: z.string(),
  account: z.string(),
  /** The channel where the person is answered. */
  channel: z.string().optional(),
});
export interface WatchOrigin extends z.infer<typeof WatchOrigin> {}

/** The choices of a watch as fields of its form. */
export function watchValues({ mode, project, pattern, server, hours, escalation }: Watch): Values {
  return {
    project: project?.permalink,
    pattern,
    server: server?.name,
    mode,
    hours: hours && `${hours.from}-${hours.to}`,
    ...escalationValues(escalation),
  };
}

export function watchModal(origin: WatchOrigin, watch: Watch): ModalView {
  const { project, hours } = watch;
  const zone = hours === undefined ? 'your time zone' : sanitize(hours.zone, 60);
  const choices = WATCH_MODES.map((value) => ({ value, text: capitalised(MODE_WORDS[value]) }));
  const form = modal(WATCH_EDIT, 'Edit a watch', { submit: 'Save', metadata: origin }, [
    searchInput('project', 'Project', {
      placeholder: 'All projects, or search one',
      optional: true,
      initial: project && { value: project.permalink, text: project.name },
    }),
    textInput('pattern', 'Or projects named', {
      placeholder: 'e.g. shop-*',
      hint: 'A star stands for any text. Projects that the account has later join.',
      maxLength: MAX_PATTERN,
      optional: true,
    }),
    textInput('server', 'Server', {
      placeholder: 'All servers. Or web-1, web-2 or web-* or not staging',
      optional: true,
    }),
    selectInput('mode', 'What it posts', { choices }),
    textInput('hours', 'Working hours', {
      placeholder: 'At any time, or e.g. 9-18',
      hint: `Monday to Friday in ${zone}. What happens outside of them is posted as one summary when they begin.`,
      optional: true,
    }),
    ...escalationInputs(),
  ]);
  return refill(form, { ...watchValues(watch), project: undefined }, []);
}

/**
 * A watch in a list.
 * @param backlog number of events that wait for its working hours
 * @param isGone true if the account no longer lists its project
 */
export function watchLines(
  watch: Watch,
  {
    scope,
    polling,
    backlog,
    isGone,
    push,
    publicUrl,
    pages,
  }: {
    scope: ListScope;
    polling: ShownPolling;
    backlog: number;
    isGone: boolean;
    push?: Push | undefined;
    publicUrl?: string | undefined;
    pages?: Pages | undefined;
  },
): string[] {
  const { id, channel, project, createdAt, createdBy, last, state } = watch;
  return [
    `${code(id)}  ${scheduleWords(watch, pages)}${scope === 'all' ? `, in <#${channel}>` : ''}`,
    ...(isGone && project ? [`:warning: ${bold(project.name, 60)} is no longer listed.`] : []),
    polledLines(state, polling, last).join(' '),
    ...[pushWords(push, publicUrl)].filter((line) => line !== undefined),
    `Set up by <@${createdBy}> ${dateTime(createdAt)}.`,
    ...(backlog === 0 ? [] : [`${count(backlog, 'event')} waiting for working hours.`]),
  ];
}

export const WATCH_PUSH = 'watch.push';

/**
 * Asks for a confirmation before the service is told to call Deckhand.
 * @param isRemovable true if Deckhand can remove integrations at the service
 */
export function pushModal(origin: WatchOrigin, { project, account }: Watch, isRemovable: boolean): ModalView {
  const name = bold(project?.name ?? '', 60);
  const text = `Deckhand will set up an integration named *Deckhand* for ${name} in ${code(account)}. The service then calls Deckhand when a deployment starts, succeeds or fails, so channels hear of it in seconds instead of a minute.`;
  const end = isRemovable
    ? 'When its last watch is removed, Deckhand removes the integration.'
    : 'When its last watch is removed, the integration is switched off. Only the service itself can delete it.';
  return modal(WATCH_PUSH, 'Hear within seconds', { submit: 'Set it up', metadata: origin }, [
    section(text),
    context(end),
  ]);
}

/** How Deckhand hears of a project's deployments. @param publicUrl the present `PUBLIC_URL` */
export function pushWords(
  push: Pick<Push, 'state' | 'isMissing' | 'publicUrl'> | undefined,
  publicUrl: string | undefined,
): string | undefined {
  if (push?.state !== 'on') return undefined;
  const again = '“Hear within seconds” sets its integration up again';
  if (push.isMissing === true)
    return `:warning: Calls of the service do not arrive, so it is polled every minute. ${again}.`;
  if (push.publicUrl !== publicUrl)
    return `:warning: The service calls an old address of Deckhand. ${again}.`;
  return ':zap: The service tells of deployments within seconds.';
}

/** Why Deckhand cannot switch an integration off. */
const STILL_ON = {
  noAnswer: 'Deckhand set it up, but never got the service’s answer about it',
  disconnected: 'its account was disconnected before the service answered',
  refused: 'the service refuses to switch it off',
} as const;
export type StillOn = keyof typeof STILL_ON;

/** Asks a person to remove the integration of a push that has ended. */
export function stillOnMessage(
  { account, project }: Pick<Push, 'account' | 'project'>,
  why: StillOn,
): Message {
  const name = `${bold(project.name, 60)} in ${code(account)}`;
  return say(
    `:electric_plug: The integration *Deckhand* of ${name} may still call Deckhand: ${STILL_ON[why]}. Nothing follows its calls. Delete it at the service, among the project’s integrations.`,
  );
}

export type NewsLine = Pick<NewsItem, 'kind' | 'line'>;

export interface WatchedNews {
  account: string;
  /** Oldest first. */
  lines: readonly NewsLine[];
  /** True if some events may be missing, because there were so many. */
  isTruncated: boolean;
  /** Unreadable rows of the feed that the channel has not been told about. */
  skipped?: readonly SkippedRows[];
  /** Set if the news waited for working hours; `dropped` is the number of older ones that did not fit. */
  backlog?: { dropped: number } | undefined;
  word: string;
  /** True in the direct messages of a person who watches their own deployments. */
  isOwn?: boolean;
}

/** More news become a summary with a list below. The list goes into the thread, if the channel has threads. */
const MAX_AT_ONCE = 10;
/** Slack refuses messages whose blocks hold much over 13,000 characters. */
const MAX_SECTIONS = 3;
const MAX_NAMED = 6;

/** One message for all news, with a thread if there are many. */
export function watchMessages(news: WatchedNews): { root: Message; replies: Message[] } {
  const lines = news.lines.map(({ line }) => line);
  const texts = packed(lines);
  const isMuch = lines.length > MAX_AT_ONCE || texts.length > MAX_SECTIONS;
  const isBrief = isMuch || news.backlog !== undefined || lines.length === 0;
  const summary = describeNews(news);
  const visible = isMuch
    ? [`${summary}. The list follows.`]
    : [...(news.backlog && lines.length > 0 ? [`${summary}.`] : []), ...texts];
  return {
    root: {
      text: truncateMarkup(isBrief ? drawWatchHeadline(news) : lines.join('\n'), LIMITS.messageText),
      blocks: [
        ...visible.map((text) => section(text)),
        ...(news.isTruncated ? [section(cutWords(news))] : []),
        context(skippedWords(news.skipped ?? []), `Activity of ${code(news.account)}`),
        ...(news.isOwn ? muteButtons(news.account) : []),
      ],
    },
    replies: (isMuch ? inPages(texts, { most: MAX_SECTIONS }) : []).map((page) => ({
      text: drawWatchHeadline(news),
      blocks: page.map((text) => section(text)),
    })),
  };
}

/** "3 events", for lists. */
export function newsCount({ lines, isTruncated }: Pick<WatchedNews, 'lines' | 'isTruncated'>): string {
  if (lines.length === 0 && !isTruncated) return UNREAD;
  return `${count(lines.length, 'event')}${isTruncated ? ', some may be missing' : ''}`;
}

/**
 * @param mentioned the Slack user who has claimed a name at the service
 * @param where mrkdwn for the project; empty in the message of its own episode
 * @returns `words`: "`4bcef3e` by Grace Park"
 */
export function newsLine(
  event: ActivityEvent,
  mentioned: (name: string) => string | undefined,
  where?: readonly string[],
): NewsLine & { words: string; rewind: string | undefined } {
  const describePerson = (name: string): string => namePerson(name, mentioned);
  const words = revisionWords(event, describePerson).filter(Boolean).join(' ');
  const [rewind] = rewindWords(event);
  return { kind: event.event, line: eventLine(event, dateTime, describePerson, where), words, rewind };
}

/** "12 events in `acme`: deploy completed (10), deploy failed (2)" */
function describeNews(news: WatchedNews): string {
  const { backlog, lines } = news;
  const summary = `${count(lines.length, 'event')}${backlog ? ' outside working hours' : ''} in ${code(news.account)}: ${countEventKinds(lines)}`;
  const dropped = backlog && backlog.dropped > 0 ? `, and ${count(backlog.dropped, 'older one')}` : '';
  return `${backlog ? ':sunrise:' : ':newspaper:'} ${summary}${dropped}`;
}

function drawWatchHeadline({ lines, isTruncated, skipped, account }: WatchedNews): string {
  const of = code(account);
  if (lines.length === 0 && isTruncated) return `Some activity of ${of} may be missing here`;
  if (lines.length === 0 && skipped?.length) return `Some activity of ${of} could not be read`;
  return `${count(lines.length, 'event')} in ${of}${isTruncated ? ', and some may be missing' : ''}`;
}

/** "deploy completed (12), deploy failed (3)" */
function countEventKinds(lines: readonly NewsLine[]): string {
  const groups = [...Map.groupBy(lines, ({ kind }) => kind)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  );
  const phrases = groups.map(([kind, { length }]) => `${mrkdwn(kind.replaceAll('_', ' '), 40)} (${length})`);
  return listFirst(phrases, MAX_NAMED, 'more kinds');
}

function cutWords({ word }: WatchedNews): string {
  const all = code(`${word} activity 30d`);
  return `:warning: The service lists only its latest events, so some may be missing here. ${all} shows what it lists.`;
}
