import type { KnownBlock, Message } from '../../core/message.ts';
import {
  code,
  dateTime,
  joinFirst,
  joinLinesWithin,
  mrkdwn,
  sanitize,
  takeStart,
  timeBefore,
  toSentence,
} from '../../core/mrkdwn.ts';
import type { Episode, News, ShownSubject, Subject } from '../../records/episodes.ts';
import { roughly } from '../blocks/formats.ts';
import { context, LIMITS, say, section } from '../blocks/make-blocks.ts';
import { drawPlan, itemLines } from '../test-access/items.ts';
import {
  describeEpisode,
  describeReason,
  episodeText,
  failingAgain,
  nameSubject,
  quietNote,
} from './describe-episode.ts';
import { failedStepLines } from './describe-step.ts';
import { drawEpisodeButtons, FOLLOWED_BY } from './episode-buttons.ts';

const ICONS: Readonly<Record<NonNullable<Episode['ending']>['kind'], string>> = {
  recovered: ':large_green_circle:',
  closed: ':white_circle:',
};

export const PAUSED_NOTE = ':double_vertical_bar: Paused in this channel, so news may be missing here.';

/**
 * The root message of an episode.
 * @param key key of the subject
 */
export function episodeRoot(key: string, subject: ShownSubject, episode: Episode): Message {
  const { owner, ending, first, latest, diagnosis, items = [] } = episode;
  const isOpen = ending === undefined;
  const icon = isOpen ? ':rotating_light:' : ICONS[ending.kind];
  const onIt = isOpen && owner !== undefined ? [`:raising_hand: <@${owner}> is on it`] : [];
  const isReachability = subject.kind === 'reachability';
  const tasks = isOpen && isReachability ? items.map((item) => ({ ...item, status: 'error' as const })) : [];
  const failures = first.join('\n') === latest.join('\n') ? latest : [...first, ...latest];
  const { title, more } = describeEpisode(subject, episode);
  const cause = isOpen && diagnosis !== undefined ? diagnosis.line : undefined;
  const step = isOpen && episode.step !== undefined ? failedStepLines(episode.step) : [];
  const notes = isOpen ? describePause(subject, episode) : [];
  const build = (failed: readonly KnownBlock[]): Message => ({
    text: episodeText(subject, episode),
    isTextWhole: true,
    blocks: [
      section(
        joinLinesWithin(
          [
            `${icon} *${title}*${more}`,
            ...(ending?.rewind === undefined ? [] : [ending.rewind]),
            ...onIt,
            ...(isReachability ? [] : failures),
            ...(isOpen ? describeLastGood(subject, episode) : []),
          ],
          LIMITS.sectionText,
        ),
      ),
      ...failed,
      ...(step.length === 0 ? [] : [section(step.join('\n'))]),
      ...(cause === undefined ? [] : [section(`:mag: ${cause}`)]),
      ...(notes.length === 0 ? [] : [context(...notes)]),
      ...(isOpen ? drawEpisodeButtons(key, subject, episode) : []),
    ],
  });
  if (tasks.length === 0) return build([]);
  return { ...build(drawPlan(tasks)), fallback: () => build([section(itemLines(tasks))]) };
}

/** Why the channel hears less of the failure; mrkdwn. */
function describePause({ quiet }: ShownSubject, { isPaused }: Episode): string[] {
  return [...(isPaused === true ? [PAUSED_NOTE] : []), ...(quiet === undefined ? [] : [quietNote(quiet)])];
}

/** "Last good: `1aca834` by Priya Nand, 09:09"; mrkdwn. */
function describeLastGood({ lastGood }: ShownSubject, { since }: Episode): string[] {
  if (lastGood?.ref === undefined) return [];
  const { ref, user, at } = lastGood;
  const author = user === undefined ? '' : ` by ${mrkdwn(user, 30)}`;
  return [`Last good: ${code(takeStart(sanitize(ref), 7))}${author}, ${timeBefore(at, since)}`];
}

