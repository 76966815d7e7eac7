import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { type Sought, UserError } from '../core/errors.ts';
import type { AccountClient, Service } from '../service/client.ts';
import { ServiceError } from '../service/errors.ts';
import type {
  Field,
  WorkspaceCollection,
  WorkspaceSealer,
  WorkspaceStore,
} from '../store/workspace-store.ts';

/**
 * A connected account of the deployment service.
 * - `unverified`: came from a sign-up whose e-mail is not verified yet; the key answers 401 until then
 * - `broken`: the key worked once and was refused since (revoked or rotated)
 */
export const Account = z.object({
  name: z.string(),
  email: z.string(),
  sealedKey: z.string(),
  /** The last four characters of the key, the only ones that are shown. */
  keyTail: z.string(),
  state: z.enum(['ok', 'unverified', 'broken']),
  connectedBy: z.string(),
  connectedAt: z.number(),
});
export type Account = z.infer<typeof Account>;

const Preferences = z.object({ defaultAccount: z.string().optional() });
const PREFERENCES_ID = 'preferences';

/** A call that the service refused or failed, with the account it was made for. */
export class AccountFailure extends Error {
  readonly code = 'account_failure';
  readonly account: Account;
  readonly sought: Sought | undefined;
  declare readonly cause: ServiceError;

  constructor(account: Account, cause: ServiceError, sought?: Sought) {
    super(cause.message, { cause });
    this.name = 'AccountFailure';
    this.account = account;
    this.sought = sought;
  }
}

export interface Accounts {
  list(): Promise<Account[]>;
  get(name: string): Promise<Account | undefined>;
  defaultName(): Promise<string | undefined>;
  /**
   * The named account, else the preferred one (the channel's), else the workspace's default.
   * @throws UserError where nothing is connected or the name is unknown
   */
  resolve(named: string | undefined, preferred: string | undefined): Promise<Account>;
  /** Seals the key and stores the account; the first one becomes the default. */
  connect(account: {
    name: string;
    email: string;
    apiKey: string;
    connectedBy: string;
    state: 'ok' | 'unverified';
  }): Promise<Account>;
  /** Deletes the account with its sealed key; false if there was none. */
  disconnect(name: string): Promise<boolean>;
  /**
   * Calls the service with the account's key. A 401 on a key that worked before marks the connection broken; a success
   * marks it ok.
   * @param sought what a `record_not_found` is about, for the sentence that the person reads
   * @throws AccountFailure for a ServiceError
   */
  use<T>(account: Account, work: (client: AccountClient) => Promise<T>, sought?: Sought): Promise<T>;
}

export interface AccountsParts {
  store: WorkspaceStore;
  sealer: WorkspaceSealer;
  service: Service;
  clock: Clock;
  /** Called when a connection breaks or works again, so that schedules can pause and resume. */
  onState?: (account: Account) => Promise<void>;
}

export function createAccounts(parts: AccountsParts): Accounts {
  const stored: WorkspaceCollection<Account> = parts.store.collection('accounts', Account);
  const preferences = parts.store.collection('preferences', Preferences);

  async function changeState(account: Account, state: Account['state']): Promise<void> {
    if (account.state === state) return;
    const changed = await stored.update(account.name, (current) =>
      current === undefined || current.sealedKey !== account.sealedKey ? current : { ...current, state },
    );
    if (changed?.sealedKey === account.sealedKey) await parts.onState?.(changed);
  }

  async function all(): Promise<Account[]> {
    const rows = await stored.list();
    return rows.map((row) => row.doc).sort((a, b) => a.connectedAt - b.connectedAt);
  }

  return {
    list: all,
    get: (name) => stored.get(name),
    async defaultName() {
      const chosen = (await preferences.get(PREFERENCES_ID))?.defaultAccount;
      const accounts = await all();
      return accounts.some((account) => account.name === chosen) ? chosen : accounts[0]?.name;
    },
    async resolve(named, preferred) {
      const wanted = named ?? preferred ?? (await this.defaultName());
      const account = wanted === undefined ? undefined : await stored.get(wanted.toLowerCase());
      if (account !== undefined) return account;
      if (named !== undefined) throw unknownAccount(named);
      const fallback = await this.defaultName();
      const found = fallback === undefined ? undefined : await stored.get(fallback);
      if (found === undefined)
        throw new UserError('No account is connected in this workspace yet.', 'connect');
      return found;
    },
    async connect(account) {
      const { apiKey, ...shown } = account;
      const sealedKey = await parts.sealer.seal(keyField(account.name), apiKey);
      const keyTail = apiKey.slice(-4);
      const doc: Account = { ...shown, sealedKey, keyTail, connectedAt: parts.clock.now() };
      await stored.put(account.name, doc);
      await preferences.update(PREFERENCES_ID, (current) => ({
        defaultAccount: current?.defaultAccount ?? account.name,
      }));
      await parts.onState?.(doc);
      return doc;
    },
    async disconnect(name) {
      const wasThere = await stored.delete(name);
      await preferences.update(PREFERENCES_ID, (current) =>
        current?.defaultAccount === name ? {} : (current ?? {}),
      );
      return wasThere;
    },
    async use(account, work, sought) {
      const apiKey = await parts.sealer.open(keyField(account.name), account.sealedKey);
      const client = parts.service.account({ account: account.name, email: account.email, apiKey });
      try {
        const result = await work(client);
        await changeState(account, 'ok');
        return result;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (error.kind !== 'unauthorized' || account.state !== 'ok')
          throw new AccountFailure(account, error, sought);
        await changeState(account, 'broken');
        throw new AccountFailure({ ...account, state: 'broken' }, error, sought);
      }
    },
  };
}

function keyField(account: string): Field {
  return { record: `accounts/${account}`, field: 'apiKey' };
}

function unknownAccount(named: string): UserError {
  return new UserError(`No account named \`${named.replace(/[^a-z0-9-]/gi, '')}\` is connected.`, 'accounts');
}
