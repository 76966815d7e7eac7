import { z } from 'zod';
import type { Job, JobType } from '../../jobs/jobs.ts';
import type { Digest, SlotResult } from '../../workspace/digests.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export const SlotJob = z.object({
  digest: z.string(),
  slotAt: z.number(),
  /** When the accounts were first asked, if none answered. */
  askedSince: z.number().optional(),
  /** Attempts in a row that met `record_not_found`. */
  notFound: z.number().optional(),
});
export type SlotJob = z.infer<typeof SlotJob>;

export const DIGEST: JobType<SlotJob> = { queue: 'digest', schema: SlotJob };

/** An occurrence of a digest that is being posted. */
export interface OccurrenceRun {
  workspace: Workspace;
  digest: Digest;
  slot: SlotJob;
  job: Job<SlotJob>;
  /** When it was due, where it comes late. */
  lateSince: number | undefined;
}

/** Later than this is late. */
const PUNCTUAL_MS = 60_000;
/** An occurrence from before the start certainly waited for it. */
const PUNCTUAL_AT_START_MS = 5_000;
const MOST_PAST_RATES = 30;

/** @param startedAt when this process started; all in milliseconds since the epoch */
export function lateSince({ slotAt }: SlotJob, now: number, startedAt: number): number | undefined {
  const allowed = slotAt < startedAt ? PUNCTUAL_AT_START_MS : PUNCTUAL_MS;
  return now - slotAt >= allowed ? slotAt : undefined;
}

/** The same for each attempt, so that the message is posted once. */
export function deliveryId({ digest, slotAt }: SlotJob): string {
  return `digest ${digest} ${slotAt}`;
}

/** How the occurrence ended, for the list of digests. */
export interface OccurrenceResult extends Pick<SlotResult, 'outcome' | 'reason'> {
  /** The success rates that it showed, by account. */
  rates?: Record<string, number | null>;
}

export async function recordOccurrence(
  { clock, digests, metrics }: Pick<Workspace, 'clock' | 'digests' | 'metrics'>,
  { digest, slotAt }: SlotJob,
  { rates, ...rest }: OccurrenceResult,
): Promise<void> {
  const last: SlotResult = { slotAt, at: clock.now(), ...rest };
  await digests.change(digest, (current) => {
    const others = current.pastRates.filter((past) => past.slotAt !== slotAt);
    const pastRates = rates === undefined ? others : [...others, { slotAt, rates }];
    // A late occurrence may end after a younger one.
    const isLatest = (current.last?.slotAt ?? 0) <= slotAt;
    const { snoozedUntil = 0, ...awake } = current;
    const standing = snoozedUntil > slotAt ? current : awake;
    return { ...standing, ...(isLatest ? { last } : {}), pastRates: pastRates.slice(-MOST_PAST_RATES) };
  });
  metrics.slot('digest', rest.outcome, last.at - slotAt);
}
