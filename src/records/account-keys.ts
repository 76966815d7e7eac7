import type { Field } from '../store/sealer.ts';

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

/** A seal opens for its own key's record alone. */
export function keyField(key: KeyIdentity): Field {
  return { record: `accounts/${keyId(key)}`, field: 'apiKey' };
}
