import { code } from '../../core/mrkdwn.ts';
import type { Paused, Schedule } from '../../workspace/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { pauseSchedule, type ScheduleKind } from './lifecycle.ts';
import { notifyOwners } from './notify-owner.ts';

export interface Pausing {
  /** Which schedules it concerns. */
  concerns: (schedule: Schedule) => boolean;
  /** Undefined where they were paused before, and only the notice may be left to send. */
  paused: Pick<Paused, 'cause' | 'reason'> | undefined;
  /** Names what paused them, so that the notice is sent once. */
  during: string;
  signal: AbortSignal;
}

/**
 * Pauses schedules for one reason, and notifies each person who set some up, once, with the command that resumes them.
 * Safe to repeat after a kill at any point.
 */
export async function pauseAndNotify(workspace: Workspace, kind: ScheduleKind, what: Pausing): Promise<void> {
  const { concerns, paused, during, signal } = what;
  const schedules = (await kind.list(workspace)).filter(concerns);
  const at = workspace.clock.now();
  const mine: Schedule[] = [];
  for (const schedule of schedules) {
    const isNow = paused !== undefined && schedule.state.kind === 'active';
    const standing = isNow
      ? await pauseSchedule(workspace, kind, schedule, { kind: 'paused', ...paused, at, during })
      : schedule;
    if (standing?.state.kind === 'paused' && standing.state.during === during) mine.push(standing);
  }
  const next = (theirs: readonly Schedule[]): string => resumeSentence(workspace, theirs);
  await notifyOwners(workspace, mine, { during, next, signal });
}

/** "Once this is fixed, resume it with `/deckhand digest resume d7k2`." */
function resumeSentence({ config }: Pick<Workspace, 'config'>, paused: readonly Schedule[]): string {
  const commands = [...new Set(paused.map(({ resume }) => resume))].slice(0, 5);
  const typed = commands.map((command) => code(`${config.SLACK_COMMAND} ${command}`, 120));
  return `Once this is fixed, resume ${paused.length === 1 ? 'it' : 'them'} with ${typed.join(', ')}.`;
}
