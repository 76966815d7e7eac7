import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { buttons, say } from '../blocks/message.ts';
import { dateTime } from '../blocks/time.ts';
import { digestCommand, digestWords, type ShownDigest } from './words.ts';

/** What a channel is told when somebody changes one of its digests. `user` is who did it; times are ms since the epoch. */

export function digestAddedMessage(digest: ShownDigest, next: readonly number[], word: string): Message {
  const times = next.map((at) => dateTime(at)).join(', ');
  return say(
    `:calendar: <@${digest.setUpBy}> set up the digest ${code(digest.id)}, ${digestWords(digest)}. Next: ${times}. See all with ${code(`${word} digest list`)}.`,
    ...buttons({ label: 'Preview', actionId: 'digest:preview', value: { id: digest.id } }),
  );
}

export function digestPausedMessage(id: string, user: string, word: string): Message {
  return say(
    `:double_vertical_bar: <@${user}> paused the digest ${code(id)}. Resume it with ${code(`${word} digest resume ${id}`)}.`,
    ...buttons({ label: 'Resume', actionId: 'digest:resume', value: { id } }),
  );
}

export function digestResumedMessage(id: string, user: string, next: number | undefined): Message {
  const when = next === undefined ? '' : ` Next ${dateTime(next)}.`;
  return say(`:arrow_forward: <@${user}> resumed the digest ${code(id)}.${when}`);
}

export function digestSnoozedMessage(id: string, user: string, until: number, word: string): Message {
  return say(
    `:zzz: <@${user}> snoozed the digest ${code(id)} until ${dateTime(until)}. Wake it with ${code(`${word} digest resume ${id}`)}.`,
    ...buttons({ label: 'Resume', actionId: 'digest:resume', value: { id } }),
  );
}

export function digestRemovedMessage(digest: ShownDigest, user: string, word: string): Message {
  const again = code(`${word} ${digestCommand(digest)}`, 500);
  return say(
    `:wastebasket: <@${user}> removed the digest ${code(digest.id)}. This sets it up again: ${again}`,
  );
}
