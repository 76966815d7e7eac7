import { performance } from 'node:perf_hooks';
import { expect, test as plain } from 'vitest';
import { FairGate } from '../../src/core/fair-gate.ts';
import { test as base } from '../support/fixtures.ts';
import { byLength } from '../support/length.ts';
import { ACCOUNT, CHANNEL } from '../support/test-world.ts';

const test = base.extend('connected', () => true);
const WAITING = byLength(250, 300);

test('another channel’s command is answered within 3 s beside 250 that wait for one channel', async ({
  world,
}) => {
  world.service.faults.add({ path: `/${ACCOUNT}/projects`, delayMs: 1_000 });
  await Promise.all(
    Array.from({ length: WAITING }, () => world.as('admin').command(CHANNEL, '/deckhand use storefront')),
  );
  const start = performance.now();
  await world.as('admin').command('C0BILLING', '/deckhand use none');
  await world.slack.until(() =>
    world.slack.messages('T0HOUSE', 'C0BILLING').some(({ text }) => text.includes('unbound')),
  );
  expect(performance.now() - start).toBeLessThan(3_000);
});

plain('a caller whose connections hang leaves others theirs', async () => {
  const gate = new FairGate({ most: 128, mostOfKey: 32 });
  const { signal } = new AbortController();
  const slow = ['a', 'b', 'c', 'd', 'e', 'f'];
  const waiting = slow.flatMap((key) => Array.from({ length: 260 }, () => gate.enter(key, signal)));
  await Promise.race([gate.enter('other', signal), Promise.resolve().then(() => undefined)]);
  const leave = await gate.enter('new', signal);
  leave();
  expect(gate.isEmpty).toBe(false);
  expect(waiting).toHaveLength(1_560);
});
