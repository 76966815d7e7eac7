import { z } from 'zod';
import { code } from '../../core/mrkdwn.ts';
import { type Paused, type Schedule, StoredMessage } from '../../records/schedules.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { pausedMessage } from '../../views/schedules/schedule.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver } from '../deliver.ts';
import { pauseSchedule, type ScheduleKind } from './lifecycle.ts';

/** Why a schedule posts nothing any more. */
export type Reason = Pick<Paused, 'cause' | 'reason'>;

export interface Pausing {
  kind: ScheduleKind;
  schedule: Schedule;
  why: Reason;
}

interface PauseNotice {
  /** Names what paused the schedules, so that each owner is notified once. */
  causeId: string;
  /** What each owner can do, a sentence. */
  next(theirs: readonly Schedule[]): string;
}

/** Pauses the active schedules of a kind that a reason concerns. */
export async function pauseWhere(
  workspace: Workspace,
  kind: ScheduleKind,
  { concerns, why, causeId }: { concerns(schedule: Schedule): boolean; why: Reason; causeId: string },
): Promise<void> {
  const concerned = (await kind.list(workspace)).filter(
    (schedule) => schedule.state.kind === 'active' && concerns(schedule),
  );
  const pausing = concerned.map((schedule) => ({ kind, schedule, why }));
  await pauseAndNotify(workspace, pausing, {
    causeId,
    next: (theirs) => resumeSentence(workspace, theirs),
  });
}

/**
 * Pauses active schedules for one reason, and notifies each person who set some up. The notices are stored first: what is
 * paused by the time this is repeated after a kill has its own already.
 */
export async function pauseAndNotify(
  workspace: Workspace,
  pausing: readonly Pausing[],
  { causeId, next }: PauseNotice,
): Promise<void> {
  for (const [user, theirs] of Map.groupBy(pausing, ({ schedule }) => schedule.setUpBy)) {
    const [first] = theirs;
    if (first === undefined) continue;
    const schedules = theirs.map(({ schedule }) => schedule);
    const what = schedules.map((schedule) => schedule.what);
    const message = pausedMessage({ reason: first.why.reason, what, next: next(schedules) });
    const { channel } = first.schedule;
    await notifyOwner(workspace, { id: `${causeId} ${user}`, user, message, channel });
  }
  const at = workspace.clock.now();
  for (const { kind, schedule, why } of pausing)
    await pauseSchedule(workspace, kind, schedule, { kind: 'paused', ...why, at });
  if (pausing.length > 0) await workspace.home.refresh();
}

/**
 * Pauses active schedules of direct messages whose person may no longer use Deckhand, without a word to them.
 * @returns true if it paused something
 */
export async function pauseIfExcluded(
  workspace: Workspace,
  kind: ScheduleKind,
  concerns: (schedule: Schedule) => boolean,
): Promise<boolean> {
  const concerned = (await kind.list(workspace)).filter(
    (schedule) => schedule.state.kind === 'active' && concerns(schedule),
  );
  let isPaused = false;
  for (const schedule of concerned) {
    const { setUpBy, name: target } = schedule;
    if ((await workspace.roles.excluded(setUpBy)) === undefined) continue;
    const reason = `<@${setUpBy}> may not use Deckhand`;
    const at = workspace.clock.now();
    await pauseSchedule(workspace, kind, schedule, { kind: 'paused', cause: 'person', reason, at });
    await workspace.audit.record({ who: 'Deckhand', what: `pause ${kind.command}`, target, result: 'done' });
    isPaused = true;
  }
  return isPaused;
}

/** "Once this is fixed, resume it with `/deckhand digest resume d7k2`." */
function resumeSentence({ word }: Pick<Workspace, 'word'>, paused: readonly Schedule[]): string {
  const commands = [...new Set(paused.map(({ resume }) => resume))].slice(0, 5);
  const typed = commands.map((command) => code(`${word} ${command}`, 120));
  return `Once this is fixed, resume ${paused.length === 1 ? 'it' : 'them'} with ${typed.join(', ')}.`;
}

const OwnerNotice = z.object({
  /** The same for each repetition, so that it is sent once. */
  id: z.string(),
  user: z.string(),
  message: StoredMessage,
  /** Where it is posted when the person has left. */
  channel: z.string(),
});
type OwnerNotice = z.infer<typeof OwnerNotice>;

/** Writes to the person who set something up, once, by direct message, or in its channel where they have left. */
export async function notifyOwner({ jobs }: Pick<Workspace, 'jobs'>, notice: OwnerNotice): Promise<void> {
  await jobs.send(OWNER_NOTICES, notice, { key: notice.id });
}

export const OWNER_NOTICES = defineJob({
  queue: 'late-notices',
  schema: OwnerNotice,
  // A week of attempts: where a policy refuses every message, the owner is notified once one is let through again.
  options: { concurrency: 20, attempts: 170, backoffMs: 60_000 },
  async run(workspace, { data: { id, user, channel, message }, signal }) {
    const direct = workspace.slack
      .openDirect(user)
      .then((dm) => deliver(workspace, { id, channel: dm, message, signal }));
    const sent = await undefinedOnSlackError(direct, 'gone', 'forbidden', 'rejected');
    if (sent === undefined) await deliver(workspace, { id: `${id} here`, channel, message, signal });
  },
  async onDeadLetter({ log }, { user, channel }, err) {
    log.warn(
      { event: 'owner_not_told', user, channel, err },
      'Neither the owner nor the channel could be notified for a week',
    );
  },
});
