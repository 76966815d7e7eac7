import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { GLOBAL, type Store } from '../../store/store.ts';

/** From our page to Slack and back. */
const VALID_MS = 10 * 60_000;
/** How long a used or expired state is remembered, so that the page can say which it was. */
const REMEMBERED_MS = 60 * 60_000;

const State = z.object({
  at: z.number(),
  /** Digest of the cookie that the browser was given. */
  browser: z.string(),
});
const Used = z.object({ at: z.number() });

export type StateFault = 'unknown' | 'expired' | 'used' | 'other browser';

/** What a browser is sent to Slack with. */
export interface Departure {
  state: string;
  cookie: { name: string; value: string };
}

/**
 * The states of installs: each is bound to one browser by a cookie, counts once however it comes back, and is over
 * after ten minutes. The store holds digests only.
 */
export interface InstallStates {
  depart(): Promise<Departure>;
  /** Takes a state; undefined where all is in order. */
  arrive(
    state: string,
    cookies: Readonly<Record<string, string | undefined>>,
  ): Promise<StateFault | undefined>;
}

export function createInstallStates({ store, clock }: { store: Store; clock: Clock }): InstallStates {
  const states = store.of(GLOBAL).collection('install-states', State);
  const used = store.of(GLOBAL).collection('install-used', Used);
  return {
    async depart() {
      const state = randomText();
      const id = digest(state);
      const cookie = { name: cookieName(id), value: randomText() };
      const at = clock.now();
      await states.put(id, { at, browser: digest(cookie.value) }, at + REMEMBERED_MS);
      return { state, cookie };
    },
    async arrive(state, cookies) {
      const id = digest(state);
      const now = clock.now();
      const found = await states.get(id);
      if (found === undefined) return 'unknown';
      if (!(await used.create(id, { at: now }, now + REMEMBERED_MS))) return 'used';
      if (now - found.at >= VALID_MS) return 'expired';
      return isSame(digest(cookies[cookieName(id)] ?? ''), found.browser) ? undefined : 'other browser';
    },
  };
}

/** One cookie a state, so that two tabs do not undo each other. */
function cookieName(id: string): string {
  return `deckhand-install-${id.slice(0, 12)}`;
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
