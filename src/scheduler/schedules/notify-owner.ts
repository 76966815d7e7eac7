import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../../core/clock.ts';
import { code } from '../../core/mrkdwn.ts';
import { type Paused, type Schedule, StoredMessage } from '../../records/schedules.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { pausedMessage } from '../../views/schedules/schedule.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, isUndeliverable } from '../deliver.ts';
import { pauseSchedule, type ScheduleKind } from './lifecycle.ts';

export interface Pausing {
  /** Which schedules it concerns. */
  concerns: (schedule: Schedule) => boolean;
  /** Undefined where they were paused before, and only the notice may be left to send. */
  paused: Pick<Paused, 'cause' | 'reason'> | undefined;
  /** Names what paused them, so that the notice is sent once. */
  causeId: string;
  signal: AbortSignal;
}

/**
 * Pauses schedules for one reason, and notifies each person who set some up, once, with the command that resumes them.
 * Safe to repeat after a kill at any point.
 */
export async function pauseAndNotify(workspace: Workspace, kind: ScheduleKind, what: Pausing): Promise<void> {
  const { concerns, paused, causeId, signal } = what;
  const schedules = (await kind.list(workspace)).filter(concerns);
  const at = workspace.clock.now();
  const mine: Schedule[] = [];
  for (const schedule of schedules) {
    const isNow = paused !== undefined && schedule.state.kind === 'active';
    const existing = isNow
      ? await pauseSchedule(workspace, kind, schedule, { kind: 'paused', ...paused, at, causeId })
      : schedule;
    if (existing?.state.kind === 'paused' && existing.state.causeId === causeId) mine.push(existing);
  }
  const next = (theirs: readonly Schedule[]): string => resumeSentence(workspace, theirs);
  await notifyOwners(workspace, mine, { causeId, next, signal });
}

/** "Once this is fixed, resume it with `/deckhand digest resume d7k2`." */
function resumeSentence({ word }: Pick<Workspace, 'word'>, paused: readonly Schedule[]): string {
  const commands = [...new Set(paused.map(({ resume }) => resume))].slice(0, 5);
  const typed = commands.map((command) => code(`${word} ${command}`, 120));
  return `Once this is fixed, resume ${paused.length === 1 ? 'it' : 'them'} with ${typed.join(', ')}.`;
}

/** After which pauses a notice that Slack refuses is tried again; then after the longest, over and over. */
const PAUSES_MS = [HOUR_MS / 4, HOUR_MS];
const MAX_PAUSE_MS = 6 * HOUR_MS;
const MAX_MS = 30 * DAY_MS;

/** A notice that Slack has let through nowhere so far. */
const LateNotice = z.object({
  /** The same for each repetition, so that it is sent once. */
  id: z.string(),
  user: z.string(),
  message: StoredMessage,
  /** Where it is posted when the person has left. */
  channel: z.string().optional(),
  tries: z.number(),
  /** Milliseconds since the epoch. */
  since: z.number(),
});
type LateNotice = z.infer<typeof LateNotice>;

interface OwnerNotice extends Omit<LateNotice, 'tries' | 'since'> {
  signal?: AbortSignal | undefined;
}

/** Where a policy refuses every message, the owner is notified once one is let through again. */
export const LATE_NOTICES = defineJob({
  queue: 'late-notices',
  schema: LateNotice,
  options: { concurrency: 20, attempts: 10, backoffMs: 60_000 },
  run: (workspace, { data: { tries, since, ...notice }, signal }) =>
    notifyOwner(workspace, { ...notice, signal }, { tries: tries + 1, since }),
});

/**
 * Writes to the person who set something up, once: by direct message, or in its channel where they have left; later
 * where Slack refuses both.
 * @param before how often Slack refused both already, and since when
 */
export async function notifyOwner(
  workspace: Workspace,
  notice: OwnerNotice,
  { tries, since }: Pick<LateNotice, 'tries' | 'since'> = { tries: 0, since: workspace.clock.now() },
): Promise<void> {
  const { clock, home, jobs, log } = workspace;
  await home.refresh();
  const reason = await reachOwner(workspace, notice);
  if (reason === undefined) return;
  const { signal: _, ...late } = notice;
  const { id, user, channel } = late;
  const isOver = clock.now() - since >= MAX_MS;
  const fields = { user, channel, reason };
  if (isOver)
    return log.warn(
      { event: 'owner_not_told', ...fields },
      'Neither the owner nor the channel could be notified for 30 days',
    );
  log.warn(
    { event: 'owner_told_later', ...fields },
    'Neither the owner nor the channel could be notified; it is tried again',
  );
  const at = clock.now() + (PAUSES_MS[tries] ?? MAX_PAUSE_MS);
  await jobs.send(LATE_NOTICES, { ...late, tries, since }, { key: `${id} ${tries}`, at });
}

/** @returns why neither the person nor the channel was reached; undefined where one was */
async function reachOwner(
  workspace: Workspace,
  { id, user, channel, message, signal }: OwnerNotice,
): Promise<string | undefined> {
  try {
    const direct = await workspace.slack.openDirect(user);
    await deliver(workspace, { id, channel: direct, message, signal });
    return undefined;
  } catch (error) {
    if (!isUndeliverable(error) && !isSlackFailure(error, 'rejected')) throw error;
    if (channel === undefined) return error.reason;
  }
  try {
    await deliver(workspace, { id: `${id} here`, channel, message, signal });
    return undefined;
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    return error.reason;
  }
}

interface PauseNotice {
  /** Names what paused the schedules, so that each owner is notified once. */
  causeId: string;
  /** What each owner can do, a sentence. */
  next(theirs: readonly Schedule[]): string;
  signal: AbortSignal;
}

/** Writes to each person who set up some of the schedules that were paused for the same reason. */
export async function notifyOwners(
  workspace: Workspace,
  paused: readonly Schedule[],
  { causeId, next, signal }: PauseNotice,
): Promise<void> {
  for (const [user, theirs] of Map.groupBy(paused, ({ setUpBy }) => setUpBy)) {
    const [first] = theirs;
    if (first?.state.kind !== 'paused') continue;
    const { reason } = first.state;
    const message = pausedMessage({ reason, what: theirs.map(({ what }) => what), next: next(theirs) });
    const { channel } = first;
    await notifyOwner(workspace, { id: `${causeId} ${user}`, user, message, channel, signal });
  }
}
