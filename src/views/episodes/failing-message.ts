import { isDirect, type KnownBlock, type Message } from '../../core/message.ts';
import { code, count, dateTime, joinLinesWithin, timeOnly, truncateMarkup } from '../../core/mrkdwn.ts';
import type { Episode, ShownSubject } from '../../records/episodes.ts';
import type { Schedule } from '../../records/schedules.ts';
import { listBlocks } from '../blocks/lists.ts';
import { button, buttons, context, LIMITS, say, section } from '../blocks/make-blocks.ts';
import { showLink } from '../blocks/page-links.ts';
import { whyPaused } from '../schedules/schedule.ts';
import { describeSchedule } from '../schedules/words.ts';
import { itemLines } from '../test-access/items.ts';
import { describeEpisode, episodeText } from './describe-episode.ts';
import { drawEpisodeButtons, drawOutageButtons, type PrivateList } from './episode-buttons.ts';
import { describeOutage, listRows, outageText, type ShownOutage } from './outage.ts';

/** Places that list failures. A click on a list's button updates that list. */
export const FAILING_LISTS = ['failing', 'start'] as const;
export type FailingList = (typeof FAILING_LISTS)[number];

export interface ShownFailure {
  /** Key of its subject; undefined if no message shows the failure, so that it has no buttons. */
  key: string | undefined;
  subject: ShownSubject;
  episode: Episode;
  /** Address of its message. */
  link?: string | undefined;
  /** The outage with all of its failures, if this is the entry of one. */
  outage?: ShownOutage | undefined;
}

/** When an account was read. */
export interface AccountAge {
  account: string;
  /** Time of the service's latest answer, milliseconds since the epoch. */
  readAt: number;
  /** True if the service should have answered again since. */
  isOld: boolean;
  /** True if Deckhand asked, and got no answer. */
  isUnanswered: boolean;
}

/** All failures that Deckhand knows in a place. */
export interface FailingNow {
  /** Latest first. */
  failures: readonly ShownFailure[];
  /** Failures that were closed, or had no news for seven days, and are not mended. Latest first. */
  settled: readonly ShownFailure[];
  ages: readonly AccountAge[];
}

/**
 * Maximum number of failures with buttons, to stay within Slack's limit. The others have buttons on their own
 * messages.
 */
const MAX_WITH_BUTTONS = 4;

/** A failure in one line, for App Home and lists. @param isPlaced true if the line names the channel */
export function failureLine(
  { key, subject, episode, link, outage }: ShownFailure,
  isPlaced: boolean,
  icon = ':rotating_light:',
): string {
  const isShown = isPlaced && key !== undefined && subject.person === undefined;
  const where = isShown ? ` in <#${subject.channel}>` : '';
  const { owner } = outage ?? episode;
  const onIt = owner === undefined ? '' : `, <@${owner}> is on it`;
  const quiet = subject.quiet === undefined ? '' : `, quiet until ${dateTime(subject.quiet.until)}`;
  const title = outage === undefined ? describeEpisode(subject, episode).title : describeOutage(outage);
  return `${icon} *${title}*${where}${onIt}${quiet}${showLink(link)}`;
}

/** Failures with the buttons of their messages. @param isPlaced true if the list covers several channels */
export function failureBlocks(
  failures: readonly ShownFailure[],
  list: PrivateList,
  isPlaced = false,
): KnownBlock[] {
  const rest = failures.slice(MAX_WITH_BUTTONS).map((one) => failureLine(one, isPlaced));
  const drawn = { ...list, hasSeveral: failures.length > 1 };
  return [
    ...failures.slice(0, MAX_WITH_BUTTONS).flatMap((failure) => {
      const { key, subject, episode, outage } = failure;
      if (outage !== undefined)
        return [
          section(listRows(outage, [failureLine(failure, isPlaced)])),
          ...(outage.person === undefined ? drawOutageButtons(outage, drawn) : []),
        ];
      const { latest, diagnosis, items = [] } = episode;
      const failed = items.map((item) => ({ ...item, status: 'error' as const }));
      const tested = diagnosis === undefined ? [] : [`:mag: ${diagnosis.line}`];
      const details = subject.kind === 'reachability' ? [itemLines(failed)] : [...latest, ...tested];
      return [
        section(joinLinesWithin([failureLine(failure, isPlaced), ...details], 1000)),
        ...(key === undefined ? [] : drawEpisodeButtons(key, subject, episode, drawn)),
      ];
    }),
    ...(rest.length === 0 ? [] : [section(joinLinesWithin(rest, LIMITS.sectionText))]),
  ];
}

