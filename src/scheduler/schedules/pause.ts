import { code } from '../../core/mrkdwn.ts';
import { pausedMessage } from '../../views/schedules/paused.ts';
import type { Paused, Scheduled } from '../../workspace/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { notifyOwner } from './notify-owner.ts';
import type { ScheduleKind } from './reconcile-schedules.ts';

export interface Pausing {
  /** Which schedules it concerns. */
  concerns: (scheduled: Scheduled) => boolean;
  /** Undefined where they were paused before, and only the telling may be left to do. */
  paused: Pick<Paused, 'cause' | 'reason'> | undefined;
  /** Names what paused them for ever, so that it is told once. */
  during: string;
  signal: AbortSignal;
}

/**
 * Pauses schedules for one reason, and tells each person who set some up, once, with the command that resumes them.
 * Safe to repeat after a kill at any point.
 */
export async function pauseAndNotify(workspace: Workspace, kind: ScheduleKind, what: Pausing): Promise<void> {
  const { concerns, paused, during } = what;
  if (paused !== undefined) {
    const at = workspace.clock.now();
    for (const { id, state } of (await kind.list(workspace)).filter(concerns))
      if (state.kind === 'active') await kind.pause(workspace, id, { kind: 'paused', ...paused, at, during });
  }
  const done = (await kind.list(workspace)).filter(
    (scheduled) =>
      concerns(scheduled) && scheduled.state.kind === 'paused' && scheduled.state.during === during,
  );
  for (const [user, theirs] of Map.groupBy(done, ({ setUpBy }) => setUpBy))
    await tell(workspace, what, user, theirs);
}

async function tell(
  workspace: Workspace,
  { during, signal }: Pausing,
  user: string,
  theirs: readonly Scheduled[],
): Promise<void> {
  const [first] = theirs;
  if (first?.state.kind !== 'paused') return;
  const { cause, reason } = first.state;
  const commands = [...new Set(theirs.map(({ resume }) => resume))].slice(0, 5);
  const once = cause === 'slack' ? 'Once I can post there again,' : 'Once that is mended,';
  const typed = commands.map((command) => code(`${workspace.config.SLACK_COMMAND} ${command}`, 120));
  const message = pausedMessage({
    reason,
    what: theirs.map((scheduled) => scheduled.what),
    next: `${once} resume ${theirs.length === 1 ? 'it' : 'them'} with ${typed.join(', ')}.`,
  });
  const { channel } = first;
  await notifyOwner(workspace, {
    id: `${during} ${user}`,
    user,
    message,
    channel,
    signal,
  });
}
