import { describe, expect, onTestFinished, test } from 'vitest';
import { createLedger, KEPT_MS } from '../../src/records/ledger.ts';
import type { ActivityEvent } from '../../src/service/activity.ts';
import { openStore } from '../../src/store/open-store.ts';
import { DATABASES } from '../store/databases.ts';
import { createManualClock } from '../support/manual-clock.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

function event(ref: string, at: number, more: Partial<ActivityEvent> = {}): ActivityEvent {
  return {
    event: 'deploy_completed',
    properties: { end_ref: ref, servers: ['web-1'] },
    project: { name: 'Storefront', permalink: 'storefront', identifier: 'p1' },
    user: 'Kim',
    created_at: new Date(at).toISOString(),
    ...more,
  };
}

/** The newest first, a minute apart. */
const pageOf = (newest: number, amount: number, at = NOW) =>
  Array.from({ length: amount }, (_, back) => event(`r${newest - back}`, at - back * MINUTE));

describe.each(DATABASES)('the ledger on $name', ({ name, fresh }) => {
  async function open() {
    const url = await fresh();
    const clock = createManualClock(NOW);
    const replica = async () => {
      const store = await openStore(url, { clock, access: 'beside' });
      onTestFinished(() => store.close());
      return createLedger({ store: store.of('T1'), clock });
    };
    const ledger = await replica();
    const refs = async (from = 0, account = 'acme') =>
      (await ledger.read(account, from)).entries.map(({ ref }) => ref);
    return { ledger, replica, clock, refs };
  }

  test('has an event once, in the order of reading, however often and by how many it is read', async () => {
    const { ledger, replica, refs } = await open();
    const other = await replica();
    await ledger.take('acme', { events: pageOf(3, 3) });
    await Promise.all(
      [ledger, other, ledger].map((one) => one.take('acme', { events: pageOf(5, 5, NOW + 2 * MINUTE) })),
    );
    await other.take('globex', { events: [event('g1', NOW)] });
    expect(await refs()).toEqual(['r1', 'r2', 'r3', 'r4', 'r5']);
    expect(await refs(0, 'globex')).toEqual(['g1']);
  });

  test('keeps each event once that polls and commands read at the same time', async () => {
    const { ledger, replica, refs } = await open();
    // One process alone works on a file.
    const other = name === 'sqlite' ? ledger : await replica();
    const pages = Array.from({ length: 10 }, (_, n) => [event('old', NOW), event(`r${n}`, NOW)]);
    await Promise.all(pages.map((events, n) => (n % 2 === 0 ? ledger : other).take('acme', { events })));
    expect((await refs()).toSorted()).toEqual(['old', ...pages.map((_, n) => `r${n}`)]);
  });

  test('keeps more than a page, knows what it missed, and forgets an account alone', async () => {
    const { ledger, clock, refs } = await open();
    for (let round = 1; round <= 5; round += 1) {
      await ledger.take('acme', { events: pageOf(round * 90, 100, clock.now()) });
      await clock.advance(90 * MINUTE);
    }
    expect(await refs()).toHaveLength(460);
    const { gaps, since } = await ledger.read('acme', 0);
    expect(since).toBe(NOW - 99 * MINUTE);
    expect(gaps).toEqual([]);

    await clock.advance(5 * 90 * MINUTE);
    await ledger.take('acme', { events: pageOf(900, 100, clock.now()) });
    const [gap] = (await ledger.read('acme', clock.now() - DAY)).gaps;
    expect(gap).toEqual({ from: NOW + 360 * MINUTE, to: clock.now() - 99 * MINUTE });
    expect(await refs(clock.now() - 99 * MINUTE)).toHaveLength(100);

    await ledger.take('globex', { events: [event('g1', NOW)] });
    await ledger.forget('acme');
    expect(await refs()).toEqual([]);
    expect(await refs(0, 'globex')).toEqual(['g1']);
  });

  test('counts a date in the future from when it was read, and forgets after 400 days', async () => {
    const { ledger, clock, refs } = await open();
    await ledger.take('acme', { events: [event('ahead', NOW + 3 * DAY)] });
    expect((await ledger.read('acme', 0)).entries).toMatchObject([{ at: NOW, readAt: NOW }]);
    for (let round = 1; round <= 3; round += 1) {
      await clock.advance(100 * MINUTE);
      await ledger.take('acme', { events: pageOf(round * 100, 99, clock.now()) });
    }
    await clock.advance(KEPT_MS - 60 * MINUTE);
    await ledger.take('acme', { events: [event('new', clock.now())] });
    expect(await refs()).not.toContain('ahead');
    expect(await refs()).toContain('new');
  });
});
