import { z } from 'zod';
import type { Job, JobType } from '../../core/job.ts';
import type { Digest, SlotResult } from '../../workspace/digests.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export const SlotJob = z.object({
  digest: z.string(),
  slotAt: z.number(),
  /** When the accounts were first asked, if none answered. */
  askedSince: z.number().optional(),
});
export type SlotJob = z.infer<typeof SlotJob>;

export const DIGEST: JobType<SlotJob> = { queue: 'digest', schema: SlotJob };

/** A slot that is being dealt with. */
export interface OccurrenceRun {
  workspace: Workspace;
  digest: Digest;
  slot: SlotJob;
  job: Job<SlotJob>;
  /** When it fell due, where it comes late. */
  lateSince: number | undefined;
}

/** Later than this is late. */
const PUNCTUAL_MS = 60_000;
/** Before a start there is no doubt why a slot waited. */
const PUNCTUAL_AT_START_MS = 5_000;
const MOST_PAST_RATES = 30;

/** @param startedAt when this process started; all in milliseconds since the epoch */
export function lateSince({ slotAt }: SlotJob, now: number, startedAt: number): number | undefined {
  const allowed = slotAt < startedAt ? PUNCTUAL_AT_START_MS : PUNCTUAL_MS;
  return now - slotAt >= allowed ? slotAt : undefined;
}

/** Names the slot's message for ever. */
export function deliveryId({ digest, slotAt }: SlotJob): string {
  return `digest ${digest} ${slotAt}`;
}

/** What became of the slot, for the list of digests; `reason` is mrkdwn of our own making. */
export interface Result {
  outcome: SlotResult['outcome'];
  reason?: string;
  /** The success rates that it told, by account. */
  rates?: Record<string, number | null>;
}

export async function recordOccurrence(workspace: Workspace, slot: SlotJob, result: Result): Promise<void> {
  const { slotAt } = slot;
  const { rates, ...rest } = result;
  const last: SlotResult = { slotAt, at: workspace.clock.now(), ...rest };
  await workspace.digests.change(slot.digest, (current) => {
    const others = current.pastRates.filter((past) => past.slotAt !== slotAt);
    const pastRates = rates === undefined ? others : [...others, { slotAt, rates }];
    // A late slot may end after a younger one.
    const isLatest = (current.last?.slotAt ?? 0) <= slotAt;
    const { snoozedUntil = 0, ...awake } = current;
    const standing = snoozedUntil > slotAt ? current : awake;
    return { ...standing, ...(isLatest ? { last } : {}), pastRates: pastRates.slice(-MOST_PAST_RATES) };
  });
  workspace.metrics.slot('digest', result.outcome, last.at - slotAt);
}
