import { z } from 'zod';
import {
  AccountFailure,
  AccountKeyUnreadable,
  ServiceError,
  type Sought,
  UserError,
} from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { AccountClient, Service } from '../service/client.ts';
import { type Field, SealError, type WorkspaceSealer } from '../store/sealer.ts';
import type { Collection, UnreadableDocument, WorkspaceStore } from '../store/store.ts';

/**
 * What a key of an account is for.
 * - `shared`: everybody's commands, and schedules
 * - `billing`: invoices and their notices
 * - `mine`: the commands of the person who connected it
 */
export const PURPOSES = ['shared', 'billing', 'mine'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** What tells one key from another; an account has one shared, one for billing, and one for each person. */
export interface KeyIdentity {
  /** The account's. */
  name: string;
  purpose: Purpose;
  /** The owner, where it is a person's own. */
  connectedBy: string;
}

/** Who asks, and for what: that decides which of an account's keys is used. A `Caller` is one. */
export interface Requester {
  /** Empty or undefined where no person does. */
  user?: string | undefined;
  /** Set for invoices. */
  billing?: boolean;
}

export const SCHEDULES = {} as const satisfies Requester;
export const INVOICE_SCHEDULES = { billing: true } as const satisfies Requester;

/** For a person who asks for invoices. */
export function forInvoices({ user }: Requester): Requester {
  return { user, billing: true };
}

/** The id of its record, and a part of what its seal is bound to. No account has a space in its name. */
export function keyId({ name, purpose, connectedBy }: KeyIdentity): string {
  switch (purpose) {
    case 'shared':
      return name;
    case 'billing':
      return `${name} billing`;
    case 'mine':
      return `${name} mine ${connectedBy}`;
  }
}

/** A key's public name, as the audit log has it. */
export function keyTarget({ name, purpose, connectedBy }: KeyIdentity): string {
  if (purpose === 'shared') return name;
  return purpose === 'billing' ? `${name}/billing` : `${name}/mine/${connectedBy}`;
}

/** The ids of the keys that may act for the asker: the first that there is does. */
export function keyIdsFor(name: string, { user, billing }: Requester): string[] {
  const purposes: Purpose[] = [
    ...(user ? (['mine'] as const) : []),
    ...(billing ? (['billing'] as const) : []),
    'shared',
  ];
  return purposes.map((purpose) => keyId({ name, purpose, connectedBy: user ?? '' }));
}

/** Of all keys those that act for the asker, one an account, in the order of the accounts. */
export function keysFor<Key extends KeyIdentity>(keys: readonly Key[], requester: Requester): Key[] {
  const byId = new Map(keys.map((key) => [keyId(key), key]));
  const names = [...new Set(keys.map(({ name }) => name))];
  return names.flatMap((name) => keyIdsFor(name, requester).flatMap((id) => byId.get(id) ?? [])[0] ?? []);
}

/** A seal opens for its own key's record alone. */
export function keyField(key: KeyIdentity): Field {
  return { record: `accounts/${keyId(key)}`, field: 'apiKey' };
}

/**
 * A connected account of the deployment service, with one of its keys.
 * - `unverified`: came from a sign-up whose e-mail is not verified yet; the key answers 401 until then
 * - `broken`: the key worked once and was refused since (revoked or rotated), or cannot be read
 */
export const Account = z.object({
  name: z.string(),
  email: z.string(),
  sealedKey: z.string(),
  /** The last four characters of the key, the only ones that are shown. */
  keyTail: z.string(),
  /** Of this key alone. */
  state: z.enum(['ok', 'unverified', 'broken']),
  /** It is broken because the stored key does not open, rather than because the service refused it. */
  isUnreadable: z.boolean().optional(),
  purpose: z.enum(PURPOSES),
  connectedBy: z.string(),
  connectedAt: z.number(),
});
export type Account = z.infer<typeof Account>;

const Preferences = z.object({ defaultAccount: z.string().optional() });
const PREFERENCES_ID = 'preferences';
/** Shorter than between two polls of one run. */
const POLLED_MS = 1_000;

export type Accounts = ReturnType<typeof createAccounts>;

interface NewKey extends Pick<Account, 'name' | 'email' | 'connectedBy'> {
  apiKey: string;
  state: 'ok' | 'unverified';
  /** Shared where left out. */
  purpose?: Account['purpose'];
}

interface AccountsParts {
  store: Pick<WorkspaceStore, 'collection'>;
  sealer: WorkspaceSealer;
  service: Service;
  clock: Clock;
  /** Called when a connection breaks or works again, so that schedules can pause and resume. */
  onState: (account: Account) => Promise<unknown>;
  /** Called with a key that does not open. */
  onUnreadable: (document: Omit<UnreadableDocument, 'workspace'>) => void;
}

export function createAccounts(parts: AccountsParts) {
  const stored: Collection<Account> = parts.store.collection('accounts', Account);
  const preferences = parts.store.collection('preferences', Preferences);
  const reader = createReader(stored, preferences);

  const polled = new TtlCache<Account>(parts.clock, POLLED_MS);
  const clientsOfPolled = new WeakMap<Account, AccountClient>();

  /** Remembers how a key stands, unless it was replaced meanwhile. */
  async function changeState(account: Account, state: Account['state'], isUnreadable = false): Promise<void> {
    if (account.state === state && (account.isUnreadable ?? false) === isUnreadable) return;
    const changed = await stored.update(keyId(account), (current) =>
      current?.sealedKey === account.sealedKey ? { ...current, state, isUnreadable } : current,
    );
    if (changed?.sealedKey === account.sealedKey) await parts.onState(changed);
  }

  async function open(account: Account): Promise<AccountClient> {
    const { name, email } = account;
    try {
      const apiKey = await parts.sealer.open(keyField(account), account.sealedKey);
      return parts.service.account({ account: name, email, apiKey });
    } catch (cause) {
      if (!(cause instanceof SealError)) throw cause;
      parts.onUnreadable({ collection: 'accounts', id: keyId(account) });
      await changeState(account, 'broken', true);
      throw new AccountKeyUnreadable(name, { cause });
    }
  }

  return {
    ...reader,
    /** For what polls: who acts counts for a second, so that runs of one account read it, and open its key, once. */
    resolveForPoll: (requester: Requester, named: string) =>
      polled.get([named, JSON.stringify(requester)], async () => {
        const account = await reader.resolve(requester, named);
        clientsOfPolled.set(account, await open(account));
        return account;
      }),
    /** Seals the key and stores it; the first account becomes the default. Replaces the key of the same identity. */
    async connect({ apiKey, purpose = 'shared', ...details }: NewKey): Promise<Account> {
      const key = { ...details, purpose };
      const sealedKey = await parts.sealer.seal(keyField(key), apiKey);
      const keyTail = apiKey.slice(-4);
      const doc: Account = { ...key, sealedKey, keyTail, connectedAt: parts.clock.now() };
      await stored.put(keyId(key), doc);
      await preferences.update(PREFERENCES_ID, (current) => ({
        defaultAccount: current?.defaultAccount ?? key.name,
      }));
      await parts.onState(doc);
      return doc;
    },
    setDefault: (name: string) => preferences.put(PREFERENCES_ID, { defaultAccount: name }),
    /** Deletes a sealed key by its `keyId`; false if there was none. */
    async disconnect(id: string): Promise<boolean> {
      const wasThere = await stored.delete(id);
      const left = await reader.keys();
      await preferences.update(PREFERENCES_ID, (current) =>
        left.some(({ name }) => name === current?.defaultAccount) ? current : {},
      );
      return wasThere;
    },
    /**
     * Calls the service with the account's key. A 401 on a key that worked before marks that key broken; a success marks
     * it ok.
     * @param sought what a `record_not_found` is about, for the sentence that the person reads
     * @throws AccountFailure for a ServiceError
     */
    async use<T>(account: Account, work: (client: AccountClient) => Promise<T>, sought?: Sought): Promise<T> {
      const client = clientsOfPolled.get(account) ?? (await open(account));
      try {
        const result = await work(client);
        await changeState(account, 'ok');
        return result;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const isKnown = account.state !== 'ok' && account.isUnreadable !== true;
        if (error.kind !== 'unauthorized' || isKnown) throw new AccountFailure(account, error, sought);
        await changeState(account, 'broken');
        throw new AccountFailure({ ...account, state: 'broken' }, error, sought);
      }
    },
  };
}

/** Which keys there are, and which one acts for whom. */
function createReader(stored: Collection<Account>, preferences: Collection<z.infer<typeof Preferences>>) {
  /** Every key of every account. */
  async function keys(): Promise<Account[]> {
    const rows = await stored.list();
    return rows.map((row) => row.doc).sort((a, b) => a.connectedAt - b.connectedAt);
  }

  async function get(name: string, requester: Requester = SCHEDULES): Promise<Account | undefined> {
    const found = await Promise.all(keyIdsFor(name, requester).map((id) => stored.get(id)));
    return found.find((key) => key !== undefined);
  }

  /** One an account, with the key that acts for the asker: schedules where none is given. */
  async function list(requester: Requester = SCHEDULES): Promise<Account[]> {
    return keysFor(await keys(), requester);
  }

  /** The workspace's default account. */
  async function getDefault(requester: Requester): Promise<Account | undefined> {
    const accounts = await list(requester);
    if (accounts.length < 2) return accounts[0];
    const chosen = await preferences.get(PREFERENCES_ID);
    return accounts.find(({ name }) => name === chosen?.defaultAccount) ?? accounts[0];
  }

  /** Other people's keys of it are shown in lists, so it is not said to be unknown. */
  async function notUsable(name: string): Promise<UserError> {
    return (await keys()).some((key) => key.name === name) ? noSharedKey(name) : unknownAccount(name);
  }

  return {
    keys,
    list,
    get,
    defaultName: async (requester: Requester = SCHEDULES) => (await getDefault(requester))?.name,
    /**
     * The named account, else the preferred one (the channel's), else the workspace's default, with the key that acts for
     * the asker. This alone decides whose key that is.
     * @throws UserError where nothing is connected or the name is unknown
     */
    async resolve(requester: Requester, named?: string, preferred?: string): Promise<Account> {
      const wanted = named ?? preferred;
      const account = wanted === undefined ? undefined : await get(wanted.toLowerCase(), requester);
      if (account !== undefined) return account;
      if (named !== undefined) throw await notUsable(named.toLowerCase());
      const fallback = await getDefault(requester);
      if (fallback === undefined)
        throw new UserError('No account is connected in this workspace yet.', 'connect');
      return fallback;
    },
  };
}

/** People without a key of their own have none for it. @param name of an account that is connected */
export function noSharedKey(name: string): UserError {
  return new UserError(`The account \`${name}\` has no shared key.`, `connect ${name}`);
}

/** Foreign text is reduced to what a name may hold. */
export function unknownAccount(named: string): UserError {
  return new UserError(
    `No account named \`${named.replace(/[^a-z0-9-]/gi, '').slice(0, 60)}\` is connected.`,
    'accounts',
  );
}
