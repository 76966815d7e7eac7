import type { Button } from '@slack/types';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count, dateTime, duration, linesWithin, mrkdwn, timeOnly } from '../../core/mrkdwn.ts';
import type { Episode, News, Subject } from '../../records/episodes.ts';
import { LIMITS } from '../blocks/limits.ts';
import { button, buttons, context, say, section } from '../blocks/message.ts';
import { itemLines, planOf } from '../test-access/items.ts';

type Ended = NonNullable<Episode['ending']>['kind'] | undefined;

const ICONS: Readonly<Record<NonNullable<Ended>, string>> = {
  recovered: ':large_green_circle:',
  closed: ':white_circle:',
};

const SUBJECTS: Readonly<Record<Subject['kind'], string>> = {
  deployments: 'Deployments',
  reachability: 'Reachability',
};

/** The one message of an episode. @param key the subject's */
export function episodeRoot(key: string, subject: Subject, episode: Episode): Message {
  const { name, account, kind } = subject;
  const { owner, ending, first, latest } = episode;
  const words = stateWords(episode);
  const isOpen = ending === undefined;
  const icon = isOpen ? ':rotating_light:' : ICONS[ending.kind];
  const onIt = isOpen && owner !== undefined ? [`:raising_hand: <@${owner}> is on it`] : [];
  const tasks = isOpen ? (episode.items ?? []).map((item) => ({ ...item, status: 'error' as const })) : [];
  const details = first.join('\n') !== latest.join('\n') ? [...first, ...latest] : latest;
  const build = (failed: readonly KnownBlock[]): Message => ({
    text: `${mrkdwn(name, 80)} ${words}`,
    blocks: [
      section(linesWithin([`${icon} ${bold(name)} ${words}`, ...onIt, ...details], LIMITS.sectionText)),
      ...failed,
      context(`${SUBJECTS[kind]} in ${code(account)}`),
      ...(isOpen ? buttonsOf(key, subject, episode) : []),
    ],
  });
  if (tasks.length === 0) return build([]);
  return { ...build(planOf(tasks)), fallback: () => build([section(itemLines(tasks))]) };
}

/** What the thread has of a failure after the first, or of the recovery. */
export function episodeReply({ kind, number, lines }: News): Message {
  const heading =
    kind === 'failure' ? `:rotating_light: Failure ${number}` : ':large_green_circle: Recovered';
  return say(linesWithin([heading, ...lines], LIMITS.sectionText));
}

/** "is failing since 14:02", "is failing, 3 failures since 14:02", "recovered after 38 min (3 failures)"; mrkdwn. */
export function stateWords({ failures, since, newsAt, ending }: Episode): string {
  const amount = count(failures, 'failure');
  switch (ending?.kind) {
    case 'recovered':
      return `recovered after ${roughly(ending.at - since)} (${amount})`;
    case 'closed':
      return `closed: no news for 7 days (${amount})`;
    default: {
      const from = newsAt - since > 12 * HOUR_MS ? dateTime(since) : timeOnly(since);
      return failures === 1 ? `is failing since ${from}` : `is failing, ${amount} since ${from}`;
    }
  }
}

/** Under what a watch of one's own posts. */
export function muteButtons(account: string): KnownBlock[] {
  return buttons(button('Mute for today', 'watch:mute', { value: { account } }));
}

function roughly(ms: number): string {
  return duration(ms < MINUTE_MS ? ms : Math.round(ms / MINUTE_MS) * MINUTE_MS);
}

/** In a direct message nobody else could be on it. */
function buttonsOf(key: string, { person, account }: Subject, { id, owner }: Episode): KnownBlock[] {
  if (person !== undefined) return muteButtons(account);
  const click = (label: string, verb: string, style?: 'primary'): Button =>
    button(label, `episode:${verb}`, { value: { key, id, owner }, ...(style && { style }) });
  if (owner === undefined) return buttons(click('I’m on it', 'claim', 'primary'));
  return buttons(click('Hand back', 'release'), click('Take over', 'claim'));
}
