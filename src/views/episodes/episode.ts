import type { Button } from '@slack/types';
import { isDirect, type KnownBlock, type Message } from '../../core/message.ts';
import { code, count, dateTime, joinLinesWithin, link, mrkdwn, timeOnly } from '../../core/mrkdwn.ts';
import { HOUR_MS } from '../../core/time/clock.ts';
import type { Episode, Failure, News, ShownSubject, Subject, Verb } from '../../records/episodes.ts';
import type { Schedule } from '../../records/schedules.ts';
import { roughly } from '../blocks/formats.ts';
import { button, buttons, context, LIMITS, safeUrl, say, section } from '../blocks/message.ts';
import { whyPaused } from '../schedules/schedule.ts';
import { describeSchedule } from '../schedules/words.ts';
import { drawPlan, itemLines } from '../test-access/items.ts';

type Ended = NonNullable<Episode['ending']>['kind'] | undefined;

const ICONS: Readonly<Record<NonNullable<Ended>, string>> = {
  recovered: ':large_green_circle:',
  closed: ':white_circle:',
};

/**
 * The root message of an episode.
 * @param key key of the subject
 * @param projectUrl the project's page at the service
 */
export function episodeRoot(
  key: string,
  subject: ShownSubject,
  episode: Episode,
  projectUrl?: string,
): Message {
  const { name, account, kind } = subject;
  const { owner, ending, first, latest, diagnosis, items = [] } = episode;
  const isOpen = ending === undefined;
  const icon = isOpen ? ':rotating_light:' : ICONS[ending.kind];
  const onIt = isOpen && owner !== undefined ? [`:raising_hand: <@${owner}> is on it`] : [];
  const isReachability = kind === 'reachability';
  const tasks = isOpen && isReachability ? items.map((item) => ({ ...item, status: 'error' as const })) : [];
  const failures = first.join('\n') === latest.join('\n') ? latest : [...first, ...latest];
  const url = safeUrl(projectUrl);
  const where = url === undefined ? code(account) : link(url, `${mrkdwn(name, 80)} in ${mrkdwn(account)}`);
  const { title, more } = describeEpisode(subject, episode);
  const cause = isOpen && diagnosis !== undefined ? diagnosis.line : undefined;
  const build = (failed: readonly KnownBlock[]): Message => ({
    text: [`${title}${more}`, cause].filter(Boolean).join('\n'),
    blocks: [
      section(
        joinLinesWithin(
          [`${icon} *${title}*${more}`, ...onIt, ...(isReachability ? [] : failures)],
          LIMITS.sectionText,
        ),
      ),
      ...failed,
      ...(cause === undefined ? [] : [section(`:mag: ${cause}`)]),
      context(where),
      ...(isOpen ? drawEpisodeButtons(key, subject, episode) : []),
    ],
  });
  if (tasks.length === 0) return build([]);
  return { ...build(drawPlan(tasks)), fallback: () => build([section(itemLines(tasks))]) };
}

/** Thread reply about a later failure, the recovery, or a click. */
export function episodeReply({ kind, number, lines, requestedBy = '' }: News): Message {
  const headings: Record<News['kind'], string> = {
    failure: `:rotating_light: Failure ${number}`,
    success: ':large_green_circle: Recovered',
    claim: `:raising_hand: <@${requestedBy}> is on it.`,
    release: `:wave: <@${requestedBy}> handed it back, so nobody is on it.`,
    close: `:white_circle: <@${requestedBy}> closed it. The next failure starts a new message.`,
  };
  return say(joinLinesWithin([headings[kind], ...lines], LIMITS.sectionText));
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
  const who = mentions.map((id) => (id.startsWith('S') ? `<!subteam^${id}>` : `<@${id}>`)).join(' ');
  const { owner } = episode;
  const after =
    owner === undefined
      ? `Nobody is on it after ${roughly(ms)}.`
      : `Nobody is on it: <@${owner}>, who was, can no longer use Deckhand.`;
  const gone = mentions.length > 0 ? [] : ['Nobody is left to mention.'];
  const title = describeEpisode(subject, episode).title;
  return say([':bell:', who, `${title}.`, after, ...gone].filter(Boolean).join(' '));
}

