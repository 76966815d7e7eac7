import type { Button } from '@slack/types';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, count, dateTime, duration, linesWithin, mrkdwn, timeOnly } from '../../core/mrkdwn.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/time/clock.ts';
import type { Episode, News, Subject, Verb } from '../../records/episodes.ts';
import { button, buttons, context, LIMITS, safeUrl, say, section } from '../blocks/message.ts';
import { itemLines, planOf } from '../test-access/items.ts';

type Ended = NonNullable<Episode['ending']>['kind'] | undefined;

const ICONS: Readonly<Record<NonNullable<Ended>, string>> = {
  recovered: ':large_green_circle:',
  closed: ':white_circle:',
};

/** The one message of an episode. @param key the subject's @param projectUrl the project's page at the service */
export function episodeRoot(key: string, subject: Subject, episode: Episode, projectUrl?: string): Message {
  const { name, account, kind } = subject;
  const { owner, ending, first, latest, items = [] } = episode;
  const isOpen = ending === undefined;
  const icon = isOpen ? ':rotating_light:' : ICONS[ending.kind];
  const onIt = isOpen && owner !== undefined ? [`:raising_hand: <@${owner}> is on it`] : [];
  const isReachability = kind === 'reachability';
  const tasks = isOpen && isReachability ? items.map((item) => ({ ...item, status: 'error' as const })) : [];
  const failures = first.join('\n') === latest.join('\n') ? latest : [...first, ...latest];
  const url = safeUrl(projectUrl);
  const where = url === undefined ? code(account) : `<${url}|${mrkdwn(name, 80)} in ${mrkdwn(account)}>`;
  const { title, more } = describeEpisode(subject, episode);
  const build = (failed: readonly KnownBlock[]): Message => ({
    text: `${title}${more}`,
    blocks: [
      section(
        linesWithin(
          [`${icon} *${title}*${more}`, ...onIt, ...(isReachability ? [] : failures)],
          LIMITS.sectionText,
        ),
      ),
      ...failed,
      context(where),
      ...(isOpen ? buttonsOf(key, subject, episode) : []),
    ],
  });
  if (tasks.length === 0) return build([]);
  return { ...build(planOf(tasks)), fallback: () => build([section(itemLines(tasks))]) };
}

/** What the thread has of a failure after the first, of the recovery, or of a click. */
export function episodeReply({ kind, number, lines, by = '' }: News): Message {
  const headings: Record<News['kind'], string> = {
    failure: `:rotating_light: Failure ${number}`,
    success: ':large_green_circle: Recovered',
    claim: `:raising_hand: <@${by}> is on it.`,
    release: `:wave: <@${by}> handed it back, so nobody is on it.`,
    close: `:white_circle: <@${by}> closed it. A further failure begins another message.`,
  };
  return say(linesWithin([headings[kind], ...lines], LIMITS.sectionText));
}

/**
 * "Storefront: web-3 is unreachable since 14:02", or "Storefront recovered after 38 min and 3 failures" with ": `4bcef3e`
 * by Grace Park. @Cleo was on it."; mrkdwn, the title without asterisks.
 */
export function describeEpisode(subject: Subject, episode: Episode): { title: string; more: string } {
  const { failures, since, newsAt, ending, owner } = episode;
  const name = withoutStars(subject.name, 80);
  const amount = count(failures, 'failure');
  if (ending?.kind === 'closed') {
    const how = ending.by === undefined ? 'closed: no news for 7 days' : `closed by <@${ending.by}>`;
    return { title: `${name} ${how} (${amount})`, more: '' };
  }
  if (ending !== undefined) {
    const by = ending.words ? `: ${ending.words}.` : '.';
    const wasOnIt = owner === undefined ? '' : ` <@${owner}> was on it.`;
    const title = `${name} recovered after ${roughly(ending.at - since)} and ${amount}`;
    return { title, more: `${by}${wasOnIt}` };
  }
  const further = failures === 1 ? '' : `, ${amount}`;
  const from = newsAt - since > 12 * HOUR_MS ? dateTime(since) : timeOnly(since);
  return { title: `${name}: ${describeFailing(subject, episode)}${further} since ${from}`, more: '' };
}

const MAX_NAMED = 3;

/** "deployments are failing", "web-1 and web-3 are unreachable" */
function describeFailing({ kind }: Subject, { items = [] }: Episode): string {
  if (kind === 'deployments') return 'deployments are failing';
  if (items.some(({ key }) => key === 'test')) return 'the test is failing';
  const names = items.map(({ key, title }) =>
    key === 'repository' ? 'the repository' : withoutStars(title, 40),
  );
  const others = names.length - MAX_NAMED + 1;
  const shown = names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED - 1), `${others} others`] : names;
  return `${new Intl.ListFormat('en-GB').format(shown)} ${names.length === 1 ? 'is' : 'are'} unreachable`;
}

/** For a text that stands in bold. */
function withoutStars(foreign: string, max: number): string {
  return mrkdwn(foreign, max).replaceAll('*', '∗');
}

/** Under what a watch of one's own posts. */
export function muteButtons(account: string): KnownBlock[] {
  return buttons(button('Mute for today', 'watch:mute', { value: { account } }));
}

function roughly(ms: number): string {
  return duration(ms < MINUTE_MS ? ms : Math.round(ms / MINUTE_MS) * MINUTE_MS);
}

/** In a direct message nobody else could be on it. */
function buttonsOf(key: string, subject: Subject, { id, owner }: Episode): KnownBlock[] {
  const { person, account, kind, name, project, permalink = project } = subject;
  const stable = project === permalink ? {} : { identifier: project };
  const target = { account, project: { ...stable, permalink, name } };
  const again = kind === 'reachability' && button('Test again', 'test:again', { value: { target } });
  if (person !== undefined) return again ? buttons(again) : muteButtons(account);
  const value = { key, id, owner };
  const click = (
    label: string,
    verb: Verb,
    spec: { style?: 'primary'; confirm?: typeof CLOSING } = {},
  ): Button => button(label, `episode:${verb}`, { value, ...spec });
  const own =
    owner === undefined
      ? [click('I’m on it', 'claim', { style: 'primary' })]
      : [click('Hand back', 'release'), click('Take over', 'claim')];
  return buttons(...own, again, click('Close', 'close', { confirm: CLOSING }));
}

const CLOSING = {
  title: 'Close this failure?',
  text: 'Its message will say that you closed it, and not when the project recovers. A further failure begins another message.',
  confirm: 'Close',
};