/** Maximum number of failures in a notification. */
const MAX_IN_TEXT = 20;
/** An outage may be longer than a notification. */
const MAX_ONE_TEXT = 1_200;

/** The failures as sentences, for notifications. */
export function failureTexts(failures: readonly ShownFailure[]): string {
  const texts = failures.map(({ subject, episode, outage }) =>
    outage === undefined
      ? truncateMarkup(episodeText(subject, episode), MAX_ONE_TEXT)
      : outageText(outage, MAX_ONE_TEXT),
  );
  const others = failures.length - MAX_IN_TEXT;
  const visible = texts.slice(0, MAX_IN_TEXT);
  const lines = [...visible, ...(others > 0 ? [`And ${others} more.`] : [])];
  return joinLinesWithin(lines, 1_400).replaceAll('\n', ' ');
}

/** "as of 11:04", the time of the oldest answer; empty if nothing was read. */
function asOfWords(ages: readonly AccountAge[]): string {
  return ages.length === 0 ? '' : `as of ${timeOnly(Math.min(...ages.map(({ readAt }) => readAt)))}`;
}

/** "`lumen` has not answered since 11:00, so this may be out of date.", a sentence for each such account. */
export function listOldAges(ages: readonly AccountAge[]): string[] {
  return ages
    .filter(({ isOld }) => isOld)
    .map(({ account, readAt, isUnanswered }) => {
      const verb = isUnanswered ? 'answered' : 'been read';
      return `${code(account)} has not ${verb} since ${timeOnly(readAt)}, so this may be out of date.`;
    });
}

function drawAge(ages: readonly AccountAge[]): KnownBlock[] {
  const old = listOldAges(ages);
  if (old.length > 0) return [context(`:hourglass: ${joinLinesWithin(old, 1000)}`)];
  return ages.length === 0 ? [] : [context(`${asOfWords(ages).replace('as', 'As')}.`)];
}

interface FailingOptions {
  word: string;
  list: PrivateList;
  /** Undefined for all channels. */
  channel: string | undefined;
  /** True to list the failures that were closed too. */
  isSettledShown?: boolean | undefined;
}

/** Open failures in a channel, or everywhere if it is undefined. @param followers the watches and guards there */
export function failingMessage(
  now: FailingNow,
  followers: readonly Schedule[],
  options: FailingOptions,
): Message {
  const { failures, ages } = now;
  const paused = followers.flatMap((schedule) => {
    const { state } = schedule;
    return state.kind === 'paused' ? [`${describeSchedule(schedule)}: paused ${whyPaused(state)}`] : [];
  });
  const below = [
    ...drawSettled(now, options),
    ...(paused.length === 0
      ? []
      : [
          context(
            `:double_vertical_bar: Not followed now: ${joinLinesWithin(paused, 1000).replaceAll('\n', '; ')}.`,
          ),
        ]),
  ];
  if (failures.length === 0) return say(sayNothingFails(now, followers, options), ...below);
  const old = listOldAges(ages);
  return {
    text: [
      failureTexts(failures),
      ...(ages.length === 0 ? [] : [`This is ${asOfWords(ages)}.`]),
      ...old,
    ].join(' '),
    isTextWhole: true,
    blocks: [
      ...failureBlocks(failures, options.list, options.channel === undefined),
      ...drawAge(ages),
      ...below,
    ],
  };
}

