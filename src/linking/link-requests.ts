import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { defined, hashJson, isSameSecret } from '../core/json.ts';
import { type Clock, HOUR_MS } from '../core/time/clock.ts';
import type { Field, Sealer } from '../store/sealer.ts';
import { type Collection, GLOBAL, type Store } from '../store/store.ts';
import type { Installations } from '../workspace/installations.ts';
import { LinkRequest } from '../workspace/workspace.ts';

/** Longest way from our page to the service and back, and from a command to the browser. */
const VALID_MS = 10 * 60_000;
/** How long used and expired ones are remembered, so that the page can tell them apart. */
const REMEMBERED_MS = HOUR_MS;
/** Largest number of tickets, and of states. */
const MAX_STORED = 10_000;
/** Largest number of one person. */
const MAX_OF_PERSON = 5;

export const Ticket = LinkRequest.extend({ at: z.number(), isUsed: z.boolean().optional() });
type Ticket = z.infer<typeof Ticket>;
export const State = Ticket.extend({
  /** Digest of the browser's cookie. */
  browser: z.string(),
  ticket: z.string(),
  sealedVerifier: z.string().optional(),
});

export type StateFault = 'unknown' | 'expired' | 'used' | 'other browser';

/** A browser's cookies by name. */
export type Cookies = Readonly<Record<string, string | undefined>>;

/** State and cookie with which a browser is sent to the service. */
export interface Departure {
  state: string;
  cookie: { name: string; value: string };
}

export type LinkRequests = ReturnType<typeof createLinkRequests>;

/**
 * Tickets and states of linking. A ticket opens our page in the browser of the person who ran the command. A state, bound
 * to that browser by a cookie, comes back from the service and works once. The store has only their digests.
 */
export function createLinkRequests(parts: {
  store: Store;
  sealer: Sealer;
  clock: Clock;
  installations: Pick<Installations, 'isInstalled'>;
}) {
  const { store, sealer, clock } = parts;
  const tickets = store.of(GLOBAL).collection('link-tickets', Ticket);
  const states = store.of(GLOBAL).collection('link-states', State);

  const isOver = ({ at }: { at: number }): boolean => clock.now() - at >= VALID_MS;

  async function eraseFrom(collection: string, workspace: string): Promise<void> {
    const requests = store.of(GLOBAL).collection(collection, LinkRequest);
    for (const { id, doc } of await requests.list())
      if (doc.workspace === workspace) await requests.delete(id);
  }

  return {
    /** Deletes the open requests of a workspace. */
    async erase(workspace: string): Promise<void> {
      await eraseFrom('link-tickets', workspace);
      await eraseFrom('link-states', workspace);
    },
    async ask(linkRequest: LinkRequest): Promise<string> {
      const ticket = randomText();
      const at = clock.now();
      await makeRoom(tickets, linkRequest);
      await tickets.put(hashJson(ticket), { ...linkRequest, at }, at + REMEMBERED_MS);
      return ticket;
    },
    /** The ticket's owner; it may be opened again until the link is made. */
    async open(ticket: string): Promise<LinkRequest | StateFault> {
      const id = hashJson(ticket);
      const doc = await tickets.get(id);
      if (doc === undefined) return 'unknown';
      if (doc.isUsed) return 'used';
      return isOver(doc) ? 'expired' : readLinkRequest(doc);
    },
    question,
    isAnswer,
    depart,
    /** Stores a departure until it comes back. */
    async keep(
      ticket: string,
      linkRequest: LinkRequest,
      departure: Departure,
      verifier: string | undefined,
    ): Promise<void> {
      const id = hashJson(departure.state);
      const at = clock.now();
      const isStill = (): Promise<boolean> => parts.installations.isInstalled(linkRequest.workspace);
      const sealedVerifier =
        verifier && (await sealer.of(linkRequest.workspace, isStill).seal(sealedField(id), verifier));
      const bound = { at, browser: hashJson(departure.cookie.value), ticket: hashJson(ticket) };
      const doc = { ...linkRequest, ...bound, ...defined({ sealedVerifier }) };
      await makeRoom(states, linkRequest);
      await states.put(id, doc, at + REMEMBERED_MS);
    },
    /** Uses up a state, whatever the result. */
    async finish(
      state: string,
      cookies: Cookies,
    ): Promise<{ linkRequest: LinkRequest; verifier: string | undefined } | StateFault> {
      const id = hashJson(state);
      const doc = await states.get(id);
      if (doc === undefined) return 'unknown';
      if (!(await markAsUsed(states, id))) return 'used';
      if (isOver(doc)) return 'expired';
      if (!isSameSecret(hashJson(cookies[stateCookie(id)] ?? ''), doc.browser)) return 'other browser';
      // The first valid state uses up the ticket.
      if (!(await markAsUsed(tickets, doc.ticket))) return 'used';
      const { workspace, sealedVerifier: sealed } = doc;
      const verifier = sealed && (await sealer.of(workspace).open(sealedField(id), sealed));
      return { linkRequest: readLinkRequest(doc), verifier };
    },
  };
}

