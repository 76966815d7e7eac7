import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createSealer } from '../../src/store/sealer.ts';
import { GLOBAL } from '../../src/store/store.ts';
import { createLinkRequests } from '../../src/workspace/link-requests.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporarySqlite } from '../support/temporary.ts';

const KEYS = parseEncryptionKeys(`k1:${Buffer.alloc(32, 7).toString('base64')}`);
const ASKER = { workspace: 'T0ACME', user: 'U0ANN', name: 'Ann' };

test('there are 10,000 tickets at a time, and the oldest makes room', async () => {
  const clock = createManualClock(Date.now());
  const store = await openStore(await temporarySqlite(), { clock });
  onTestFinished(() => store.close());
  const requests = createLinkRequests({
    store,
    sealer: createSealer(KEYS, store, clock),
    clock,
    installations: { isInstalled: async () => true },
  });
  const oldest = await requests.ask(ASKER);
  await clock.advance(1_000);
  const second = await requests.ask(ASKER);
  const tickets = store.of(GLOBAL).collection('link-tickets', z.object({ at: z.number() }).loose());
  await clock.advance(1_000);
  const others = Array.from({ length: 9_998 }, (_, at) =>
    tickets.put(`x${at}`, { ...ASKER, at: clock.now() }),
  );
  await Promise.all(others);

  const newest = await requests.ask(ASKER);

  expect(await requests.open(oldest)).toBe('unknown');
  expect(await requests.open(second)).toEqual(ASKER);
  expect(await requests.open(newest)).toEqual(ASKER);
  expect(await tickets.list()).toHaveLength(10_000);
});
