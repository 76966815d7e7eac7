import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type InstallURLOptions, InvalidStateError, type StateStore } from '@slack/oauth';
import { z } from 'zod';
import { type Clock, HOUR_MS } from '../core/time/clock.ts';
import { GLOBAL, type Store } from '../store/store.ts';
import type { InstallFault } from '../workspace/installations.ts';

/** From our page to Slack and back. */
const VALID_MS = 10 * 60_000;
/** How long a used state is remembered, so that a page that is loaded again says so. */
const REMEMBERED_MS = HOUR_MS;
/** Used states that are remembered. Each has one place, where the later of two stays. */
const MAX_USED = 10_000;

const Used = z.object({
  state: z.string(),
  madeAt: z.number(),
  /** When the newest state was made that lost this place. It and older ones of the place count no more. */
  lostAt: z.number(),
});

export interface InstallStates extends StateStore {
  /** Why the state does not count; undefined where it would. */
  faultOf(state: string): Promise<InstallFault | undefined>;
}

/**
 * The states with which browsers are sent to Slack. Anybody may ask for one, so none is stored: a state is its time and a
 * signature, which every replica can check, also after a restart. Only one that comes back to the browser that it was
 * given to leaves a mark, so that it counts once.
 * @param secret shared by all replicas
 * @param options with which the install began, and has to end
 */
export function createInstallStates(
  { store, clock, secret }: { store: Store; clock: Clock; secret: string },
  options: InstallURLOptions,
): InstallStates {
  const used = store.of(GLOBAL).collection('install-used', Used);
  const sign = (text: string): string =>
    createHmac('sha256', secret).update(`install state ${text}`).digest('base64url');

  /** When it was made, in milliseconds since the epoch; undefined where it is not one of ours. */
  function madeAt(state: string): number | undefined {
    const [at = '', random = '', signature = ''] = state.split('.');
    const isOurs = isSame(signature, sign(`${at}.${random}`)) && state.split('.').length === 3;
    return isOurs ? Number(at) : undefined;
  }

  async function faultOf(state: string): Promise<InstallFault | undefined> {
    const at = madeAt(state);
    if (at === undefined) return 'unknown';
    const place = await used.get(idOf(state));
    if (place?.state === digest(state)) return 'used';
    return clock.now() - at >= VALID_MS || at <= (place?.lostAt ?? 0) ? 'expired' : undefined;
  }

  /** Marks a state as used, unless it does not count. */
  function claim(state: string): Promise<InstallFault | undefined> {
    const id = idOf(state);
    return store.exclusive(`install state ${id}`, async () => {
      const fault = await faultOf(state);
      if (fault !== undefined) return fault;
      const { madeAt: before = 0, lostAt = 0 } = (await used.get(id)) ?? {};
      const place = { state: digest(state), madeAt: madeAt(state) ?? 0, lostAt: Math.max(before, lostAt) };
      await used.put(id, place, clock.now() + REMEMBERED_MS);
      return undefined;
    });
  }

  return {
    faultOf,
    async generateStateParam() {
      const text = `${clock.now()}.${randomBytes(32).toString('base64url')}`;
      return `${text}.${sign(text)}`;
    },
    /** Takes a state, once, whatever comes of the install. */
    async verifyStateParam(_, state) {
      const fault = await claim(state);
      if (fault !== undefined) throw new InvalidStateError(`The state is ${fault}`);
      return options;
    },
  };
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

function idOf(state: string): string {
  return String(Number.parseInt(hash('sha256', state).slice(0, 8), 16) % MAX_USED);
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
