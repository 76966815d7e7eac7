import type { Message } from '../../core/message.ts';
import { code, linesWithin } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { say } from '../blocks/message.ts';
import { dateTime } from '../blocks/time.ts';
import { polledLines, type ShownPolling, type ShownState } from '../schedules/list.ts';

/** The invoice notices of a channel, as people are shown them. Times in milliseconds since the epoch. */
export interface ShownBillingChannel extends ShownPolling {
  account: string;
  setBy: string;
  setAt: number;
  state: ShownState;
  last?: { at: number; said: string } | undefined;
}

export const NOTICE_WORDS = 'for new invoices, paid ones, and those unpaid after 7 and 14 days';

/** Who set them up, when, and what came of them. */
export function notifyStateMessage(channels: readonly ShownBillingChannel[], word: string): Message {
  if (channels.length === 0)
    return say(
      `This channel gets no invoice notices. Set them up with ${code(`${word} invoices notify here`)}.`,
    );
  const lines = channels.map((channel) => stateLines(channel, word));
  return say(linesWithin(lines, LIMITS.sectionText, 'more accounts'));
}

function stateLines(
  { account, last, setAt, setBy, state, ...polling }: ShownBillingChannel,
  word: string,
): string {
  const resume = code(`${word} invoices notify here --account ${account}`, 120);
  return [
    `:receipt: This channel gets invoice notices of ${code(account)}. Set up by <@${setBy}> ${dateTime(setAt)}.`,
    ...polledLines(state, polling, last),
    ...(state.kind === 'paused' ? [`Resume them with ${resume}.`] : []),
  ].join('\n');
}
