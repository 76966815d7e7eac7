import { markId, QUARANTINE, type QuarantinedRecord, QuarantineMark } from '../store/quarantine.ts';
import { SealError } from '../store/store.ts';
import type { Field, WorkspaceSealer, WorkspaceStore } from '../store/workspace-store.ts';
import { type KeyIdentity, keyId } from './account-keys.ts';

/** The stored key of an account does not open. */
export class AccountKeyUnreadable extends Error {
  readonly code = 'account_key_unreadable';
  /** Its name. */
  readonly account: string;

  constructor(account: string, options: ErrorOptions) {
    super('The stored key of an account does not open', options);
    this.name = 'AccountKeyUnreadable';
    this.account = account;
  }
}

export interface SealedKeysParts {
  store: WorkspaceStore;
  sealer: WorkspaceSealer;
  /** Called with a key that does not open. */
  onUnreadable?: (record: Omit<QuarantinedRecord, 'workspace'>) => Promise<void>;
}

/** The keys of a workspace's accounts, each sealed for its own record. */
export interface SealedKeys {
  seal(key: KeyIdentity, apiKey: string): Promise<string>;
  /** @throws AccountKeyUnreadable, after it was reported */
  open(key: KeyIdentity & { sealedKey: string }): Promise<string>;
  /** The key was replaced by one that opens. */
  replaced(key: KeyIdentity): Promise<void>;
}

export function createSealedKeys({ store, sealer, onUnreadable }: SealedKeysParts): SealedKeys {
  const marks = store.collection(QUARANTINE, QuarantineMark);
  return {
    seal: (key, apiKey) => sealer.seal(fieldOf(key), apiKey),
    async open(key) {
      try {
        return await sealer.open(fieldOf(key), key.sealedKey);
      } catch (cause) {
        if (!(cause instanceof SealError)) throw cause;
        await onUnreadable?.({ ...recordOf(key), owner: key.connectedBy });
        throw new AccountKeyUnreadable(key.name, { cause });
      }
    },
    async replaced(key) {
      await marks.delete(markId(recordOf(key)));
    },
  };
}

/** A seal opens for its own key's record alone. */
function fieldOf(key: KeyIdentity): Field {
  return { record: `accounts/${keyId(key)}`, field: 'apiKey' };
}

function recordOf(key: KeyIdentity): Omit<QuarantineMark, 'at'> {
  return { kind: 'document', collection: 'accounts', id: keyId(key) };
}
