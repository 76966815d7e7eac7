import type { World } from '../world.ts';
import type { Tier } from './method.ts';

interface Rate {
  calls: number;
  windowMs: number;
}

/** Slack's tiers by method and workspace; posting goes by channel, one a second with room for a short burst. */
const RATES: Record<Tier, Rate | undefined> = {
  1: { calls: 1, windowMs: 60_000 },
  2: { calls: 20, windowMs: 60_000 },
  3: { calls: 50, windowMs: 60_000 },
  4: { calls: 100, windowMs: 60_000 },
  posting: { calls: 5, windowMs: 5000 },
  free: undefined,
};

/** Counts a call; seconds to wait where it is one too many. */
export function overRate(world: World, tier: Tier, key: string): number | undefined {
  const rate = RATES[tier];
  if (!rate) return undefined;
  const now = world.time.now();
  const recent = (world.callTimes.get(key) ?? []).filter((at) => at > now - rate.windowMs);
  world.callTimes.set(key, recent);
  const oldest = recent[0];
  if (oldest !== undefined && recent.length >= rate.calls) {
    return Math.max(1, Math.ceil((oldest + rate.windowMs - now) / 1000));
  }
  recent.push(now);
  return undefined;
}
