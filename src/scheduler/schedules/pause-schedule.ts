import { z } from 'zod';
import { deliver } from '../../cards/deliver.ts';
import { UserError } from '../../core/errors.ts';
import { isDirect } from '../../core/message.ts';
import { code, unmarked } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';
import { StoredMessage } from '../../records/feeds.ts';
import { isPersonal, type Paused, SCHEDULES_LOCK, type Schedule } from '../../records/schedules.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { pausedLine, pausedMessage, resumedLine } from '../../views/schedules/schedule.ts';
import { resumeCommand, scheduleWords } from '../../views/schedules/words.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** A schedule that is paused already keeps its reason. Returns undefined if it was removed. */
export function pauseSchedule(
  workspace: Workspace,
  schedule: Schedule,
  paused: Paused,
): Promise<Schedule | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, () =>
    workspace.schedules.change(schedule, (current) =>
      current.state.kind === 'paused' ? current : { ...current, state: paused },
    ),
  );
}

/** True if at least one of its accounts works. */
export function isServed(
  { account }: { account?: string | undefined },
  accounts: readonly Account[],
): boolean {
  return accounts.some(({ name, state }) => state === 'ok' && (account === undefined || name === account));
}

export const MAX_IN_CHANNEL = 50;
export const MAX_IN_WORKSPACE = 500;

/**
 * Call it within `SCHEDULES_LOCK`.
 * @param added number of schedules to add
 * @param areNew false if they come from another channel of the workspace
 * @throws UserError if the channel or the workspace would have more schedules than it may
 */
export async function expectRoomForSchedule(
  { schedules }: Pick<Workspace, 'schedules'>,
  channel: string,
  added = 1,
  areNew = true,
): Promise<void> {
  const all = (await schedules.all()).filter((schedule) => !isPersonal(schedule));
  const here = all.filter((one) => one.channel === channel).length;
  if (here + added > MAX_IN_CHANNEL)
    throw new UserError(
      `This channel has ${here} schedules, the most that it can have. Remove one first.`,
      'start',
    );
  if (areNew && all.length + added > MAX_IN_WORKSPACE)
    throw new UserError(
      `This workspace has ${all.length} schedules, the most that it can have. Remove one first.`,
      'list all',
    );
}

export type Reason = Pick<Paused, 'cause' | 'reason'>;

export interface Pausing {
  schedule: Schedule;
  why: Reason;
}

interface PauseNotice {
  /** Identifies the cause, so that each owner and channel is notified once. */
  causeId: string;
  /** Sentence that says what to do. Default: resume the schedules once the cause is fixed. */
  next?(paused: readonly Schedule[]): string;
}

export async function pauseActive(
  workspace: Workspace,
  schedules: readonly Schedule[],
  { why, causeId }: { why: Reason; causeId: string },
): Promise<void> {
  const active = schedules.filter(({ state }) => state.kind === 'active');
  const pausing = active.map((schedule) => ({ schedule, why }));
  await pauseAndNotify(workspace, pausing, { causeId });
}

/**
 * Pauses active schedules. Notifies each person who created some, and posts one line in each channel, so that
 * nobody takes silence for success. Stores the notices first: a schedule that is paused when this repeats
 * after a kill has its notice.
 */
export async function pauseAndNotify(
  workspace: Workspace,
  pausing: readonly Pausing[],
  { causeId, next }: PauseNotice,
): Promise<void> {
  for (const [user, theirs] of Map.groupBy(pausing, ({ schedule }) => schedule.createdBy)) {
    const paused = theirs.map(({ schedule }) => schedule);
    const reason = theirs[0]?.why.reason ?? '';
    const after = next?.(paused) ?? 'Once this is fixed, press “Resume”.';
    const message = pausedMessage({ reason, paused, next: after });
    await notifyOwner(workspace, { id: `${causeId} ${user}`, user, message });
  }
  for (const [channel, there] of Map.groupBy(pausing, ({ schedule }) => schedule.channel)) {
    // The person has got the notice above.
    if (isDirect(channel)) continue;
    const paused = there.map(({ schedule }) => schedule);
    const reason = there[0]?.why.reason ?? '';
    const message = pausedLine(paused, reason, next?.(paused) ?? resumeSentence(workspace, paused));
    await notifyOwner(workspace, { id: `${causeId} ${channel}`, channel, message });
  }
  const at = workspace.clock.now();
  for (const { schedule, why } of pausing)
    await pauseSchedule(workspace, schedule, { kind: 'paused', ...why, at });
  if (pausing.length > 0) await workspace.home.refresh();
}

