import { z } from 'zod';
import { WEEKDAYS } from '../core/schedule-choices.ts';
import { nextOccurrence } from '../jobs/cron.ts';
import { isZone } from '../jobs/zone.ts';
import { ACTIVITY_RANGES } from '../service/activity.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { ScheduleState, shortId } from './schedules.ts';

const Time = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);

/** How often something is posted; times as `09:00`. */
export const Cadence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('daily'), time: Time }),
  z.object({ kind: z.literal('weekdays'), time: Time }),
  z.object({ kind: z.literal('weekly'), day: z.enum(WEEKDAYS), time: Time }),
  z.object({ kind: z.literal('cron'), cron: z.string().max(200) }),
]);
export type Cadence = z.infer<typeof Cadence>;

/** How the latest occurrence ended. `missed`: Deckhand was down for so long that it was not posted. */
export const OccurrenceResult = z.object({
  scheduledAt: z.number(),
  at: z.number(),
  outcome: z.enum(['posted', 'late', 'quiet', 'snoozed', 'failed', 'missed']),
  /** Mrkdwn of our own making, where it failed. */
  reason: z.string().optional(),
});
export type OccurrenceResult = z.infer<typeof OccurrenceResult>;

/** A summary of the activity that is posted in a channel on a schedule. Times are milliseconds since the epoch. */
export const Digest = z.object({
  /** Short, for people: `d7k2`. */
  id: z.string(),
  /** The request that set it up, so that its repetition after a kill finds it. */
  requestId: z.string(),
  channel: z.string(),
  cadence: Cadence,
  zone: z.string().refine(isZone),
  range: z.enum(ACTIVITY_RANGES),
  /** Undefined: every connected account. */
  account: z.string().optional(),
  project: z.object({ permalink: z.string(), name: z.string() }).optional(),
  /** Posts nothing without deployments. */
  skipQuiet: z.boolean(),
  setUpBy: z.string(),
  setUpAt: z.number(),
  state: ScheduleState,
  /** When it was resumed or edited last: earlier occurrences are none of its own. */
  activeSince: z.number().optional(),
  snoozedUntil: z.number().optional(),
  last: OccurrenceResult.optional(),
  /** The occurrence that no account has answered so far: since when they are asked, and how often in a row it was not found. */
  noAnswer: z.object({ scheduledAt: z.number(), since: z.number(), notFound: z.number() }).optional(),
});
export type Digest = z.infer<typeof Digest>;

/** Release 0.2.0 called the time of an occurrence `slotAt`, here and in the data of its job. */
export function withScheduledAt(stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null || !('slotAt' in stored)) return stored;
  const { slotAt: scheduledAt, ...rest } = stored;
  return { ...rest, scheduledAt };
}

/** When it is posted next; undefined while it is paused, or where its zone is not known here. */
export function nextOf({ state, cadence, zone, snoozedUntil = 0 }: Digest, now: number): number | undefined {
  if (state.kind !== 'active') return undefined;
  // An occurrence at the very end of the snooze is posted.
  return nextTimes(cadence, zone, Math.max(now, snoozedUntil - 1), 1)[0];
}

export function createDigests(store: WorkspaceStore) {
  const stored: Collection<Digest> = store.collection('digests', {
    schema: Digest,
    upgrades: [({ last, ...doc }) => ({ ...doc, last: withScheduledAt(last) })],
  });
  return {
    get: (id: string) => stored.get(id),
    /** Oldest first. */
    async list(): Promise<Digest[]> {
      const rows = await stored.list();
      return rows.map((row) => row.doc).toSorted((one, other) => one.setUpAt - other.setUpAt);
    },
    /** A short id that no other digest has; for the same request the same one, if it was used already. */
    async freeId(requestId: string): Promise<string> {
      for (let attempt = 0; ; attempt += 1) {
        const id = shortId('d', requestId, attempt);
        const existing = await stored.get(id);
        if (existing === undefined || existing.requestId === requestId) return id;
      }
    },
    put: (digest: Digest) => stored.put(digest.id, digest),
    /** Undefined where it is gone. */
    change: (id: string, change: (current: Digest) => Digest) =>
      stored.update(id, (current) => (current === undefined ? undefined : change(current))),
    /** False where it is gone already. */
    remove: (id: string) => stored.delete(id),
  };
}

/** The five fields that the engine knows. */
export function cronOf(cadence: Cadence): string {
  if (cadence.kind === 'cron') return cadence.cron;
  const [hour, minute] = cadence.time.split(':').map(Number);
  const days = { daily: '*', weekdays: '1-5', weekly: '' }[cadence.kind];
  return `${minute} ${hour} * * ${cadence.kind === 'weekly' ? cadence.day : days}`;
}

/**
 * The next times, milliseconds since the epoch.
 * @throws CronError for five fields that are wrong or fit no date, or a zone that is none
 */
export function nextTimes(cadence: Cadence, zone: string, after: number, amount: number): number[] {
  const cron = cronOf(cadence);
  const times: number[] = [];
  for (let from = after; times.length < amount; from = times.at(-1) ?? from)
    times.push(nextOccurrence(cron, zone, from));
  return times;
}
