import type { ActivityRange } from '../../service/activity.ts';

/** What a range is called, and what its deltas compare with (API 4.9, docs/service-api.md). */
export const RANGE_WORDS = {
  today: { name: 'today', compared: 'the same part of yesterday' },
  last_7_days: { name: 'the last 7 days', compared: 'the 7 days before' },
  last_30_days: { name: 'the last 30 days', compared: 'the 30 days before' },
  this_week: { name: 'this week', compared: 'the same part of last week' },
} as const satisfies Record<ActivityRange, { name: string; compared: string }>;