/**
 * "Storefront: web-3 is unreachable since 14:02", or "Storefront recovered after 38 min and 3 failures" with ": `4bcef3e`
 * by Grace Park. @Cleo was on it."; mrkdwn, the title without asterisks.
 */
export function describeEpisode(subject: ShownSubject, episode: Episode): { title: string; more: string } {
  const { failures, since, newsAt, ending, owner } = episode;
  const account = subject.isAccountShown ? ` in ${mrkdwn(subject.account)}` : '';
  const name = `${mrkdwn(subject.name, 80)}${account}`;
  const amount = count(failures, 'failure');
  if (ending?.kind === 'closed') {
    const how =
      ending.requestedBy === undefined ? 'closed: no news for 7 days' : `closed by <@${ending.requestedBy}>`;
    return { title: `${name} ${how} (${amount})`, more: '' };
  }
  if (ending !== undefined) {
    const success = ending.words ? `: ${ending.words}.` : '.';
    const wasOnIt = owner === undefined ? '' : ` <@${owner}> was on it.`;
    const title = `${name} recovered after ${roughly(ending.at - since)} and ${amount}`;
    return { title, more: `${success}${wasOnIt}` };
  }
  const further = failures === 1 ? '' : `, ${amount}`;
  const from = newsAt - since > 12 * HOUR_MS ? dateTime(since) : timeOnly(since);
  return { title: `${name}: ${describeFailing(subject, episode)}${further} since ${from}`, more: '' };
}

const MAX_NAMED = 3;

/** "deployments are failing", "web-1 and web-3 are unreachable" */
export function describeFailing({ kind }: Subject, { items = [] }: Episode): string {
  if (kind === 'deployments') return 'deployments are failing';
  if (items.some(({ key }) => key === 'test')) return 'the test is failing';
  const names = items.map(({ key, title }) => (key === 'repository' ? 'the repository' : mrkdwn(title, 40)));
  const others = names.length - MAX_NAMED + 1;
  const visible = names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED - 1), `${others} others`] : names;
  return `${new Intl.ListFormat('en-GB').format(visible)} ${names.length === 1 ? 'is' : 'are'} unreachable`;
}

/** Places that list failures. A click on a list's button updates that list. */
export const FAILING_LISTS = ['failing', 'start'] as const;
export type FailingList = (typeof FAILING_LISTS)[number];

export interface ShownFailure extends Failure {
  subject: ShownSubject;
  /** Address of its message. */
  link?: string | undefined;
}

/**
 * Maximum number of failures with buttons, to stay within Slack's limit. The others have buttons on their own
 * messages.
 */
const MAX_WITH_BUTTONS = 4;

/** A failure in one line, for App Home and lists. @param isPlaced true if the line names the channel */
export function failureLine({ subject, episode, link: address }: ShownFailure, isPlaced: boolean): string {
  const where = isPlaced && subject.person === undefined ? ` in <#${subject.channel}>` : '';
  const onIt = episode.owner === undefined ? '' : `, <@${episode.owner}> is on it`;
  const url = safeUrl(address);
  const line = `:rotating_light: *${describeEpisode(subject, episode).title}*${where}${onIt}`;
  return url === undefined ? line : `${line}  <${url}|show>`;
}

