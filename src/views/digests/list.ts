import type { Message } from '../../core/message.ts';
import { code, dateTime } from '../../core/mrkdwn.ts';
import type { Digest, SlotResult } from '../../records/digests.ts';
import { SCHEDULE_FACES } from '../schedules/card.ts';
import { pausedWords, type ScheduleListing, scheduleList } from '../schedules/list.ts';
import { digestWords } from './words.ts';

/** `next`: when it is posted next, milliseconds since the epoch; undefined while it is paused or has an unknown zone. */
export type ListedDigest = Digest & { next: number | undefined };

const LAST_WORDS: Readonly<Record<SlotResult['outcome'], string>> = {
  posted: 'posted',
  late: 'posted late',
  quiet: 'skipped, because there were no deployments',
  snoozed: 'skipped, because it was snoozed',
  failed: 'failed',
  missed: 'skipped, because it was more than 12 h late',
};

export function digestListMessage(digests: readonly ListedDigest[], listing: ScheduleListing): Message {
  const rows = digests.map((digest) => {
    const { id, channel, state, snoozedUntil, setUpBy, setUpAt } = digest;
    const where = listing.scope === 'all' ? `  in <#${channel}>` : '';
    const lines = [
      `${code(id)}${where}  ${digestWords(digest)}`,
      stateWords(digest),
      `${lastWords(digest)} Set up by <@${setUpBy}> ${dateTime(setUpAt)}.`,
    ];
    return { id, isAsleep: state.kind === 'paused' || snoozedUntil !== undefined, lines };
  });
  return scheduleList(SCHEDULE_FACES.digest, rows, listing);
}

function stateWords({ state, snoozedUntil, next }: ListedDigest): string {
  if (state.kind === 'paused') return pausedWords(state);
  const when = next === undefined ? '' : `Next ${dateTime(next)}.`;
  return snoozedUntil === undefined ? when : `:zzz: Snoozed until ${dateTime(snoozedUntil)}. ${when}`;
}

function lastWords({ last }: ListedDigest): string {
  if (last === undefined) return 'Not posted yet.';
  const reason = last.reason === undefined ? '' : `: ${last.reason}`;
  return `Last ${dateTime(last.at)}: ${LAST_WORDS[last.outcome]}${reason}.`;
}
