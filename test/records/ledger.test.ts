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
    expect(gap).toMatchObject({ from: NOW + 360 * MINUTE, to: clock.now() - 99 * MINUTE });
    expect(await refs(clock.now() - 99 * MINUTE)).toHaveLength(100);

    await ledger.take('globex', { events: [event('g1', NOW)] });
    await ledger.forget('acme');
    expect(await refs()).toEqual([]);
    expect(await refs(0, 'globex')).toEqual(['g1']);
  });

  test.each<[string, Partial<ActivityEvent>, number]>([
    ['moments later', {}, 1],
    ['with its servers in another order', { properties: { end_ref: 'r1', servers: ['WEB-2', 'web-1'] } }, 1],
    ['of another server', { properties: { end_ref: 'r1', servers: ['web-2'] } }, 2],
    ['a minute later', { created_at: new Date(NOW + MINUTE).toISOString() }, 2],
    ['of another person at the same moment', { user: 'Lee', created_at: new Date(NOW).toISOString() }, 2],
  ])(
    'has a deployment that is reported once more, %s, as often as it happened',
    async (_, change, amount) => {
      const { ledger, refs } = await open();
      const of = { properties: { end_ref: 'r1', servers: ['web-1', 'web-2'] } };
      const events = [event('r1', NOW + 1_000, { ...of, ...change }), event('r1', NOW, of)];
      await ledger.take('acme', { events });
      expect(await refs()).toHaveLength(amount);
    },
  );

  test.each<[string, Partial<ActivityEvent>, number]>([
    ['a failure', { event: 'deploy_failed' }, 3],
    ['another success', { properties: { end_ref: 'r2', servers: ['web-1'] } }, 3],
    ['a failure of another project', { event: 'deploy_failed', project: null }, 2],
    ['nothing that ends', { event: 'deploy_started' }, 2],
  ])(
    'has the same success again within ten seconds, after %s, as often as it happened',
    async (_, between, amount) => {
      const { ledger, refs } = await open();
      const all = [event('r1', NOW), event('r1', NOW + 4_000, between), event('r1', NOW + 8_000)];
      // Each is read at once, with what came before.
      for (let read = 1; read <= all.length; read += 1)
        await ledger.take('acme', { events: all.slice(0, read).toReversed() });
      expect(await refs()).toHaveLength(amount);
    },
  );

  test('keeps what names no person, no servers or no project, and 100 events of one second', async () => {
    const { ledger } = await open();
    const bare = event('bare', NOW, {
      user: null,
      project: null,
      properties: { end_ref: null, servers: [] },
    });
    const crowd = Array.from({ length: 99 }, (_, at) => event(`c${at}`, NOW));
    await ledger.take('acme', { events: [...crowd, bare] });
    await ledger.take('acme', { events: [...crowd.toReversed(), bare] });
    const { entries } = await ledger.read('acme', 0);
    expect(new Set(entries.map(({ ref }) => ref)).size).toBe(100);
    expect(entries).toHaveLength(100);
    const [kept] = entries.filter(({ ref }) => ref === undefined);
    expect(kept).toMatchObject({ event: 'deploy_completed', project: '', at: NOW });
    expect(kept?.user).toBeUndefined();
  });

  test('knows before which entry events are missing, also if a full page holds one that cannot be read', async () => {
    const { ledger, clock } = await open();
    const first = await ledger.take('acme', { events: pageOf(1, 1) });
    await clock.advance(300 * MINUTE);
    const events = pageOf(100, 99, NOW + 100 * MINUTE);
    expect(await ledger.take('acme', { events, unread: 1 })).toBe(first + 99);
    const gapsFrom = async (number: number) => (await ledger.read('acme', Infinity, { number })).gaps;
    expect(await gapsFrom(first)).toMatchObject([{ next: first }]);
    expect(await gapsFrom(first + 1)).toEqual([]);
  });

  test('reads the newest entries by number, further back than one document', async () => {
    const { ledger, clock } = await open();
    let next = 0;
    for (let round = 1; round <= 5; round += 1) {
      next = await ledger.take('acme', { events: pageOf(round * 90, 90, clock.now()) });
      await clock.advance(90 * MINUTE);
    }
    for (const amount of [450, 300, 1]) {
      const { entries } = await ledger.read('acme', Infinity, { number: next - amount });
      expect(entries.map(({ ref, number }) => [ref, number])).toEqual(
        Array.from({ length: amount }, (_, at) => [`r${451 - amount + at}`, next - amount + at]),
      );
    }
  });

  test('goes on with its numbers after an account was disconnected and connected again', async () => {
    const { ledger, refs } = await open();
    const next = await ledger.take('acme', { events: pageOf(3, 3) });
    await ledger.forget('acme');
    expect(await refs()).toEqual([]);
    expect(await ledger.next('acme')).toBe(next);
    expect(await ledger.take('acme', { events: pageOf(4, 4, NOW + MINUTE) })).toBe(next + 1);
    const { entries } = await ledger.read('acme', 0);
    expect(entries.map(({ number, ref }) => [number - next, ref])).toEqual([
      [-3, 'r1'],
      [-2, 'r2'],
      [-1, 'r3'],
      [0, 'r4'],
    ]);
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
