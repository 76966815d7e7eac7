import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { type Collection, GLOBAL, type Place, type Sealer, type Store } from '../store/store.ts';

/** From the command to the browser, and from there to the service and back: each at most this long. */
const VALID_MS = 10 * 60_000;
/** How long it is known that something was used or ran out, so that the person can be told. */
const REMEMBERED_MS = 60 * 60_000;

/** Who asked to be linked, and what they are called in Slack. */
const Asker = z.object({ workspace: z.string(), user: z.string(), name: z.string() });
export type Asker = z.infer<typeof Asker>;

const Ticket = Asker.extend({ at: z.number() });
const State = Asker.extend({
  at: z.number(),
  ticket: z.string(),
  /** Digest of the cookie that the browser was given. */
  browser: z.string(),
  sealedVerifier: z.string().optional(),
});
const Used = z.object({ at: z.number() });

export type Refusal = 'unknown' | 'expired' | 'used' | 'other browser';

/** What a browser is sent away with: to the service, and back to us. */
export interface Departure {
  state: string;
  cookie: Cookie;
}

interface Cookie {
  name: string;
  value: string;
}

/** What it must come back with. */
export interface Arrival {
  state: string;
  /** The browser's cookies by name. */
  cookies: Readonly<Record<string, string | undefined>>;
}

/**
 * The two short-lived steps of linking. A ticket opens our page in the browser of whoever ran the command; a state,
 * bound to that browser by a cookie, comes back from the service and counts once. The store holds digests only.
 */
export interface LinkRequests {
  ask(asker: Asker): Promise<string>;
  /** Who holds the ticket; it may be opened again until the link is made. */
  open(ticket: string): Promise<Asker | Refusal>;
  depart(): Departure;
  /** Keeps what a departure must come back with. */
  keep(ticket: string, asker: Asker, departure: Departure, verifier: string | undefined): Promise<void>;
  /** Deletes what waits of a workspace. */
  erase(workspace: string): Promise<void>;
  /** Takes a state, once, whatever comes of it. */
  arrive(arrival: Arrival): Promise<{ asker: Asker; verifier: string | undefined } | Refusal>;
}

export function createLinkRequests(parts: { store: Store; sealer: Sealer; clock: Clock }): LinkRequests {
  const { store, sealer, clock } = parts;
  const tickets = store.collection('link-tickets', Ticket);
  const states = store.collection('link-states', State);
  const used = store.collection('link-used', Used);
  const claim = (id: string, at: number) => used.create(GLOBAL, id, { at }, at + REMEMBERED_MS);

  async function eraseOf(requests: Collection<Asker>, workspace: string): Promise<void> {
    for (const { id, doc } of await requests.list(GLOBAL))
      if (doc.workspace === workspace) await requests.delete(GLOBAL, id);
  }

  return {
    async erase(workspace) {
      await eraseOf(store.collection('link-tickets', Asker), workspace);
      await eraseOf(store.collection('link-states', Asker), workspace);
    },
    async ask(asker) {
      const ticket = randomText();
      const at = clock.now();
      await tickets.put(GLOBAL, digest(ticket), { ...asker, at }, at + REMEMBERED_MS);
      return ticket;
    },
    async open(ticket) {
      const id = digest(ticket);
      const found = await tickets.get(GLOBAL, id);
      if (found === undefined) return 'unknown';
      if ((await used.get(GLOBAL, id)) !== undefined) return 'used';
      return isOver(found.at, clock.now()) ? 'expired' : askerOf(found);
    },
    depart() {
      const state = randomText();
      return { state, cookie: { name: cookieName(digest(state)), value: randomText() } };
    },
    async keep(ticket, asker, { state, cookie }, verifier) {
      const id = digest(state);
      const at = clock.now();
      const doc = { ...asker, at, ticket: digest(ticket), browser: digest(cookie.value) };
      const sealedVerifier =
        verifier === undefined ? undefined : await sealer.seal(placeOf(asker, id), verifier);
      const whole = sealedVerifier === undefined ? doc : { ...doc, sealedVerifier };
      await states.put(GLOBAL, id, whole, at + REMEMBERED_MS);
    },
    async arrive({ state, cookies }) {
      const id = digest(state);
      const now = clock.now();
      const found = await states.get(GLOBAL, id);
      if (found === undefined) return 'unknown';
      if (!(await claim(id, now))) return 'used';
      if (isOver(found.at, now)) return 'expired';
      if (!isSame(digest(cookies[cookieName(id)] ?? ''), found.browser)) return 'other browser';
      // The ticket is spent with the first browser that comes back in order.
      if (!(await claim(found.ticket, now))) return 'used';
      const { sealedVerifier } = found;
      const verifier =
        sealedVerifier === undefined ? undefined : await sealer.open(placeOf(found, id), sealedVerifier);
      return { asker: askerOf(found), verifier };
    },
  };
}

function askerOf({ workspace, user, name }: Asker): Asker {
  return { workspace, user, name };
}

function isOver(at: number, now: number): boolean {
  return now - at >= VALID_MS;
}

/** One cookie a state, so that two tabs do not undo each other. */
function cookieName(stateId: string): string {
  return `deckhand-link-${stateId.slice(0, 12)}`;
}

function placeOf({ workspace }: Asker, id: string): Place {
  return { workspace, record: `link-states/${id}`, field: 'verifier' };
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