function sayNothingFails(
  { settled, ages }: FailingNow,
  followers: readonly Schedule[],
  { word, channel }: FailingOptions,
): string {
  const old = listOldAges(ages);
  const isFollowed = followers.some(({ state }) => state.kind === 'active');
  const asOf = [asOfWords(ages)].filter(Boolean).map((words) => `, ${words}`);
  if (old.length > 0) return [':hourglass: No failure is known here.', ...old].join(' ');
  if (isFollowed && settled.length === 0)
    return `:large_green_circle: Nothing followed here is failing${asOf}.`;
  if (followers.length > 0 || settled.length > 0) return `No failure is open here${asOf}.`;
  const first = code(`${word} ${isDirect(channel) ? 'watch mine' : 'watch <project>'}`);
  const then = isDirect(channel)
    ? 'sends you your own failures, and App Home shows those of channels'
    : 'follows a project';
  // The channel is bound to a project.
  if (ages.length > 0) return `No failure is open here${asOf}. Nothing posts one here yet: ${first} ${then}.`;
  return `Nothing is followed here yet, so no failure is noticed. ${first} ${then}.`;
}

/** "3 more were closed and are not mended." */
export function settledWords({ failures, settled }: Pick<FailingNow, 'failures' | 'settled'>): string {
  const amount = `${settled.length}${failures.length > 0 ? ' more' : ''}`;
  return settled.length === 1
    ? `${amount} was closed and is not mended.`
    : `${amount} were closed and are not mended.`;
}

function drawSettled(now: FailingNow, { isSettledShown = false }: FailingOptions): KnownBlock[] {
  if (now.settled.length === 0) return [];
  const words = settledWords(now);
  if (isSettledShown)
    return [
      section(
        joinLinesWithin(
          [words.replace('.', ':'), ...now.settled.map((one) => failureLine(one, false, ':white_circle:'))],
          LIMITS.sectionText,
        ),
      ),
    ];
  return [section(words), ...buttons(button('Show all', 'failing:closed'))];
}

/** All failures of one account. */
export interface AccountFailing extends FailingNow {
  account: string;
}

/** All failures, by account. */
export function allFailingMessage(accounts: readonly AccountFailing[]): Message {
  const amount = accounts.reduce((sum, { failures }) => sum + failures.length, 0);
  const failing = accounts.filter(({ failures }) => failures.length > 0);
  const text =
    amount === 0
      ? 'No failure is known in the connected accounts'
      : `${count(amount, 'failure')} in ${joinLinesWithin(
          failing.map(({ account }) => code(account)),
          1000,
        ).replaceAll('\n', ', ')}`;
  const old = accounts.flatMap(({ ages }) => listOldAges(ages));
  return {
    text: [`${text}.`, ...old].join(' '),
    blocks: accounts.flatMap((one) => listBlocks(listAccount(one))),
  };
}

/** For failures that Deckhand knows by a command alone. */
const MAY_BE_MORE = 'There may be more, because Deckhand has only begun to read this account.';

function listAccount(one: AccountFailing): string[] {
  const { account, failures, settled, ages } = one;
  const old = listOldAges(ages);
  const isRead = ages.length > 0;
  const none =
    old.length > 0 || !isRead ? 'No failure is known.' : ':large_green_circle: Nothing is failing.';
  return [
    `*${code(account)}* ${asOfWords(ages)}`.trim(),
    ...(failures.length === 0 ? [none] : failures.map((failure) => failureLine(failure, false))),
    ...(isRead ? [] : [failures.length === 0 ? 'It has not been read yet.' : MAY_BE_MORE]),
    ...old.map((words) => `:hourglass: ${words}`),
    ...(settled.length === 0 ? [] : [settledWords(one).replace('.', ':')]),
    ...settled.map((failure) => failureLine(failure, false, ':white_circle:')),
  ];
}
