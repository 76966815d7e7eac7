import { z } from 'zod';
import { isDirect } from '../../core/direct.ts';
import { code } from '../../core/mrkdwn.ts';
import { type Paused, type Schedule, StoredMessage } from '../../records/schedules.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import {
  facePrefix,
  type PausedSchedule,
  pausedLine,
  pausedMessage,
  resumedLine,
} from '../../views/schedules/schedule.ts';
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
  /** Names what paused the schedules, so that each owner and channel is notified once. */
  causeId: string;
  /** What people can do, a sentence; by default they resume them once it is fixed. */
  next?(paused: readonly Schedule[]): string;
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
  await pauseAndNotify(workspace, pausing, { causeId });
}

/**
 * Pauses active schedules for one reason. Each person who set some up is notified, and each channel with one line: silence
 * must not look as if all were well. The notices are stored first: what is paused by the time this is repeated after a kill
 * has its own already.
 */
export async function pauseAndNotify(
  workspace: Workspace,
  pausing: readonly Pausing[],
  { causeId, next }: PauseNotice,
): Promise<void> {
  const schedulesOf = (some: readonly Pausing[]): Schedule[] => some.map(({ schedule }) => schedule);
  for (const [user, theirs] of Map.groupBy(pausing, ({ schedule }) => schedule.setUpBy)) {
    const schedules = schedulesOf(theirs);
    const reason = theirs[0]?.why.reason ?? '';
    const after = next?.(schedules) ?? 'Once this is fixed, press “Resume”.';
    const message = pausedMessage({ reason, paused: theirs.map(shown), next: after });
    await notifyOwner(workspace, { id: `${causeId} ${user}`, user, message });
  }
  for (const [channel, there] of Map.groupBy(pausing, ({ schedule }) => schedule.channel)) {
    // Its person has the notice above.
    if (isDirect(channel)) continue;
    const reason = there[0]?.why.reason ?? '';
    const after = next?.(schedulesOf(there)) ?? resumeSentence(workspace, schedulesOf(there));
    const message = pausedLine(there.map(shown), reason, after);
    await notifyOwner(workspace, { id: `${causeId} ${channel}`, channel, message });
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

/** Tells each channel, in one line, what goes on there again. @param reason half a sentence */
export async function notifyResumed(
  workspace: Workspace,
  resuming: readonly Pausing[],
  { causeId, reason }: { causeId: string; reason: string },
): Promise<void> {
  for (const [channel, there] of Map.groupBy(resuming, ({ schedule }) => schedule.channel)) {
    const message = resumedLine(there.map(shown), reason);
    await notifyOwner(workspace, { id: `${causeId} ${channel}`, channel, message });
  }
}

function shown({ kind, schedule }: Pausing): PausedSchedule {
  const { id, what, channel } = schedule;
  return { prefix: facePrefix(kind.command), id, what, channel };
}

/** "Once this is fixed, resume it with `/deckhand guard resume storefront`." */
function resumeSentence({ word }: Pick<Workspace, 'word'>, paused: readonly Schedule[]): string {
  const commands = [...new Set(paused.map(({ resume }) => resume))].slice(0, 5);
  const typed = commands.map((command) => code(`${word} ${command}`, 120));
  return `Once this is fixed, resume ${paused.length === 1 ? 'it' : 'them'} with ${typed.join(', ')}.`;
}

const OwnerNotice = z.object({
  /** The same for each repetition, so that it is sent once. */
  id: z.string(),
  /** Whom it is for; undefined for a channel. */
  user: z.string().optional(),
  message: StoredMessage,
  /** Where it is posted if there is no person, or they have left. */
  channel: z.string().optional(),
});
type OwnerNotice = z.infer<typeof OwnerNotice>;

/** Writes to a person once, by direct message, or else to a channel. */
export async function notifyOwner({ jobs }: Pick<Workspace, 'jobs'>, notice: OwnerNotice): Promise<void> {
  await jobs.send(OWNER_NOTICES, notice, { key: notice.id });
}

export const OWNER_NOTICES = defineJob({
  queue: 'late-notices',
  schema: OwnerNotice,
  // A week of attempts: where a policy refuses every message, the owner is notified once one is let through again.
  options: { concurrency: 20, attempts: 170, backoffMs: 60_000 },
  async run(workspace, { data: { id, user, channel, message }, signal }) {
    const here = (): Promise<unknown> =>
      deliver(workspace, { id: `${id} here`, channel: channel ?? '', message, signal });
    // Its channel may be why they are paused.
    if (user === undefined) return void (await undefinedOnSlackError(here(), 'gone', 'forbidden'));
    const direct = workspace.slack
      .openDirect(user)
      .then((dm) => deliver(workspace, { id, channel: dm, message, signal }));
    if (channel === undefined) return void (await undefinedOnSlackError(direct, 'gone'));
    const sent = await undefinedOnSlackError(direct, 'gone', 'forbidden', 'rejected');
    if (sent === undefined) await here();
  },
  async onDeadLetter({ log }, { user, channel }, err) {
    log.warn(
      { event: 'owner_not_told', user, channel, err },
      'Neither the owner nor the channel could be notified for a week',
    );
  },
});
