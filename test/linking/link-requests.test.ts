import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createLinkRequests } from '../../src/linking/link-requests.ts';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createSealer } from '../../src/store/sealer.ts';
import { GLOBAL } from '../../src/store/store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporarySqlite } from '../support/temporary.ts';

const KEYS = parseEncryptionKeys(`k1:${Buffer.alloc(32, 7).toString('base64')}`);
const ASKER = { workspace: 'T0ACME', user: 'U0ANN', name: 'Ann' };

async function openRequests() {
  const clock = createManualClock(Date.now());
  const store = await openStore(await temporarySqlite(), { clock });
  onTestFinished(() => store.close());
  const sealer = createSealer(KEYS, store, clock);
  const installations = { isInstalled: async () => true };
  const tickets = store.of(GLOBAL).collection('link-tickets', z.object({ at: z.number() }).loose());
  return { clock, tickets, requests: createLinkRequests({ store, sealer, clock, installations }) };
}

test('there are 10,000 tickets at a time, and the oldest of the workspace with most of them makes room', async () => {
  const { clock, tickets, requests } = await openRequests();
  const other = { ...ASKER, workspace: 'T0OTHER' };
  const elsewhere = await requests.ask(other);
  await clock.advance(1_000);
  const oldest = await requests.ask(ASKER);
  await clock.advance(1_000);
  const second = await requests.ask({ ...ASKER, user: 'U0BEN' });
  await clock.advance(1_000);
  const others = Array.from({ length: 9_997 }, (_, at) =>
    tickets.put(`x${at}`, { ...ASKER, user: `U${at}`, at: clock.now() }),
  );
  await Promise.all(others);

  const newest = await requests.ask(other);

  expect(await requests.open(oldest)).toBe('unknown');
  expect(await requests.open(second)).toMatchObject({ user: 'U0BEN' });
  for (const ticket of [elsewhere, newest]) expect(await requests.open(ticket)).toEqual(other);
  expect(await tickets.list()).toHaveLength(10_000);
});

test('however often a person asks, five tickets of theirs are kept, and those of others stay', async () => {
  const { clock, tickets, requests } = await openRequests();
  const colleague = await requests.ask({ ...ASKER, user: 'U0BEN' });
  const asked: string[] = [];
  for (let time = 0; time < 20; time += 1) {
    await clock.advance(1);
    asked.push(await requests.ask(ASKER));
  }
  expect(await tickets.list()).toHaveLength(6);
  expect(await requests.open(colleague)).toMatchObject({ user: 'U0BEN' });
  expect(await Promise.all(asked.slice(-5).map(requests.open))).toEqual(Array(5).fill(ASKER));
});
