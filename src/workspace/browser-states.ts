import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type Clock, HOUR_MS } from '../core/clock.ts';
import { type AskTenancy, GLOBAL, type Store } from '../store/store.ts';

/** From our page to another site and back, and from a command to the browser. */
const VALID_MS = 10 * 60_000;
/** How long used and expired ones are remembered, so that the page can say which it was. */
const REMEMBERED_MS = HOUR_MS;

const Used = z.object({ at: z.number() });
const Bound = z.object({
  at: z.number(),
  /** Digest of the cookie that the browser was given. */
  browser: z.string(),
});

export type StateFault = 'unknown' | 'expired' | 'used' | 'other browser';

/** A browser's cookies by name. */
export type Cookies = Readonly<Record<string, string | undefined>>;

/** What a browser is sent to another site with. */
export interface Departure {
  state: string;
  cookie: { name: string; value: string };
}

export type BrowserStates<More extends object> = ReturnType<typeof createBrowserStates<More>>;

/**
 * The states with which browsers are sent away: each is bound to one browser by a cookie, counts once however it comes
 * back, and is over after ten minutes. The store has digests only.
 * @param more what is kept of each beside that
 */
export function createBrowserStates<More extends object>(
  { store, clock }: { store: Store; clock: Clock },
  kind: 'install' | 'link',
  more: z.ZodType<More>,
) {
  const schema = z.intersection(more, Bound);
  const open = (during?: AskTenancy) => {
    const documents = store.of(GLOBAL, during);
    return kind === 'link'
      ? { states: documents.collection('link-states', schema), used: documents.collection('link-used', Used) }
      : {
          states: documents.collection('install-states', schema),
          used: documents.collection('install-used', Used),
        };
  };
  const { states, used } = open();
  /** A cookie for each state, so that two tabs do not disturb each other. */
  const cookieName = (id: string): string => `deckhand-${kind}-${id.slice(0, 12)}`;

  /** False where it was claimed before. */
  function claim(id: string): Promise<boolean> {
    const at = clock.now();
    return used.create(id, { at }, at + REMEMBERED_MS);
  }

  return {
    claim,
    isUsed: async (id: string): Promise<boolean> => (await used.get(id)) !== undefined,
    depart(): Departure {
      const state = randomText();
      return { state, cookie: { name: cookieName(digest(state)), value: randomText() } };
    },
    /** Stores a departure until it comes back. */
    async keep({ state, cookie }: Departure, doc: More, during?: AskTenancy): Promise<void> {
      const at = clock.now();
      const bound = { ...doc, at, browser: digest(cookie.value) };
      await open(during).states.put(digest(state), bound, at + REMEMBERED_MS);
    },
    /** Takes a state, once, whatever the result. */
    async arrive(state: string, cookies: Cookies): Promise<More | StateFault> {
      const id = digest(state);
      const found = await states.get(id);
      if (found === undefined) return 'unknown';
      if (!(await claim(id))) return 'used';
      if (isOver(found.at, clock.now())) return 'expired';
      if (!isSame(digest(cookies[cookieName(id)] ?? ''), found.browser)) return 'other browser';
      return found;
    },
  };
}

export function isOver(at: number, now: number): boolean {
  return now - at >= VALID_MS;
}

/** When a state or ticket of now is forgotten. */
export function forgottenAt(now: number): number {
  return now + REMEMBERED_MS;
}

export function randomText(): string {
  return randomBytes(32).toString('base64url');
}

export function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** @param one and `other`: digests */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
