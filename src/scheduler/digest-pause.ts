import { pausedMessage, resumeSentence } from '../views/paused.ts';
import type { Paused } from '../workspace/schedules.ts';
import { asScheduled, dropOrphan, pauseDigest } from './digest-schedule.ts';
import { deliveryId, recordSlot, type SlotRun } from './digest-slot.ts';
import { tellOwner } from './tell-owner.ts';

/** Ends the digest's slots with a reason, and tells whoever set it up, once. */
export async function pauseAndTell(run: SlotRun, cause: 'service' | 'slack', reason: string): Promise<void> {
  const { deckhand, digest, slot } = run;
  await recordSlot(deckhand, slot, { outcome: 'failed', reason });
  const at = deckhand.clock.now();
  const state: Paused = { kind: 'paused', cause, reason, at, during: deliveryId(slot) };
  const paused = await pauseDigest(deckhand, slot.workspace, digest.id, state);
  if (paused !== undefined) await tell({ ...run, digest: paused });
}

/** A slot of a paused digest does nothing, unless it is the one that paused it and was killed before it told. */
export async function goOnPausing(run: SlotRun): Promise<void> {
  await dropOrphan(run.deckhand, run.slot.workspace, run.digest.id);
  await tell(run);
}

async function tell({ deckhand, digest, slot, job }: SlotRun): Promise<void> {
  const { state } = digest;
  if (state.kind !== 'paused' || state.during !== deliveryId(slot)) return;
  const { what, resume, channel, setUpBy: user } = asScheduled(digest);
  const once = state.cause === 'slack' ? 'Once I can post there again,' : 'Once that is mended,';
  const next = resumeSentence(deckhand.config.SLACK_COMMAND, resume, once);
  const message = pausedMessage({ reason: state.reason, what: [what], next });
  const id = `paused ${deliveryId(slot)}`;
  await tellOwner(deckhand, { workspace: slot.workspace, id, user, message, channel, signal: job.signal });
}
