import type { Message } from '../../core/message.ts';
import { code, cut, linesWithin } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { say } from '../blocks/message.ts';

/** Told once to whoever set something up that is paused now. All mrkdwn of our own making. */
export function pausedMessage(told: {
  /** Half a sentence: "the channel is archived". */
  reason: string;
  /** E.g. "the digest `d7k2` in <#C1>". */
  what: readonly string[];
  /** What to do, a sentence. */
  next: string;
}): Message {
  const { reason, what, next } = told;
  const [only] = what;
  if (what.length === 1 && only !== undefined)
    return say(cut(`:double_vertical_bar: I paused ${only}, because ${reason}. ${next}`, LIMITS.sectionText));
  const lines = linesWithin(
    what.map((one) => `• ${one}`),
    LIMITS.sectionText - 600,
  );
  return say(`:double_vertical_bar: I paused what you set up, because ${reason}. ${next}\n${lines}`);
}

/** What resumes it, where it does not go on by itself. */
export function resumeSentence(word: string, command: string, once: string): string {
  return `${once} resume it with ${code(`${word} ${command}`, 120)}.`;
}
