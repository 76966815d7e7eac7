import { systemClock } from '../../src/core/clock.ts';
import { type Backend, openBackend } from '../../src/open-backend.ts';
import { createService } from '../../src/service/client.ts';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { createSealer } from '../../src/store/sealer.ts';
import { type Accounts, createAccounts } from '../../src/workspace/accounts.ts';
import { ACCOUNT, ENCRYPTION_KEYS, TEAM } from './deckhand.ts';

/** Fills a store as Deckhand would have, before Deckhand is started on it. */
export async function seed(
  env: Record<string, string>,
  fill: (parts: Backend & { accounts: Accounts }) => Promise<void> = async () => undefined,
): Promise<void> {
  const clock = systemClock;
  const backend = await openBackend(env.STORE_URL ?? '', { clock });
  const sealer = createSealer(parseEncryptionKeys(ENCRYPTION_KEYS), backend.store, clock);
  const service = createService({ baseUrl: env.SERVICE_BASE_URL ?? '', version: '0.0.0', clock });
  const accounts = createAccounts({ store: backend.store, sealer, service, clock });
  await accounts.connect(TEAM, {
    name: ACCOUNT,
    email: 'ann@example.com',
    apiKey: 'BenchKey00BenchKey00BenchKey00BenchKey00',
    connectedBy: 'U0ANN',
    state: 'ok',
  });
  await fill({ ...backend, accounts });
  await service.close();
  await backend.close();
}
