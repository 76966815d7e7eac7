import type { KnownBlock, Message } from '../../core/message.ts';
import { code, count } from '../../core/mrkdwn.ts';
import { type ButtonSpec, buttons, context, header, say, section } from '../blocks/message.ts';
import { dateOnly, dateTime } from '../blocks/time.ts';
import { digestWords, type ShownDigest } from './words.ts';

/** A digest as the list shows it. Times are milliseconds since the epoch; reasons are mrkdwn of our own making. */
export interface ListedDigest extends ShownDigest {
  state: { kind: 'active' } | { kind: 'paused'; reason: string; by?: string | undefined; at: number };
  snoozedUntil?: number | undefined;
  next?: number | undefined;
  last?: { at: number; outcome: LastOutcome; reason?: string | undefined } | undefined;
}

type LastOutcome = 'posted' | 'late' | 'quiet' | 'snoozed' | 'failed' | 'missed';

/** Two blocks each, within Slack's 50. */
const MOST = 20;

export function digestListMessage(
  digests: readonly ListedDigest[],
  { scope, elsewhere, word }: { scope: 'here' | 'all'; elsewhere: number; word: string },
): Message {
  const others =
    elsewhere === 0 ? '' : ` ${count(elsewhere, 'other')} elsewhere: ${code(`${word} digest list all`)}.`;
  if (digests.length === 0)
    return say(`There is no digest here yet. Set one up with ${code(`${word} digest add`)}.${others}`);
  const title = scope === 'all' ? 'Digests of this workspace' : 'Digests of this channel';
  const left = digests.length - MOST;
  const notes = [
    ...(left > 0 ? [`and ${count(left, 'more digest')}, which go by their id`] : []),
    `Add one with ${code(`${word} digest add`)}.${others}`,
  ];
  return {
    text: `${title}: ${digests.map(({ id }) => id).join(', ')}`.slice(0, 3000),
    blocks: [
      header(title),
      ...digests.slice(0, MOST).flatMap((digest) => listedBlocks(digest, scope)),
      context(...notes),
    ],
  };
}

function listedBlocks(digest: ListedDigest, scope: 'here' | 'all'): KnownBlock[] {
  const { id, channel, setUpBy, setUpAt } = digest;
  const where = scope === 'all' ? `  in <#${channel}>` : '';
  const lines = [
    `${code(id)}${where}  ${digestWords(digest)}`,
    stateWords(digest),
    `${lastWords(digest)} Set up by <@${setUpBy}> ${dateOnly(setUpAt)}.`,
  ];
  return [section(lines.join('\n')), ...buttonsOf(digest, scope)];
}

function stateWords({ state, snoozedUntil, next }: ListedDigest): string {
  if (state.kind === 'paused') {
    const by = state.by === undefined ? '' : ` by <@${state.by}>`;
    return `:double_vertical_bar: Paused${by} ${dateTime(state.at)}: ${state.reason}.`;
  }
  const when = next === undefined ? '' : `Next ${dateTime(next)}.`;
  return snoozedUntil === undefined ? when : `:zzz: Snoozed until ${dateTime(snoozedUntil)}. ${when}`;
}

const LAST_WORDS: Readonly<Record<LastOutcome, string>> = {
  posted: 'posted',
  late: 'posted late',
  quiet: 'silent, as nothing was deployed',
  snoozed: 'left out, as it was snoozed',
  failed: 'failed',
  missed: 'left out, as it came more than 12 h late',
};

function lastWords({ last }: ListedDigest): string {
  if (last === undefined) return 'Not posted yet.';
  const reason = last.reason === undefined ? '' : `: ${last.reason}`;
  return `Last ${dateTime(last.at)}: ${LAST_WORDS[last.outcome]}${reason}.`;
}

function buttonsOf({ id, state, snoozedUntil }: ListedDigest, scope: 'here' | 'all'): KnownBlock[] {
  const value = { id, list: scope };
  const isAsleep = state.kind === 'paused' || snoozedUntil !== undefined;
  const change: ButtonSpec = isAsleep
    ? { label: 'Resume', actionId: 'digest:resume', value }
    : { label: 'Pause', actionId: 'digest:pause', value };
  return buttons(
    change,
    { label: 'Preview', actionId: 'digest:preview', value: { id } },
    {
      label: 'Remove',
      actionId: 'digest:remove',
      style: 'danger',
      value,
      confirm: { title: 'Remove this digest?', text: 'It is posted no more.', confirm: 'Remove' },
    },
  );
}
