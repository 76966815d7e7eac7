import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { CallOptions } from './call.ts';
import type { AccountClient } from './client.ts';
import { isObject, NullableText, Numeric, OptionalText, Timestamp } from './shapes.ts';

export const ACTIVITY_RANGES = ['today', 'last_7_days', 'last_30_days', 'this_week'] as const;
export type ActivityRange = (typeof ACTIVITY_RANGES)[number];

const EventProperties = z
  .object({ end_ref: NullableText.catch(null), servers: z.unknown().optional().transform(namesIn) })
  .nullish()
  .catch(null)
  .transform((properties) => properties ?? { end_ref: null, servers: [] });

/** Spec 2.11. `event` may be any word: the spec shows no complete list. */
export const ActivityEvent = z.object({
  event: z.string(),
  properties: EventProperties,
  project: z
    .object({ name: OptionalText, permalink: OptionalText, identifier: OptionalText })
    .nullish()
    .transform((project) => project ?? null),
  user: NullableText,
  created_at: Timestamp,
});
export type ActivityEvent = z.infer<typeof ActivityEvent>;

const Figure = Numeric.nullish().catch(undefined);

/**
 * Spec 2.12. Null is what the spec makes of it (nothing to compare with); undefined is a figure that the
 * service does not tell, as older ones do not. Neither is 0.
 */
export const ActivityStats = z.object({
  total_deployments: Figure,
  total_deployments_delta: Figure,
  /** Percentage. */
  success_rate: Figure,
  /** Percentage points. */
  success_rate_delta: Figure,
  /** For people, e.g. `1m 12s`. */
  avg_duration: z.string().nullish().catch(undefined),
  active_servers: Figure,
});
export type ActivityStats = z.infer<typeof ActivityStats>;

const Activity = z
  .union([
    z.array(ActivityEvent).transform((events) => ({ events, stats: undefined })),
    z.object({ events: z.array(ActivityEvent), stats: ActivityStats.optional().catch(undefined) }),
  ])
  .transform(({ events, stats }): Activity => ({ events, stats }));
export interface Activity {
  /** Most recent first, at most the latest 100. */
  events: ActivityEvent[];
  /** Undefined where not asked for or not told. */
  stats: ActivityStats | undefined;
}

/** What happened in a window of time, by default the last seven days, and its figures if wanted. Spec 4.9. */
export function getActivity(
  account: AccountClient,
  { range, stats }: { range?: ActivityRange | undefined; stats?: boolean | undefined } = {},
  options?: CallOptions,
): Promise<Activity> {
  const query = { ...(range === undefined ? {} : { range }), ...(stats ? { include: 'stats' } : {}) };
  return account.send(
    {
      operation: 'getActivity',
      method: 'GET',
      path: ['activity'],
      query,
      scope: 'account',
      read: jsonOf(Activity),
    },
    options,
  );
}

/** Names in a list, or one name that stands alone. */
function namesIn(value: unknown): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items
    .map((item) => (isObject(item) ? item.name : item))
    .filter((item): item is string => typeof item === 'string' && item !== '');
}