/** Binds our page to the browser that shows it: the browser has the cookie, and its form sends the token. */
function question(ticket: string) {
  const cookie = { name: pageCookie(hashJson(ticket)), value: randomText() };
  return { cookie, token: deriveToken(ticket, cookie.value) };
}

/** True if our page in this browser sent the form, and not another site. */
function isAnswer(ticket: string, token: string, cookies: Cookies): boolean {
  const cookie = cookies[pageCookie(hashJson(ticket))];
  return cookie !== undefined && isSameSecret(token, deriveToken(ticket, cookie));
}

function depart(): Departure {
  const state = randomText();
  return { state, cookie: { name: stateCookie(hashJson(state)), value: randomText() } };
}

function readLinkRequest(doc: LinkRequest): LinkRequest {
  const { workspace, user, name, email, lacksScope, workspaceName } = doc;
  return { workspace, user, name, ...defined({ email, lacksScope, workspaceName }) };
}

/** Returns false if it was used before or is gone. */
async function markAsUsed<T extends { isUsed?: boolean | undefined }>(
  rows: Collection<T>,
  id: string,
): Promise<boolean> {
  let isFirst = false;
  await rows.update(id, (current) => {
    isFirst = current !== undefined && current.isUsed !== true;
    return current && { ...current, isUsed: true };
  });
  return isFirst;
}

/**
 * Makes room for one more. Each person keeps the newest few. If the total is too large, the workspace with the most loses
 * its oldest, so that no workspace crowds out another.
 */
async function makeRoom<T extends Ticket>(
  rows: Collection<T>,
  { workspace, user }: LinkRequest,
): Promise<void> {
  const all = (await rows.list()).toSorted((one, other) => other.doc.at - one.doc.at);
  const own = all.filter(({ doc }) => doc.workspace === workspace && doc.user === user);
  const surplus = own.slice(MAX_OF_PERSON - 1);
  const excess = all.length - surplus.length - MAX_STORED + 1;
  const groups = [...Map.groupBy(all, ({ doc }) => doc.workspace).values()];
  const [largest = []] = groups.toSorted((one, other) => other.length - one.length);
  for (const { id } of [...surplus, ...(excess > 0 ? largest.slice(-excess) : [])]) await rows.delete(id);
}

/** Name of a state's cookie; each state has its own, so that two tabs do not disturb each other. */
function stateCookie(id: string): string {
  return `deckhand-link-${id.slice(0, 12)}`;
}

function pageCookie(ticketId: string): string {
  return `deckhand-ask-${ticketId.slice(0, 12)}`;
}

/** Token of a form, which only a page with the cookie knows. */
function deriveToken(ticket: string, cookie: string): string {
  return hashJson([ticket, cookie]);
}

function sealedField(id: string): Field {
  return { record: `link-states/${id}`, field: 'verifier' };
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}
