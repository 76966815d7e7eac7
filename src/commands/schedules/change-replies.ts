import { showCard } from '../../cards/card.ts';
import type { CardReply, Change } from '../../core/message.ts';
import { dateTime, unmarked } from '../../core/mrkdwn.ts';
import type { Subject } from '../../records/episodes.ts';
import { findNextTime, type Schedule } from '../../records/schedules.ts';
import { removeSchedules } from '../../scheduler/schedules/remove-schedules.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { stoppedWords } from '../../views/episodes/episode.ts';
import {
  changeAnswer,
  changeLine,
  removedAnswer,
  type ScheduleChange,
} from '../../views/schedules/schedule.ts';
import { scheduleWords } from '../../views/schedules/words.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../context.ts';
import { replyPrivately } from '../replies.ts';

/** A change of schedules of one channel and kind. */
export interface DoneChange {
  schedules: readonly [Schedule, ...Schedule[]];
  done: ScheduleChange['done'];
  /** Name of the change in the audit log. */
  what: string;
  /** Further sentences for the person; mrkdwn. */
  note?: string | undefined;
  /** Open failures that a paused or removed watch or guard followed. */
  open?: readonly Subject[] | undefined;
  canBePushed?: boolean | undefined;
}

/** Replies to a change: the card of the channel shows it, its thread gets a line, and the person an answer. */
export function replyWithChange(
  { invocation, workspace }: CommandContext,
  { schedules, done, what, note, open = [], canBePushed }: DoneChange,
  options: Pick<CardReply, 'undo' | 'isDone'>,
): CardReply {
  const [schedule] = schedules;
  const { user, requestId: removal } = invocation;
  const { pages } = workspace;
  const next = note ?? describeNext(schedule, done, workspace.clock.now());
  const answer =
    done === 'removed'
      ? removedAnswer(schedules, removal, pages)
      : changeAnswer({ schedule, canBePushed }, { done, note: next, pages });
  return {
    kind: 'card',
    channel: schedule.channel,
    line: {
      name: removal,
      message: changeLine(schedules, { done, user, note: stoppedWords(open), pages }),
      isForChannel: isForChannel(schedules, done),
    },
    answer: replyPrivately(answer),
    audit: schedules.map((one) => describeChange(what, one)),
    ...options,
  };
}

/** True for a watch or guard that a person pauses or removes: an edit notifies nobody. */
function isForChannel(schedules: readonly Schedule[], done: ScheduleChange['done']): boolean {
  const isStopped = done === 'paused' || done === 'removed';
  return isStopped && schedules.some(({ kind }) => kind === 'watch' || kind === 'guard');
}

/** Replies to a new schedule, which is removed if Slack does not take the card of its channel. */
export function replyWithNew(
  context: CommandContext,
  schedule: Schedule,
  what: string,
  details: Pick<DoneChange, 'note' | 'canBePushed'> = {},
): CardReply {
  const undo = () => removeSchedules(context.workspace, [schedule], context.invocation.requestId);
  return replyWithChange(context, { schedules: [schedule], done: 'set up', what, ...details }, { undo });
}

/** Replies to a saved form. */
export async function replyWithEdited(
  context: CommandContext,
  edited: Schedule,
  details: Pick<DoneChange, 'what' | 'note'>,
): Promise<CardReply> {
  await retireCard(context.workspace, edited);
  const change = { schedules: [edited], done: 'edited', ...details } as const;
  return replyWithChange(context, change, { isDone: true });
}

/** Takes the buttons off the message that release 1.0.0 posted about a schedule. */
export async function retireCard(workspace: Workspace, { kind, id, channel, card }: Schedule): Promise<void> {
  if (card === undefined) return;
  await workspace.schedules.change({ kind, id }, (current) => ({ ...current, card: undefined }));
  const ref = { channel, ts: card.ts };
  const old = { id: `card ${ref.ts}`, channel, ref, root: say(card.text), cause: 'replaced' };
  await showCard(workspace, { ...old, ifRefused: 'leave' });
}

/** Says when a schedule by the clock runs next, after a change; mrkdwn. */
function describeNext(schedule: Schedule, done: ScheduleChange['done'], now: number): string | undefined {
  if (schedule.kind === 'guard') {
    const next = done === 'set up' ? undefined : findNextTime(schedule, now);
    return next === undefined ? undefined : `The next run is ${dateTime(next)}.`;
  }
  if (!('cadence' in schedule) || ['removed', 'paused', 'restored'].includes(done)) return undefined;
  const { snoozedUntil } = schedule;
  if (done === 'snoozed')
    return snoozedUntil === undefined ? undefined : `It is back after ${dateTime(snoozedUntil)}.`;
  const next = findNextTime({ ...schedule, snoozedUntil: 0 }, now);
  return next === undefined ? undefined : `The next one is ${dateTime(next)}.`;
}

/** A change of a schedule for the audit log. */
export function describeChange(what: string, schedule: Schedule): Change {
  return { what, where: schedule.channel, target: unmarked(scheduleWords(schedule)) };
}
