import type { Message } from '../../core/message.ts';
import { cut, linesWithin } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { say } from '../blocks/message.ts';

/** Sent once to the person who set up what is paused now. All mrkdwn of our own making. */
export function pausedMessage(paused: {
  /** Half a sentence: "the channel is archived". */
  reason: string;
  /** E.g. "the digest `d7k2` in <#C1>". */
  what: readonly string[];
  /** What to do, a sentence. */
  next: string;
}): Message {
  const { reason, what, next } = paused;
  const [only = ''] = what;
  if (what.length === 1)
    return say(
      cut(`:double_vertical_bar: Deckhand paused ${only}, because ${reason}. ${next}`, LIMITS.sectionText),
    );
  const lines = linesWithin(
    what.map((one) => `• ${one}`),
    LIMITS.sectionText - 600,
  );
  return say(`:double_vertical_bar: Deckhand paused what you set up, because ${reason}. ${next}\n${lines}`);
}
