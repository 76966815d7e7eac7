import { isIn, type Period } from './periods.ts';

export interface EndedDeployment {
  /** Milliseconds since the epoch. */
  endedAt: number;
  durationMs: number;
  succeeded: boolean;
}

export interface Statistics {
  totalDeployments: number;
  totalDelta: number;
  /** Per cent with one decimal; null without deployments. */
  successRate: number | null;
  /** Percentage points; null where either period had no deployments. */
  successRateDelta: number | null;
  averageDuration: string;
}

/** Spec 2.12, for one period. */
export function statisticsOf(deployments: readonly EndedDeployment[], period: Period): Statistics {
  const current = deployments.filter(({ endedAt }) => isIn(period, endedAt));
  const previous = deployments.filter(({ endedAt }) => isIn(period.previous, endedAt));
  const rate = successRate(current);
  const previousRate = successRate(previous);
  return {
    totalDeployments: current.length,
    totalDelta: current.length - previous.length,
    successRate: rate,
    successRateDelta: rate === null || previousRate === null ? null : oneDecimal(rate - previousRate),
    averageDuration: describeDuration(average(current.map(({ durationMs }) => durationMs))),
  };
}

function successRate(deployments: readonly EndedDeployment[]): number | null {
  if (deployments.length === 0) return null;
  const good = deployments.filter(({ succeeded }) => succeeded).length;
  return oneDecimal((good / deployments.length) * 100);
}

function oneDecimal(value: number): number {
  return Math.round(value * 10) / 10;
}

function average(values: readonly number[]): number {
  if (values.length === 0) return 0;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Milliseconds as people say them, e.g. `1h 2m`, `2m 14s` or `45s`. */
export function describeDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`;
}
