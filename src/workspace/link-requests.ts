import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { defined } from '../core/defined.ts';
import { InstallationEnded } from '../core/errors.ts';
import type { Field, Sealer } from '../store/sealer.ts';
import { type AskTenancy, type Collection, GLOBAL, type Store, type Tenancy } from '../store/store.ts';

/** The time from the command to the browser, and from there to the service and back. */
const VALID_MS = 10 * 60_000;
/** How long used and expired requests are remembered, so that the page can say so. */
const REMEMBERED_MS = 60 * 60_000;

/** The person who asked to be linked, with their name and their workspace's in Slack. */
const Asker = z.object({
  workspace: z.string(),
  user: z.string(),
  name: z.string(),
  workspaceName: z.string().optional(),
});
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

/** What a browser takes with it to the service and back to us. */
export interface Departure {
  state: string;
  cookie: Cookie;
}

interface Cookie {
  name: string;
  value: string;
}

/** What our page asks with: the browser keeps the cookie, and its form sends the token. */
export interface Question {
  cookie: Cookie;
  token: string;
}

/** What it comes back with. */
export interface Arrival {
  state: string;
  /** The browser's cookies by name. */
  cookies: Readonly<Record<string, string | undefined>>;
}

/**
 * The two short-lived steps of linking. A ticket opens our page in the browser of the person who ran the command; a state,
 * bound to that browser by a cookie, comes back from the service and works once. The store has only digests.
 */
export interface LinkRequests {
  /** @throws InstallationEnded once the tenancy `during` has */
  ask(asker: Asker, during?: AskTenancy | undefined): Promise<string>;
  /** The ticket's owner; it may be opened again until the link is made. */
  open(ticket: string): Promise<Asker | Refusal>;
  /** Binds our page to the browser that shows it. */
  question(ticket: string): Question;
  /** True if the form was sent by the page that this browser was shown for the ticket, and not by another site. */
  isAnswer(ticket: string, token: string, cookies: Arrival['cookies']): boolean;
  depart(): Departure;
  /** Stores a departure until it comes back. */
  keep(ticket: string, asker: Asker, departure: Departure, verifier: string | undefined): Promise<void>;
  /** Deletes the open requests of a workspace. */
  erase(workspace: string): Promise<void>;
  /** Takes a state, once, whatever the result. */
  arrive(arrival: Arrival): Promise<{ asker: Asker; verifier: string | undefined } | Refusal>;
}

export function createLinkRequests(parts: { store: Store; sealer: Sealer; clock: Clock }): LinkRequests {
  const { store, sealer, clock } = parts;
  const tickets = store.of(GLOBAL).collection('link-tickets', Ticket);
  const states = store.of(GLOBAL).collection('link-states', State);
  const used = store.of(GLOBAL).collection('link-used', Used);
  const claim = (id: string, at: number) => used.create(id, { at }, at + REMEMBERED_MS);

  async function eraseOf(requests: Collection<Asker>, workspace: string): Promise<void> {
    for (const { id, doc } of await requests.list())
      if (doc.workspace === workspace) await requests.delete(id);
  }

  return {
    async erase(workspace) {
      await eraseOf(store.of(GLOBAL).collection('link-tickets', Asker), workspace);
      await eraseOf(store.of(GLOBAL).collection('link-states', Asker), workspace);
    },
    async ask(asker, during) {
      const ticket = randomText();
      const at = clock.now();
      const stored = store.of(GLOBAL, during).collection('link-tickets', Ticket);
      await stored.put(digest(ticket), { ...asker, at }, at + REMEMBERED_MS);
      return ticket;
    },
    async open(ticket) {
      const id = digest(ticket);
      const found = await tickets.get(id);
      if (found === undefined) return 'unknown';
      if ((await used.get(id)) !== undefined) return 'used';
      return isOver(found.at, clock.now()) ? 'expired' : askerOf(found);
    },
    question(ticket) {
      const cookie = { name: pageCookie(digest(ticket)), value: randomText() };
      return { cookie, token: tokenOf(ticket, cookie.value) };
    },
    isAnswer(ticket, token, cookies) {
      const cookie = cookies[pageCookie(digest(ticket))];
      return cookie !== undefined && isSame(digest(token), digest(tokenOf(ticket, cookie)));
    },
    depart() {
      const state = randomText();
      return { state, cookie: { name: cookieName(digest(state)), value: randomText() } };
    },
    async keep(ticket, asker, { state, cookie }, verifier) {
      const id = digest(state);
      const at = clock.now();
      const during = (): Promise<Tenancy> => standing(store, asker.workspace);
      const sealedVerifier =
        verifier && (await sealer.of(asker.workspace, during).seal(fieldOf(id), verifier));
      const doc = { ...asker, at, ticket: digest(ticket), browser: digest(cookie.value) };
      const stored = store.of(GLOBAL, during).collection('link-states', State);
      await stored.put(id, { ...doc, ...defined({ sealedVerifier }) }, at + REMEMBERED_MS);
    },
    async arrive({ state, cookies }) {
      const id = digest(state);
      const now = clock.now();
      const found = await states.get(id);
      if (found === undefined) return 'unknown';
      if (!(await claim(id, now))) return 'used';
      if (isOver(found.at, now)) return 'expired';
      if (!isSame(digest(cookies[cookieName(id)] ?? ''), found.browser)) return 'other browser';
      // The first valid return uses up the ticket.
      if (!(await claim(found.ticket, now))) return 'used';
      const { workspace, sealedVerifier: sealed } = found;
      const verifier = sealed && (await sealer.of(workspace).open(fieldOf(id), sealed));
      return { asker: askerOf(found), verifier };
    },
  };
}

/** @throws InstallationEnded */
async function standing(store: Store, workspace: string): Promise<Tenancy> {
  const tenancy = await store.tenancy(workspace);
  if (tenancy === undefined) throw new InstallationEnded();
  return tenancy;
}

function askerOf({ workspace, user, name, workspaceName }: Asker): Asker {
  return { workspace, user, name, ...defined({ workspaceName }) };
}

function isOver(at: number, now: number): boolean {
  return now - at >= VALID_MS;
}

/** A cookie for each state, so that two tabs do not disturb each other. */
function cookieName(stateId: string): string {
  return `deckhand-link-${stateId.slice(0, 12)}`;
}

function pageCookie(ticketId: string): string {
  return `deckhand-ask-${ticketId.slice(0, 12)}`;
}

/** Only a page that was given the cookie knows it. */
function tokenOf(ticket: string, cookie: string): string {
  return digest(JSON.stringify([ticket, cookie]));
}

function fieldOf(id: string): Field {
  return { record: `link-states/${id}`, field: 'verifier' };
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

export const START_PATH = '/service/oauth/start';
export const CALLBACK_PATH = '/service/oauth/callback';

/** Our page, which asks before anything begins. */
export function pageAddress(publicUrl: string): string {
  return `${baseOf(publicUrl)}${START_PATH}`;
}

/** Where the person's browser begins, with the ticket. */
export function startAddress(publicUrl: string, ticket: string): string {
  return `${pageAddress(publicUrl)}?ticket=${encodeURIComponent(ticket)}`;
}

/** Where the service sends the browser back; registered there in exactly this form. */
export function callbackAddress(publicUrl: string): string {
  return `${baseOf(publicUrl)}${CALLBACK_PATH}`;
}

function baseOf(publicUrl: string): string {
  return publicUrl.replace(/\/+$/, '');
}
