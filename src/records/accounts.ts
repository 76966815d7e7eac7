import { z } from 'zod';
import {
  AccountFailure,
  AccountKeyUnreadable,
  ServiceError,
  type Sought,
  UserError,
} from '../core/errors.ts';
import { type Clock, HOUR_MS } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { AccountClient, Service } from '../service/client.ts';
import { SealError } from '../store/data-keys.ts';
import type { Field, WorkspaceSealer } from '../store/sealer.ts';
import type { Collection, UnreadableDocument, WorkspaceStore } from '../store/store.ts';

/**
 * The purpose of an account's key.
 * - `shared`: everybody's commands, and schedules
 * - `billing`: invoices and their notices
 * - `mine`: the commands of the person who connected it
 */
export const PURPOSES = ['shared', 'billing', 'mine'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** Identifies a key. An account has at most one shared key, one for billing, and one for each person. */
export interface KeyIdentity {
  name: string;
  purpose: Purpose;
  /** The owner of a personal key. */
  createdBy: string;
}

/** Decides which of an account's keys acts. An `Invocation` is one. */
export interface KeyUse {
  /** Undefined or empty if no person makes the request. */
  user?: string | undefined;
  billing?: boolean;
}

export const SCHEDULES = {} as const satisfies KeyUse;
export const INVOICE_SCHEDULES = { billing: true } as const satisfies KeyUse;

/** A person's request for invoices. */
export function makeInvoiceUse({ user }: KeyUse): KeyUse {
  return { user, billing: true };
}

/** Id of a key's record, which the key's seal is bound to. Account names hold no spaces. */
export function makeKeyId({ name, purpose, createdBy }: KeyIdentity): string {
  switch (purpose) {
    case 'shared':
      return name;
    case 'billing':
      return `${name} billing`;
    case 'mine':
      return `${name} mine ${createdBy}`;
  }
}

/** A key's public name, for the audit log. */
export function nameKeyInAudit({ name, purpose, createdBy }: KeyIdentity): string {
  if (purpose === 'shared') return name;
  return purpose === 'billing' ? `${name}/billing` : `${name}/mine/${createdBy}`;
}

/** Ids of the keys that may be used. The first one that exists is used. */
export function listKeyIds(name: string, { user, billing }: KeyUse): string[] {
  const purposes: Purpose[] = [
    ...(user ? (['mine'] as const) : []),
    ...(billing ? (['billing'] as const) : []),
    'shared',
  ];
  return purposes.map((purpose) => makeKeyId({ name, purpose, createdBy: user ?? '' }));
}

/** The key to use for each account, in the order of the accounts. */
export function selectKeys<Key extends KeyIdentity>(keys: readonly Key[], keyUse: KeyUse): Key[] {
  const byId = new Map(keys.map((key) => [makeKeyId(key), key]));
  const names = [...new Set(keys.map(({ name }) => name))];
  return names.flatMap((name) => listKeyIds(name, keyUse).flatMap((id) => byId.get(id) ?? [])[0] ?? []);
}

/** A sealed key opens only in its own record. */
export function makeKeyField(key: KeyIdentity): Field {
  return { record: `accounts/${makeKeyId(key)}`, field: 'apiKey' };
}

/**
 * A connected account of the deployment service, with one of its keys.
 * - `unverified`: came from a sign-up whose e-mail is not verified yet; until then the service answers 401
 * - `broken`: the key worked once and was then refused (revoked or rotated), or cannot be read
 */
export const Account = z.object({
  name: z.string(),
  email: z.string(),
  sealedKey: z.string(),
  /** The last four characters of the key. Deckhand shows no others. */
  keyTail: z.string(),
  /** State of this key alone. */
  state: z.enum(['ok', 'unverified', 'broken']),
  /** True if the key is broken because its sealed value does not open. */
  isUnreadable: z.boolean().optional(),
  purpose: z.enum(PURPOSES),
  createdBy: z.string(),
  createdAt: z.number(),
});
export interface Account extends z.infer<typeof Account> {}

export const Preferences = z.object({ defaultAccount: z.string().optional() });
const PREFERENCES_ID = 'preferences';
/** Cache time. Shorter than the time between two polls of a run. */
const POLLED_MS = 1_000;

export type Accounts = ReturnType<typeof createAccounts>;

interface NewKey extends Pick<Account, 'name' | 'email' | 'createdBy'> {
  apiKey: string;
  state: 'ok' | 'unverified';
  purpose?: Account['purpose'];
}

interface AccountsParts {
  store: Pick<WorkspaceStore, 'collection'>;
  sealer: WorkspaceSealer;
  service: Service;
  clock: Clock;
  /** Called when a connection breaks or works again: schedules then pause or resume. */
  onState: (account: Account) => Promise<unknown>;
  onUnreadable: (document: Omit<UnreadableDocument, 'workspace'>) => void;
}

export function createAccounts(parts: AccountsParts) {
  const collection: Collection<Account> = parts.store.collection('accounts', Account);
  const preferences = parts.store.collection('preferences', Preferences);
  const reader = createReader(collection, preferences);

  const polled = new TtlCache<Account>(parts.clock, POLLED_MS);
  const clientsOfPolled = new WeakMap<Account, AccountClient>();

  /** Stores a key's new state, unless the key was replaced. */
  async function changeState(account: Account, state: Account['state'], isUnreadable = false): Promise<void> {
    if (account.state === state && (account.isUnreadable ?? false) === isUnreadable) return;
    const changed = await collection.update(makeKeyId(account), (current) =>
      current?.sealedKey === account.sealedKey ? { ...current, state, isUnreadable } : current,
    );
    if (changed?.sealedKey === account.sealedKey) await parts.onState(changed);
  }

  async function open(account: Account): Promise<AccountClient> {
    const { name, email } = account;
    try {
      const apiKey = await parts.sealer.open(makeKeyField(account), account.sealedKey);
      return parts.service.account({ account: name, email, apiKey });
    } catch (cause) {
      if (!(cause instanceof SealError)) throw cause;
      parts.onUnreadable({ collection: 'accounts', id: makeKeyId(account) });
      await changeState(account, 'broken', true);
      throw new AccountKeyUnreadable(name, { cause });
    }
  }

  return {
    ...reader,
    /** Like `resolve`, but cached for a second, because many runs poll the same account. */
    resolveForPoll: (keyUse: KeyUse, accountName: string) =>
      polled.get([accountName, JSON.stringify(keyUse)], async () => {
        const account = await reader.resolve(keyUse, accountName);
        clientsOfPolled.set(account, await open(account));
        return account;
      }),
    /**
     * Seals and stores a key, in place of the key with the same identity. The first account becomes the default.
     * @param mayBeDefault false if nobody chose the account's name
     */
    async connect(
      { apiKey, purpose = 'shared', ...details }: NewKey,
      { mayBeDefault = true } = {},
    ): Promise<Account> {
      const key = { ...details, purpose };
      const sealedKey = await parts.sealer.seal(makeKeyField(key), apiKey);
      const keyTail = apiKey.slice(-4);
      const doc: Account = { ...key, sealedKey, keyTail, createdAt: parts.clock.now() };
      await collection.put(makeKeyId(key), doc);
      if (mayBeDefault)
        await preferences.update(PREFERENCES_ID, (current) => ({
          defaultAccount: current?.defaultAccount ?? key.name,
        }));
      await parts.onState(doc);
      return doc;
    },
    setDefault: (name: string) => preferences.put(PREFERENCES_ID, { defaultAccount: name }),
    /** Deletes a key by its `makeKeyId`; returns false if there was none. */
    async disconnect(id: string): Promise<boolean> {
      const wasThere = await collection.delete(id);
      const remaining = await reader.keys();
      await preferences.update(PREFERENCES_ID, (current) =>
        remaining.some(({ name }) => name === current?.defaultAccount) ? current : {},
      );
      return wasThere;
    },
    /**
     * Calls the service with the account's key. A 401 for a key that worked marks it broken; a success marks it ok.
     * @param sought the thing that the call asks for, for the sentence about `record_not_found`
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
        const isMarked = account.state !== 'ok' && account.isUnreadable !== true;
        if (error.kind !== 'unauthorized' || isMarked) throw new AccountFailure(account, error, sought);
        await changeState(account, 'broken');
        throw new AccountFailure({ ...account, state: 'broken' }, error, sought);
      }
    },
  };
}

function createReader(collection: Collection<Account>, preferences: Collection<z.infer<typeof Preferences>>) {
  async function keys(): Promise<Account[]> {
    const rows = await collection.list();
    return rows.map((row) => row.doc).sort((a, b) => a.createdAt - b.createdAt);
  }

  async function get(name: string, keyUse: KeyUse = SCHEDULES): Promise<Account | undefined> {
    const usable = await Promise.all(listKeyIds(name, keyUse).map((id) => collection.get(id)));
    return usable.find((key) => key !== undefined);
  }

  /** All accounts, each with the key to use; with the key of schedules by default. */
  async function list(keyUse: KeyUse = SCHEDULES): Promise<Account[]> {
    return selectKeys(await keys(), keyUse);
  }

  async function getDefault(keyUse: KeyUse): Promise<Account | undefined> {
    const accounts = await list(keyUse);
    if (accounts.length < 2) return accounts[0];
    const chosen = await preferences.get(PREFERENCES_ID);
    return accounts.find(({ name }) => name === chosen?.defaultAccount) ?? accounts[0];
  }

  /** Lists show accounts that only other people have keys for, so the error must not call them unknown. */
  async function notUsable(name: string): Promise<UserError> {
    return (await keys()).some((key) => key.name === name)
      ? createNoSharedKey(name)
      : createUnknownAccount(name);
  }

  return {
    keys,
    list,
    get,
    /** True if several accounts are connected. Messages about projects then name the account. */
    hasSeveral: async () => new Set((await keys()).map(({ name }) => name)).size > 1,
    defaultName: async (keyUse: KeyUse = SCHEDULES) => (await getDefault(keyUse))?.name,
    /**
     * Returns the named account, else the preferred one (the channel's), else the workspace's default, with
     * the key to use. Only this method chooses a key.
     * @throws UserError if no account is connected or the name is unknown
     */
    async resolve(keyUse: KeyUse, accountName?: string, preferred?: string): Promise<Account> {
      const name = accountName ?? preferred;
      const account = name === undefined ? undefined : await get(name.toLowerCase(), keyUse);
      if (account !== undefined) return account;
      if (accountName !== undefined) throw await notUsable(accountName.toLowerCase());
      const fallback = await getDefault(keyUse);
      if (fallback === undefined)
        throw new UserError('No account is connected in this workspace yet.', 'connect');
      return fallback;
    },
  };
}

/** Error for an account that only other people have keys for. */
export function createNoSharedKey(name: string): UserError {
  return new UserError(`The account \`${name}\` has no shared key.`, `connect ${name}`);
}

/** Removes characters that account names cannot hold. */
export function createUnknownAccount(accountName: string): UserError {
  return new UserError(
    `No account named \`${accountName.replace(/[^a-z0-9-]/gi, '').slice(0, 60)}\` is connected.`,
    'accounts',
  );
}

export const Attempts = z.object({ at: z.array(z.number()) });

/** The service's limit for one IP address. API 8 (docs/service-api.md). */
const SIGNUPS_PER_HOUR = 3;

/**
 * Sign-ups that remain this hour by our own count. The time of the next free one is in milliseconds since the
 * epoch.
 */
export interface SignupsLeft {
  perHour: number;
  remaining: number;
  freeAt: number | undefined;
}

export async function readSignupsLeft(store: WorkspaceStore, now: number): Promise<SignupsLeft> {
  const collection = await openAttempts(store).get('recent');
  return countLeft(collection?.at ?? [], now);
}

/** Call it before an attempt. */
export async function countSignup(store: WorkspaceStore, now: number): Promise<SignupsLeft> {
  const collection = await openAttempts(store).update('recent', (current) => ({
    at: [...recent(current?.at ?? [], now), now].slice(-SIGNUPS_PER_HOUR),
  }));
  return countLeft(collection?.at ?? [], now);
}

function openAttempts(store: WorkspaceStore) {
  return store.collection('signup-attempts', Attempts);
}

function countLeft(at: readonly number[], now: number): SignupsLeft {
  const counted = recent(at, now);
  const remaining = Math.max(0, SIGNUPS_PER_HOUR - counted.length);
  const oldest = counted[0];
  const freeAt = remaining > 0 || oldest === undefined ? undefined : oldest + HOUR_MS;
  return { perHour: SIGNUPS_PER_HOUR, remaining, freeAt };
}

function recent(at: readonly number[], now: number): number[] {
  return at.filter((one) => one > now - HOUR_MS && one <= now);
}