/**
 * Pauses the active schedules among these whose creator may no longer use Deckhand. Sends them no notice.
 * @returns true if it paused something
 */
export async function pauseIfExcluded(
  workspace: Workspace,
  schedules: readonly Schedule[],
): Promise<boolean> {
  let isPaused = false;
  for (const schedule of schedules) {
    const { kind, createdBy, state } = schedule;
    if (state.kind === 'paused' || (await workspace.roles.excluded(createdBy)) === undefined) continue;
    const reason = `<@${createdBy}> may not use Deckhand`;
    const at = workspace.clock.now();
    await pauseSchedule(workspace, schedule, { kind: 'paused', cause: 'person', reason, at });
    const what = `pause ${SCHEDULE_FACES[kind].command}`;
    const target = unmarked(scheduleWords(schedule));
    await workspace.audit.record({ requestedBy: 'Deckhand', what, target, result: 'done' });
    isPaused = true;
  }
  return isPaused;
}

/** Posts one line in each channel that schedules resume. @param reason half a sentence */
export async function notifyResumed(
  workspace: Workspace,
  resuming: readonly Pausing[],
  { causeId, reason }: { causeId: string; reason: string },
): Promise<void> {
  for (const [channel, there] of Map.groupBy(resuming, ({ schedule }) => schedule.channel)) {
    const message = resumedLine(
      there.map(({ schedule }) => schedule),
      reason,
    );
    await notifyOwner(workspace, { id: `${causeId} ${channel}`, channel, message });
  }
}

/** "Once this is fixed, resume it with `/deckhand guard resume storefront`." */
function resumeSentence({ word }: Pick<Workspace, 'word'>, paused: readonly Schedule[]): string {
  const commands = [...new Set(paused.map(resumeCommand))].slice(0, 5);
  const suggestions = commands.map((command) => code(`${word} ${command}`, 120));
  return `Once this is fixed, resume ${paused.length === 1 ? 'it' : 'them'} with ${suggestions.join(', ')}.`;
}

export const OwnerNotice = z.object({
  /** The same for each attempt, so that it is sent once. */
  id: z.string(),
  user: z.string().optional(),
  message: StoredMessage,
  /** The channel to post in if there is no recipient, or the recipient has left. */
  channel: z.string().optional(),
});
type OwnerNotice = z.infer<typeof OwnerNotice>;

/** Sends a direct message to a person once, or else posts in a channel. */
export async function notifyOwner({ jobs }: Pick<Workspace, 'jobs'>, notice: OwnerNotice): Promise<void> {
  await jobs.send(OWNER_NOTICES, notice, { key: notice.id });
}

export const OWNER_NOTICES = defineJob({
  queue: 'late-notices',
  schema: OwnerNotice,
  // A week of attempts: if a policy blocks all messages, the owner is notified once it is lifted.
  options: { concurrency: 20, attempts: 170, backoffMs: 60_000 },
  async handle(workspace, { data: { id, user, channel, message }, signal }) {
    const here = (): Promise<unknown> =>
      deliver(workspace, { id: `${id} here`, channel: channel ?? '', message, signal });
    // The channel may be the cause of the pause.
    if (user === undefined) return void (await undefinedOnSlackError(here(), 'gone', 'forbidden'));
    const direct = workspace.slack
      .openDirect(user)
      .then((dm) => deliver(workspace, { id, channel: dm, message, signal }));
    if (channel === undefined) return void (await undefinedOnSlackError(direct, 'gone'));
    const ts = await undefinedOnSlackError(direct, 'gone', 'forbidden', 'rejected');
    if (ts === undefined) await here();
  },
  async onDeadLetter({ log }, { user, channel }, err) {
    log.warn({ event: 'owner_not_told', user, channel, err }, 'Owner and channel not notified within a week');
  },
});
