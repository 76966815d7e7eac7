import { z } from 'zod';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, count, dateTime, truncate } from '../../core/mrkdwn.ts';
import type { LastResult, Paused, ScheduleState } from '../../records/schedules.ts';
import { LIMITS } from '../blocks/limits.ts';
import { context, headed, say, section } from '../blocks/message.ts';
import { type ScheduleFace, scheduleButtons } from './card.ts';

/** How much a list shows; its buttons carry it, so that they draw the same list anew. */
export const LIST_SCOPES = ['here', 'all'] as const;
export type ListScope = (typeof LIST_SCOPES)[number];

/** The message whose button opened a form: the schedule's own card, or a list. */
export const OpenedFrom = z.object({
  channel: z.string(),
  ts: z.string(),
  /** Undefined for a card. */
  list: z.enum(LIST_SCOPES).optional(),
});
export type OpenedFrom = z.infer<typeof OpenedFrom>;

export interface ScheduleListing {
  scope: ListScope;
  /** How many of other channels are not listed. */
  elsewhere: number;
  /** How many records of the kind cannot be read. */
  unreadable?: number;
  /** The slash word. */
  word: string;
  /** What was removed by a button of the list, with "Undo". */
  removed?: Message | undefined;
}

export interface ListedSchedule {
  id: string;
  isAsleep: boolean;
  lines: readonly string[];
}

/** Two blocks each, within Slack's 50. */
const MOST = 20;
/** Of the rows as JSON: Slack refuses messages whose blocks are longer than some 13,000 characters. */
const MAX_ROWS = 12_000;

/** Schedules of one kind, each with its buttons. */
export function scheduleList(
  face: ScheduleFace,
  listed: readonly ListedSchedule[],
  { scope, elsewhere, unreadable = 0, word, removed }: ScheduleListing,
): Message {
  const add = code(`${word} ${face.commands.add}`);
  const all = code(`${word} ${face.commands.list} all`);
  const others = elsewhere === 0 ? '' : ` ${count(elsewhere, 'other')} elsewhere: ${all}.`;
  const bad =
    unreadable > 0 &&
    `:warning: ${count(unreadable, face.noun, face.plural)} cannot be read. ${code(`${word} doctor`)} names what is wrong.`;
  const undo = removed?.blocks ?? [];
  if (listed.length === 0) {
    const where = scope === 'here' ? 'This channel' : 'This workspace';
    return say(
      `${where} has no ${face.noun} yet. Set one up with ${add}.${others}`,
      ...(bad === false ? [] : [context(bad)]),
      ...undo,
    );
  }
  const title = `${count(listed.length, face.noun, face.plural)} of this ${scope === 'all' ? 'workspace' : 'channel'}`;
  const rows = listed
    .slice(0, MOST)
    .map(({ lines, ...one }): KnownBlock[] => [
      section(truncate(lines.join('\n'), LIMITS.sectionText)),
      ...scheduleButtons({ face, ...one }, scope),
    ]);
  let length = 0;
  const shown = rows.filter((row) => {
    length += JSON.stringify(row).length;
    return length <= MAX_ROWS;
  });
  const left = listed.length - shown.length;
  const more = left > 0 && `and ${left} more; list them in their own channels`;
  return headed(title, ...shown.flat(), context(more, bad, `Add one with ${add}.${others}`), ...undo);
}

/** "Paused by <@U1> today at 09:00." or "Paused today at 09:00: the channel is archived." */
export function pausedWords({ by, at, reason }: Paused): string {
  const when = by === undefined ? `${dateTime(at)}: ${reason}` : `by <@${by}> ${dateTime(at)}`;
  return `:double_vertical_bar: Paused ${when}.`;
}

/** After "paused": the person who did it, else Deckhand's reason. */
export function whyPaused({ by, reason }: Pick<Paused, 'by' | 'reason'>): string {
  return by === undefined ? `because ${reason}` : `by <@${by}>`;
}

/** How polling goes. */
export interface ShownPolling {
  /** When the service answered last, milliseconds since the epoch; undefined before that. */
  lookedAt?: number | undefined;
  /** Polls in a row that failed. */
  failures: number;
}

/** What a polled schedule posted last, and its state. */
export function polledLines(
  state: ScheduleState,
  { lookedAt, failures }: ShownPolling,
  last: LastResult | undefined,
): string[] {
  const checked = lookedAt === undefined ? 'not checked yet' : `last checked ${dateTime(lookedAt)}`;
  const active =
    failures < 2
      ? `Active, ${checked}.`
      : `:warning: The service does not answer, ${checked}; Deckhand keeps trying.`;
  return [
    last === undefined ? 'Nothing was posted yet.' : `Last: ${last.said}, ${dateTime(last.at)}.`,
    state.kind === 'paused' ? pausedWords(state) : active,
  ];
}
