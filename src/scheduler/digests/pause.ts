import { pausedMessage, resumeSentence } from '../../views/schedules/paused.ts';
import type { Paused } from '../../workspace/schedules.ts';
import { notifyOwner } from '../schedules/notify-owner.ts';
import { deliveryId, type OccurrenceRun, recordOccurrence } from './occurrence.ts';
import { asScheduled, dropOrphan, pauseDigest } from './schedule.ts';

/** Ends the digest's slots with a reason, and tells whoever set it up, once. */
export async function pauseAndNotify(
  run: OccurrenceRun,
  cause: 'service' | 'slack',
  reason: string,
): Promise<void> {
  const { workspace, digest, slot } = run;
  await recordOccurrence(workspace, slot, { outcome: 'failed', reason });
  const at = workspace.clock.now();
  const state: Paused = { kind: 'paused', cause, reason, at, during: deliveryId(slot) };
  const paused = await pauseDigest(workspace, digest.id, state);
  if (paused !== undefined) await tell({ ...run, digest: paused });
}

/** A slot of a paused digest does nothing, unless it is the one that paused it and was killed before it told. */
export async function goOnPausing(run: OccurrenceRun): Promise<void> {
  await dropOrphan(run.workspace, run.digest.id);
  await tell(run);
}

async function tell({ workspace, digest, slot, job }: OccurrenceRun): Promise<void> {
  const { state } = digest;
  if (state.kind !== 'paused' || state.during !== deliveryId(slot)) return;
  const { what, resume, channel, setUpBy: user } = asScheduled(digest);
  const once = state.cause === 'slack' ? 'Once I can post there again,' : 'Once that is mended,';
  const next = resumeSentence(workspace.config.SLACK_COMMAND, resume, once);
  const message = pausedMessage({ reason: state.reason, what: [what], next });
  const id = `paused ${deliveryId(slot)}`;
  await notifyOwner(workspace, { id, user, message, channel, signal: job.signal });
}
