import { z } from 'zod';
import { ServiceError } from '../core/errors.ts';
import { type Clock, DAY_MS, HOUR_MS } from '../core/time/clock.ts';
import type { Service } from '../service/client.ts';
import { type DescriptionSource, describeUnread } from '../service/description.ts';
import { type Collection, GLOBAL, type Store } from '../store/store.ts';

const ID = 'current';

const Fields = z.object({
  address: z.string(),
  /** Time of the last attempt to read it. */
  triedAt: z.number(),
  /** Why the last attempt failed. */
  fault: z.string().optional(),
  /** False if the same attempt may succeed soon. */
  isLasting: z.boolean(),
  /** Required fields by operation, as the last description has them. */
  described: z.record(z.string(), z.array(z.string()).readonly()).readonly(),
  /** Operations that any description of this address has listed. */
  earlier: z.array(z.string()).readonly(),
});
type StoredDescription = z.infer<typeof Fields>;

const NEVER: StoredDescription = { address: '', triedAt: 0, isLasting: false, described: {}, earlier: [] };
/** The service can be asked again, so an unreadable document counts as none. */
export const StoredDescription = Fields.catch(NEVER);

export type ServiceDescription = ReturnType<typeof createServiceDescription>;

interface Parts {
  store: Store;
  clock: Clock;
  service: Service;
}

/**
 * Returns what the service's description says, which all replicas together read at most once a day. An attempt without an answer
 * is repeated after an hour; until then the last description counts. Undefined if no address is configured.
 */
export function createServiceDescription({ store, clock, service: { description: source } }: Parts) {
  const collection = openCollection(store);
  return async (): Promise<StoredDescription | undefined> => {
    if (source === undefined) return undefined;
    const isFresh = ({ address, triedAt, isLasting }: StoredDescription) => {
      const age = clock.now() - triedAt;
      return address === source.address && age >= 0 && age < (isLasting ? DAY_MS : HOUR_MS);
    };
    const stored = await collection.get(ID);
    if (stored !== undefined && isFresh(stored)) return stored;
    return collection.update(ID, (current = NEVER) =>
      isFresh(current) ? current : renew(source, current, clock),
    );
  };
}

/** Operations that an earlier description of this address has listed. */
export async function readEarlierOperations(store: Store, address: string): Promise<readonly string[]> {
  const stored = await openCollection(store).get(ID);
  return stored?.address === address ? stored.earlier : [];
}

function openCollection(store: Store): Collection<StoredDescription> {
  return store.of(GLOBAL).collection('service-descriptions', StoredDescription);
}

async function renew(
  source: DescriptionSource,
  current: StoredDescription,
  clock: Clock,
): Promise<StoredDescription> {
  const { address } = source;
  const before = current.address === address ? current : NEVER;
  try {
    const described = await source.read();
    const earlier = [...new Set([...before.earlier, ...Object.keys(described)])];
    return { address, triedAt: clock.now(), isLasting: true, described, earlier };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { kind, status = 0 } = error;
    const isLasting = kind !== 'busy' && kind !== 'unreachable' && status < 500;
    const described = isLasting ? {} : before.described;
    const fault = describeUnread(error);
    return { address, triedAt: clock.now(), fault, isLasting, described, earlier: before.earlier };
  }
}