/** Thread reply about a later failure, the recovery, or a click. */
export function episodeReply(subject: ShownSubject, episode: Episode, news: News): Message {
  const { kind, lines, requestedBy = '', takenFrom } = news;
  const { title } = describeEpisode(subject, { ...episode, ending: undefined });
  const followed = FOLLOWED_BY[subject.kind];
  const headings: Record<News['kind'], string> = {
    failure: `:rotating_light: ${describeFailure(subject, episode, news)}`,
    success: ':large_green_circle: Recovered',
    claim:
      takenFrom === undefined
        ? `:raising_hand: <@${requestedBy}> is on it.`
        : `:raising_hand: <@${requestedBy}> took it over from <@${takenFrom}>.`,
    release: `:wave: <@${requestedBy}> handed it back, so nobody is on it.`,
    close: `:white_circle: <@${requestedBy}> closed it. The next failure starts a new message.`,
    pause: `:double_vertical_bar: <@${requestedBy}> paused a ${followed} of this failure. ${toSentence(title)}`,
    quiet: `:no_bell: <@${requestedBy}> made this quiet here until ${dateTime(news.until ?? 0)}. ${toSentence(title)}`,
    remove: `:wastebasket: <@${requestedBy}> removed a ${followed} of this failure. ${toSentence(title)}`,
  };
  return say(joinLinesWithin([headings[kind], ...lines], LIMITS.sectionText));
}

/** Names the open failures whose watches or guards a person stopped; empty if there are none. mrkdwn */
export function stoppedWords(subjects: readonly Subject[]): string {
  if (subjects.length === 0) return '';
  const names = joinFirst([...new Set(subjects.map(nameSubject))], 10);
  return `Still failing: ${names}.`;
}

/** "Another deployment failed, 2 so far", or what the channel gets too. */
function describeFailure(subject: ShownSubject, episode: Episode, news: News): string {
  const { joined = [], again, number } = news;
  const name = nameSubject(subject);
  if (again !== undefined) return `*${name} is ${failingAgain(again)}*`;
  if (subject.kind === 'reachability' || joined.length > 0)
    return `*${describeJoined(name, subject.kind, joined)}*`;
  return `Another deployment failed, ${number - (episode.failuresBefore ?? 0)} so far`;
}

/** "Storefront: the deployment to web-2 failed too"; mrkdwn. */
export function describeJoined(name: string, kind: Subject['kind'], joined: readonly string[]): string {
  const servers = joinFirst(joined.map((server) => mrkdwn(server, 40)));
  return kind === 'reachability'
    ? `${name}: ${servers || 'more'} ${joined.length > 1 ? 'are' : 'is'} unreachable too`
    : `${name}: the deployment to ${servers} failed too`;
}

/** Mentions of people and groups by their ids; mrkdwn. */
export function mentionWords(ids: readonly string[]): string {
  return ids.map((id) => (id.startsWith('S') ? `<!subteam^${id}>` : `<@${id}>`)).join(' ');
}

/**
 * Thread reply about a failure that nobody has taken, or whose owner has left.
 * @param mentions ids of people and user groups
 */
export function escalationReply(
  subject: ShownSubject,
  episode: Episode,
  mentions: readonly string[],
  ms: number,
): Message {
  const who = mentionWords(mentions);
  const { owner } = episode;
  const left = `Nobody is on it: <@${owner}>, who was, can no longer use Deckhand.`;
  const worse = `<@${owner}> is on it, but it got worse ${roughly(ms)} ago.`;
  const after =
    owner === undefined ? `Nobody is on it after ${roughly(ms)}.` : episode.isWorse === true ? worse : left;
  const gone = mentions.length > 0 ? [] : ['Nobody is left to mention.'];
  const { title } = describeEpisode({ ...subject, isAccountShown: true }, episode);
  const why = [describeReason(subject, episode)].filter(Boolean).map(toSentence);
  return say([':bell:', who, toSentence(title), ...why, after, ...gone].filter(Boolean).join(' '));
}

/** Thread reply about a failure that nobody has taken for a day. */
export function reminderReply(subject: ShownSubject, episode: Episode): Message {
  const { title } = describeEpisode(subject, episode);
  return say(
    `:alarm_clock: ${toSentence(title)} Nobody has been on it for a day. “I’m on it” above says that you are.`,
  );
}
