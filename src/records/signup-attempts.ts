import { z } from 'zod';
import { HOUR_MS } from '../core/time/clock.ts';
import type { WorkspaceStore } from '../store/store.ts';

const Attempts = z.object({ at: z.array(z.number()) });
const ID = 'recent';

/** The service's limit for one IP address. API 8 (docs/service-api.md). */
const SIGNUPS_PER_HOUR = 3;

/** The sign-ups left in this hour by our own count, and when the next becomes free (ms since the epoch). */
export interface SignupsLeft {
  perHour: number;
  left: number;
  freeAt: number | undefined;
}

/** The service counts by IP address, and all workspaces share ours, so they share the count. */
export async function signupsLeft(store: WorkspaceStore, now: number): Promise<SignupsLeft> {
  const stored = await attemptsIn(store).get(ID);
  return leftOf(stored?.at ?? [], now);
}

/** Counts an attempt before it is made. */
export async function countSignup(store: WorkspaceStore, now: number): Promise<SignupsLeft> {
  const stored = await attemptsIn(store).update(ID, (current) => ({
    at: [...recent(current?.at ?? [], now), now].slice(-SIGNUPS_PER_HOUR),
  }));
  return leftOf(stored?.at ?? [], now);
}

function attemptsIn(store: WorkspaceStore) {
  return store.collection('signup-attempts', Attempts);
}

function leftOf(at: readonly number[], now: number): SignupsLeft {
  const counted = recent(at, now);
  const left = Math.max(0, SIGNUPS_PER_HOUR - counted.length);
  const oldest = counted[0];
  const freeAt = left > 0 || oldest === undefined ? undefined : oldest + HOUR_MS;
  return { perHour: SIGNUPS_PER_HOUR, left, freeAt };
}

function recent(at: readonly number[], now: number): number[] {
  return at.filter((one) => one > now - HOUR_MS && one <= now);
}