/** Failures with the buttons of their messages. @param isPlaced true if the list covers several channels */
export function failureBlocks(
  failures: readonly ShownFailure[],
  list: FailingList,
  isPlaced = false,
): KnownBlock[] {
  const rest = failures.slice(MAX_WITH_BUTTONS).map((one) => failureLine(one, isPlaced));
  return [
    ...failures.slice(0, MAX_WITH_BUTTONS).flatMap((failure) => {
      const { key, subject, episode } = failure;
      const { latest, diagnosis, items = [] } = episode;
      const failed = items.map((item) => ({ ...item, status: 'error' as const }));
      const tested = diagnosis === undefined ? [] : [`:mag: ${diagnosis.line}`];
      const details = subject.kind === 'reachability' ? [itemLines(failed)] : [...latest, ...tested];
      return [
        section(joinLinesWithin([failureLine(failure, isPlaced), ...details], 1000)),
        ...drawEpisodeButtons(key, subject, episode, list),
      ];
    }),
    ...(rest.length === 0 ? [] : [section(joinLinesWithin(rest, LIMITS.sectionText))]),
  ];
}

/** The failures as text, for notifications. */
export function failureTitles(failures: readonly Failure[]): string {
  const titles = failures.map(({ subject, episode }) => describeEpisode(subject, episode).title);
  return joinLinesWithin(titles, 1000).replaceAll('\n', '; ');
}

/** Open failures in a channel, or everywhere if it is undefined. @param followers the watches and guards there */
export function failingMessage(
  failures: readonly ShownFailure[],
  followers: readonly Schedule[],
  { word, channel }: { word: string; channel: string | undefined },
): Message {
  const paused = followers.flatMap((schedule) => {
    const { state } = schedule;
    return state.kind === 'paused' ? [`${describeSchedule(schedule)}: paused ${whyPaused(state)}`] : [];
  });
  const notes =
    paused.length === 0
      ? []
      : [
          context(
            `:double_vertical_bar: Not followed now: ${joinLinesWithin(paused, 1000).replaceAll('\n', '; ')}.`,
          ),
        ];
  if (failures.length > 0)
    return {
      text: failureTitles(failures),
      blocks: [...failureBlocks(failures, 'failing', channel === undefined), ...notes],
    };
  const isFollowed = followers.length > paused.length;
  if (isFollowed) return say(':large_green_circle: Nothing followed here is failing.', ...notes);
  if (followers.length > 0) return say('No failure is open here.', ...notes);
  const first = code(`${word} ${isDirect(channel) ? 'watch mine' : 'watch <project>'}`);
  const then = isDirect(channel)
    ? 'sends you your own failures; App Home shows those of channels'
    : 'follows a project';
  return say(`Nothing is followed here yet, so no failure is noticed. ${first} ${then}.`);
}

/** Buttons under a message of a personal watch. */
export function muteButtons(account: string): KnownBlock[] {
  return buttons(button('Mute for today', 'watch:mute', { value: { account } }));
}

/**
 * In a direct message, nobody else could take the failure.
 * @param list the list that contains the buttons, if not the root
 */
function drawEpisodeButtons(
  key: string,
  subject: Subject,
  { id, owner, failures }: Episode,
  list?: FailingList,
): KnownBlock[] {
  const { person, account, kind, name, project, permalink = project } = subject;
  const stable = project === permalink ? {} : { identifier: project };
  const target = { account, project: { ...stable, permalink, name } };
  // Lists and tests keep their buttons. Each failure brings a new button to the root, so its value must differ.
  const [test, value] =
    list === undefined ? ['test:again', { target, failures }] : [`test:project#${key}`, { target }];
  const again = kind === 'reachability' && button('Test again', test, { value });
  if (person !== undefined) return again ? buttons(again) : muteButtons(account);
  const suffix = list === undefined ? '' : `#${key}`;
  const click = (
    label: string,
    verb: Verb,
    spec: { style?: 'primary'; confirm?: typeof CLOSING } = {},
  ): Button => button(label, `episode:${verb}${suffix}`, { value: { key, id, owner, list }, ...spec });
  const own =
    owner === undefined
      ? [click('I’m on it', 'claim', { style: 'primary' })]
      : [click('Hand back', 'release'), click('Take over', 'claim')];
  return buttons(...own, again, click('Close', 'close', { confirm: CLOSING }));
}

const CLOSING = {
  title: 'Close this failure?',
  text: 'Its message will say that you closed it, and will not change when the project recovers. The next failure starts a new message.',
  confirm: 'Close',
};
