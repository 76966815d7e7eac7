import { existsSync } from 'node:fs';
import type { Config } from '../config.ts';
import { ServiceError } from '../core/errors.ts';
import { describeUnread, describeUnreadDescription, NO_DESCRIPTION_ADDRESS } from '../service/description.ts';
import { describeGaps, findDrift } from '../service/operations.ts';
import { readEarlierOperations } from '../workspace/service-description.ts';
import { dataError, openService } from './program.ts';
import { findFile, withStore } from './stores.ts';

/**
 * Compares Deckhand's calls with the service's description, and with those that Deckhand has read before.
 * @throws ProgramError with a line for each difference
 */
export async function checkService(config: Config): Promise<string> {
  const service = openService(config);
  try {
    if (service.description === undefined) return NO_DESCRIPTION_ADDRESS;
    const described = await service.description.read();
    const drift = findDrift(described, await readEarlier(config.STORE_URL, service.description.address));
    if (drift.changes.length > 0) throw dataError(...drift.changes);
    return `The service's description agrees with Deckhand's calls${describeGaps(drift)}.`;
  } catch (error) {
    if (error instanceof ServiceError) return describeUnreadDescription(describeUnread(error));
    throw error;
  } finally {
    await service.close();
  }
}

async function readEarlier(storeUrl: string, address: string): Promise<readonly string[]> {
  const file = findFile(storeUrl);
  if (file !== undefined && !existsSync(file)) return [];
  return withStore(storeUrl, 'beside', (store) => readEarlierOperations(store, address));
}
