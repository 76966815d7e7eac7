import type { Message } from '../../core/message.ts';
import { code, linesWithin } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { buttons, context, say } from '../blocks/message.ts';
import { dateTime } from '../blocks/time.ts';

/** A channel that is told of an account's invoices, as people are shown it. Times in milliseconds since the epoch. */
export interface ShownBillingChannel {
  account: string;
  setBy: string;
  setAt: number;
  state: { kind: 'active' } | { kind: 'paused'; reason: string; at: number };
  last?: { at: number; said: string } | undefined;
  /** When the service answered last. */
  lookedAt?: number | undefined;
  /** Looks in a row that failed. */
  failures: number;
}

/** The invoice notices of an account in a channel. */
export interface PlacedNotices {
  id: string;
  channel: string;
  account: string;
}

export function notifyOnMessage(account: string, user: string, isResumed: boolean, word: string): Message {
  const begun = isResumed ? 'is told again' : 'is told from now on';
  return say(
    `:receipt: This channel ${begun} of invoices of ${code(account)}: new ones, paid ones, and those still unpaid after 7 and 14 days.`,
    context(
      `<@${user}> ${isResumed ? 'resumed it' : 'set it up'}`,
      `stop with ${code(`${word} invoices notify off`)}`,
    ),
  );
}

export function notifyOffMessage(accounts: readonly string[], user: string): Message {
  const of = accounts.slice(0, 20).map((account) => code(account));
  return say(`:no_bell: <@${user}> stopped the invoice notices of ${of.join(', ')} in this channel.`);
}

/** For whoever paused them elsewhere than in that channel. `id` is the schedule's. */
export function notifyPausedMessage({ id, channel, account }: PlacedNotices, word: string): Message {
  const resume = code(`${word} invoices notify here --account ${account}`, 120);
  return say(
    `:double_vertical_bar: The invoice notices of ${code(account)} in <#${channel}> are paused. What comes meanwhile is told once they go on. Resume them there with ${resume}.`,
    ...buttons({ label: 'Resume', actionId: 'invoices:resume', value: { id } }),
  );
}

export function notifyResumedMessage({ channel, account }: PlacedNotices): Message {
  return say(`:arrow_forward: The invoice notices of ${code(account)} in <#${channel}> go on.`);
}

/** Who set it up, when, and what came of it. */
export function notifyStateMessage(channels: readonly ShownBillingChannel[], word: string): Message {
  if (channels.length === 0)
    return say(`This channel is told of no invoices. Begin with ${code(`${word} invoices notify here`)}.`);
  const lines = channels.map((channel) => stateLines(channel, word));
  return say(linesWithin(lines, LIMITS.sectionText, 'more accounts'));
}

function stateLines(shown: ShownBillingChannel, word: string): string {
  const { account, last, lookedAt, setAt, setBy, state, failures } = shown;
  const looked = lookedAt === undefined ? 'not looked yet' : `looked last ${dateTime(lookedAt)}`;
  const resume = code(`${word} invoices notify here --account ${account}`, 120);
  const stands =
    state.kind === 'paused'
      ? `:double_vertical_bar: Paused ${dateTime(state.at)}: ${state.reason}. Resume it with ${resume}.`
      : failures < 2
        ? `Active, ${looked}`
        : `:warning: The service does not answer, ${looked}; I keep trying`;
  return [
    `:receipt: This channel is told of invoices of ${code(account)}. Set up by <@${setBy}> ${dateTime(setAt)}`,
    last === undefined ? 'Nothing was posted yet' : `Last: ${last.said}, ${dateTime(last.at)}`,
    stands,
  ].join('\n');
}
