import { type ActivityStats, type Outcome, readEventOutcome } from '../service/activity.ts';

/** Numbers of deployments that ended. */
export type OutcomeCounts = Record<Outcome, number>;

export const NO_OUTCOMES: OutcomeCounts = { succeeded: 0, failed: 0, cancelled: 0 };

export function countOutcomes(events: Iterable<{ event: string }>): OutcomeCounts {
  const counts = { ...NO_OUTCOMES };
  for (const { event } of events) addOutcome(counts, event);
  return counts;
}

export function addOutcome(counts: OutcomeCounts, event: string): void {
  const outcome = readEventOutcome(event);
  if (outcome !== undefined) counts[outcome] += 1;
}

/** Figures that Deckhand counted, in the form of the service's own (API 2.12 in docs/service-api.md). */
export type CountedFigures = Pick<
  ActivityStats,
  'total_deployments' | 'total_deployments_delta' | 'success_rate' | 'success_rate_delta'
> &
  // These are the service's, and of one of its ranges.
  Partial<Pick<ActivityStats, 'active_servers' | 'avg_duration'>>;

/** Compares two periods. Pure. @param before undefined if not all of it is known */
export function compareOutcomes(counts: OutcomeCounts, before: OutcomeCounts | undefined): CountedFigures {
  const [total, rate] = [sum(counts), computeRate(counts)];
  const earlierRate = before === undefined ? null : computeRate(before);
  return {
    total_deployments: total,
    total_deployments_delta: before === undefined ? null : total - sum(before),
    success_rate: rate,
    success_rate_delta: rate === null || earlierRate === null ? null : rate - earlierRate,
  };
}

function sum({ succeeded, failed, cancelled }: OutcomeCounts): number {
  return succeeded + failed + cancelled;
}

/** Per cent; null without deployments. */
function computeRate(counts: OutcomeCounts): number | null {
  const total = sum(counts);
  return total === 0 ? null : (counts.succeeded / total) * 100;
}
