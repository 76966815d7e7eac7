import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { InstallationEnded } from '../core/errors.ts';
import { defined } from '../core/json.ts';
import type { Field, Sealer } from '../store/sealer.ts';
import { type AskTenancy, GLOBAL, type Store, type Tenancy } from '../store/store.ts';
import {
  type Cookies,
  createBrowserStates,
  type Departure,
  digest,
  forgottenAt,
  isOver,
  isSame,
  randomText,
  type StateFault,
} from './browser-states.ts';

/** The person who asked to be linked, with their name and their workspace's in Slack. */
const Asker = z.object({
  workspace: z.string(),
  user: z.string(),
  name: z.string(),
  workspaceName: z.string().optional(),
});
export type Asker = z.infer<typeof Asker>;

const Ticket = Asker.extend({ at: z.number() });
const Kept = Asker.extend({ ticket: z.string(), sealedVerifier: z.string().optional() });

/** What our page asks with: the browser keeps the cookie, and its form sends the token. */
interface Question {
  cookie: Departure['cookie'];
  token: string;
}

export type LinkRequests = ReturnType<typeof createLinkRequests>;

/**
 * The two short-lived steps of linking. A ticket opens our page in the browser of the person who ran the command; a state,
 * bound to that browser by a cookie, comes back from the service and works once. The store has only digests.
 */
export function createLinkRequests(parts: { store: Store; sealer: Sealer; clock: Clock }) {
  const { store, sealer, clock } = parts;
  const ticketsIn = (during?: AskTenancy) => store.of(GLOBAL, during).collection('link-tickets', Ticket);
  const tickets = ticketsIn();
  const { claim, isUsed, ...states } = createBrowserStates(parts, 'link', Kept);

  async function eraseOf(collection: string, workspace: string): Promise<void> {
    const requests = store.of(GLOBAL).collection(collection, Asker);
    for (const { id, doc } of await requests.list())
      if (doc.workspace === workspace) await requests.delete(id);
  }

  return {
    /** Deletes the open requests of a workspace. */
    async erase(workspace: string): Promise<void> {
      await eraseOf('link-tickets', workspace);
      await eraseOf('link-states', workspace);
    },
    /** @throws InstallationEnded once the tenancy `during` has */
    async ask(asker: Asker, during?: AskTenancy): Promise<string> {
      const ticket = randomText();
      const at = clock.now();
      await ticketsIn(during).put(digest(ticket), { ...asker, at }, forgottenAt(at));
      return ticket;
    },
    /** The ticket's owner; it may be opened again until the link is made. */
    async open(ticket: string): Promise<Asker | StateFault> {
      const id = digest(ticket);
      const found = await tickets.get(id);
      if (found === undefined) return 'unknown';
      if (await isUsed(id)) return 'used';
      return isOver(found.at, clock.now()) ? 'expired' : askerOf(found);
    },
    /** Binds our page to the browser that shows it. */
    question(ticket: string): Question {
      const cookie = { name: pageCookie(digest(ticket)), value: randomText() };
      return { cookie, token: tokenOf(ticket, cookie.value) };
    },
    /** True if the form was sent by the page that this browser was shown for the ticket, and not by another site. */
    isAnswer(ticket: string, token: string, cookies: Cookies): boolean {
      const cookie = cookies[pageCookie(digest(ticket))];
      return cookie !== undefined && isSame(digest(token), digest(tokenOf(ticket, cookie)));
    },
    depart: states.depart,
    /** Stores a departure until it comes back. */
    async keep(
      ticket: string,
      asker: Asker,
      departure: Departure,
      verifier: string | undefined,
    ): Promise<void> {
      const during = (): Promise<Tenancy> => standing(store, asker.workspace);
      const field = fieldOf(digest(departure.state));
      const sealedVerifier = verifier && (await sealer.of(asker.workspace, during).seal(field, verifier));
      const doc = { ...asker, ticket: digest(ticket), ...defined({ sealedVerifier }) };
      await states.keep(departure, doc, during);
    },
    /** Takes a state, once, whatever the result. */
    async arrive(
      state: string,
      cookies: Cookies,
    ): Promise<{ asker: Asker; verifier: string | undefined } | StateFault> {
      const found = await states.arrive(state, cookies);
      if (typeof found === 'string') return found;
      // The first valid return uses up the ticket.
      if (!(await claim(found.ticket))) return 'used';
      const { workspace, sealedVerifier: sealed } = found;
      const verifier = sealed && (await sealer.of(workspace).open(fieldOf(digest(state)), sealed));
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

/** Our page, which asks before anything begins. */
export const START_PATH = '/service/oauth/start';
/** Where the service sends the browser back; registered there in exactly this form. */
export const CALLBACK_PATH = '/service/oauth/callback';

/** Where the person's browser begins, with the ticket. */
export function startAddress(publicUrl: string, ticket: string): string {
  return `${addressOf(publicUrl, START_PATH)}?ticket=${encodeURIComponent(ticket)}`;
}

export function addressOf(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${path}`;
}
