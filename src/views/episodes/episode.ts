import type { Button } from '@slack/types';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, count, dateTime, joinLinesWithin, link, mrkdwn, timeOnly } from '../../core/mrkdwn.ts';
import { HOUR_MS } from '../../core/time/clock.ts';
import type { Episode, News, ShownSubject, Subject, Verb } from '../../records/episodes.ts';
import { roughly } from '../blocks/formats.ts';
import { button, buttons, context, LIMITS, safeUrl, say, section } from '../blocks/message.ts';
import { drawPlan, itemLines } from '../test-access/items.ts';

type Ended = NonNullable<Episode['ending']>['kind'] | undefined;

const ICONS: Readonly<Record<NonNullable<Ended>, string>> = {
  recovered: ':large_green_circle:',
  closed: ':white_circle:',
};

const PAUSED_NOTE = ':double_vertical_bar: Paused in this channel, so news may be missing here.';

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
      context(where, isOpen && episode.isPaused === true && PAUSED_NOTE),
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

/** Thread reply about a failure that nobody has taken for a day. */
export function reminderReply(subject: ShownSubject, episode: Episode): Message {
  const { title } = describeEpisode(subject, episode);
  return say(`:alarm_clock: ${title}. Nobody has been on it for a day. “I’m on it” above says that you are.`);
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
    return { title: `${name} ${describeClosing(ending)} (${amount})`, more: '' };
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

function describeClosing({ requestedBy, why }: NonNullable<Episode['ending']>): string {
  if (requestedBy !== undefined) return `closed by <@${requestedBy}>`;
  if (why === 'gone') return 'is no longer listed at the service';
  return why === 'unfollowed' ? 'is no longer followed here' : 'closed: no news for 7 days';
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

/** Buttons under a message of a personal watch. */
export function muteButtons(account: string): KnownBlock[] {
  return buttons(button('Mute for today', 'watch:mute', { value: { account } }));
}

/**
 * In a direct message, nobody else could take the failure.
 * @param list the list that contains the buttons, if not the root
 */
export function drawEpisodeButtons(
  key: string,
  subject: Subject,
  { id, owner, failures }: Episode,
  list?: string,
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
