import { AccountFailure, type ServiceError, type Sought } from '../core/errors.ts';
import { type Clock, DAY_MS, withTimeout } from '../core/time/clock.ts';
import { type Account, type Accounts, makeKeyId } from '../records/accounts.ts';
import type { AccountClient } from '../service/client.ts';
import { type Capability, listOperations, type OfferedOperation } from '../service/operations.ts';
import type { Once } from './once.ts';
import type { ServiceDescription } from './service-description.ts';

/** How long a person waits for the service's description, which is read once a day. */
const PERSON_WAITS_MS = 3_000;

interface Parts {
  accounts: Accounts;
  clock: Clock;
  once: Once;
  description: ServiceDescription;
}

/**
 * Calls of operations beyond the API's outline. Deckhand makes them only if the service's description lists them. An operation that the
 * service refused to a key is not called with it for a day.
 */
export function createOfferedCalls({ accounts, clock, once: { once, wasDone }, description }: Parts) {
  async function isOffered(
    account: Account,
    operations: readonly OfferedOperation[],
    isPatient = false,
  ): Promise<boolean> {
    const reading = description();
    const read = isPatient ? await reading : await withTimeout(clock, PERSON_WAITS_MS, reading);
    const described = read?.described ?? {};
    if (!operations.every((operation) => Object.hasOwn(described, operation))) return false;
    const refused = await Promise.all(operations.map((one) => wasDone(makeRefusalKey(account, one))));
    return !refused.includes(true);
  }

  return {
    /**
     * True if all operations of a capability may be called. False if the service takes long to describe itself.
     * @param isPatient true if nobody waits for the answer
     */
    has: (account: Account, capability: Capability, { isPatient = false } = {}) =>
      isOffered(account, listOperations(capability), isPatient),
    /**
     * Makes one call of the operation. Returns undefined if the operation is not offered, or the service refuses it. A record that is not found
     * is no refusal.
     * @throws AccountFailure for any other failure
     */
    async use<T>(
      account: Account,
      operation: OfferedOperation,
      call: (client: AccountClient) => Promise<T>,
      sought?: Sought,
    ): Promise<T | undefined> {
      if (!(await isOffered(account, [operation]))) return undefined;
      try {
        return await accounts.use(account, call, sought);
      } catch (error) {
        if (!(error instanceof AccountFailure) || !isRefusal(error.cause)) throw error;
        await once(makeRefusalKey(account, operation), DAY_MS);
        return undefined;
      }
    },
  };
}

/** A new key may be allowed more. */
function makeRefusalKey(account: Account, operation: OfferedOperation): readonly unknown[] {
  return ['refused-operation', makeKeyId(account), account.createdAt, operation];
}

function isRefusal({ status, errorCode }: ServiceError): boolean {
  return status === 403 || (status === 404 && errorCode !== 'record_not_found');
}
