import { describe, expect, test } from 'vitest';
import { createLedger } from '../../src/records/ledger.ts';
import { createStandings } from '../../src/records/standings.ts';
import type { ActivityEvent } from '../../src/service/activity.ts';
import { openStore } from '../../src/store/open-store.ts';
import { DATABASES } from '../store/databases.ts';
import { createManualClock } from '../support/manual-clock.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const STOREFRONT = { name: 'Storefront', permalink: 'storefront', identifier: 'p1' };

type Row = [kind: 'failed' | 'completed' | 'cancelled', minute: number, ...servers: string[]];

function event(
  [kind, minute, ...servers]: Row,
  project: ActivityEvent['project'] = STOREFRONT,
): ActivityEvent {
  const properties = { end_ref: `r${minute}`, servers };
  const created_at = new Date(NOW + minute * MINUTE).toISOString();
  return { event: `deploy_${kind}`, properties, project, user: 'Kim', created_at };
}

describe.each(DATABASES)('the latest outcomes on $name', ({ fresh }) => {
  async function open() {
    const clock = createManualClock(NOW);
    const store = await openStore(await fresh(), { clock, access: 'beside' });
    const own = store.of('T1');
    const ledger = createLedger({ store: own, clock });
    const end = () => store.close();
    return { ledger, standings: createStandings(own), clock, [Symbol.asyncDispose]: end };
  }

  test.for<[what: string, pages: Row[][], failing: Record<string, number>, good: string | undefined]>([
    [
      'a failure after a success',
      [
        [
          ['completed', -9, 'a'],
          ['failed', -8, 'a'],
        ],
      ],
      { a: -8 },
      'r-9',
    ],
    ['since the first failure', [[['failed', -9, 'a']], [['failed', -8, 'a']]], { a: -9 }, undefined],
    ['a failure that comes late', [[['failed', -8, 'a']], [['failed', -9, 'a']]], { a: -9 }, undefined],
    [
      'a success',
      [
        [
          ['failed', -9, 'a', 'b'],
          ['completed', -8, 'A'],
        ],
      ],
      { b: -9 },
      'r-8',
    ],
    ['a success that comes late', [[['failed', -5, 'a']], [['completed', -9, 'a']]], { a: -5 }, 'r-9'],
    ['a failure before a success', [[['completed', -5, 'a']], [['failed', -9, 'a']]], {}, 'r-5'],
    [
      'a success between two failures',
      [[['failed', -9, 'a']], [['failed', -5, 'a']], [['completed', -7, 'a']]],
      { a: -5 },
      'r-7',
    ],
    [
      'a cancelled deployment',
      [
        [
          ['failed', -9, 'a'],
          ['cancelled', -5, 'a'],
        ],
      ],
      { a: -9 },
      undefined,
    ],
    [
      'no server named, then one',
      [
        [
          ['failed', -9],
          ['completed', -5, 'a'],
        ],
      ],
      {},
      'r-5',
    ],
    [
      'one server named, then none',
      [
        [
          ['failed', -9, 'a', 'b'],
          ['completed', -5],
        ],
      ],
      {},
      'r-5',
    ],
    ['a date in the future', [[['failed', 9000, 'a']], [['completed', 1, 'a']]], {}, 'r1'],
  ])('of a project: %s', async ([, pages, failing, good]) => {
    await using world = await open();
    const { ledger, standings, clock } = world;
    for (const page of pages) {
      await clock.advance(MINUTE);
      await ledger.take('acme', { events: page.map((row) => event(row)).toReversed() });
    }
    const [standing, ...others] = await standings.list('acme');
    expect(others).toEqual([]);
    const servers = standing?.servers ?? [];
    const since = servers.flatMap(({ key, outcome, since: at = 0 }) =>
      outcome === 'failed' ? [[key, at === 0 ? 0 : Math.min((at - NOW) / MINUTE, 1)]] : [],
    );
    expect(Object.fromEntries(since)).toEqual(failing);
    const newest = servers.flatMap((one) => one.good ?? []).toSorted((one, other) => other.at - one.at)[0];
    expect(newest?.ref).toBe(good);
  });

  test('are the same when events are read again after a kill, and go with their account', async () => {
    await using world = await open();
    const { ledger, standings } = world;
    const rows: Row[] = [
      ['failed', -9, 'a'],
      ['completed', -8, 'a'],
      ['failed', -7, 'a'],
      ['failed', -6, 'b'],
    ];
    const renamed = event(['failed', -5, 'c'], { ...STOREFRONT, name: 'Shop', permalink: 'shop' });
    const events = [...rows.map((row) => event(row)), renamed];
    await ledger.take('acme', { events: events.toReversed() });
    const before = await standings.list('acme');
    expect(before).toMatchObject([{ name: 'Shop', permalink: 'shop', project: 'p1' }]);
    // The head was not stored, so all of them are new again.
    const kept = (await ledger.read('acme', 0)).entries.map(({ mark, at }, index) => ({
      event: events[index] ?? renamed,
      mark,
      at,
    }));
    await standings.add('acme', kept, NOW * 2);
    expect(await standings.list('acme')).toEqual(before);

    await ledger.take('globex', { events: [event(['failed', -9, 'a'])] });
    await ledger.forget('acme');
    expect((await standings.list()).map(({ account }) => account)).toEqual(['globex']);
  });

  test('keep a hundred servers of a project, those that fail before others', async () => {
    await using world = await open();
    const { ledger, standings } = world;
    const names = (start: string) => Array.from({ length: 90 }, (_, at) => `${start}${at}`);
    const rows: Row[] = [
      ['failed', -9, ...names('down')],
      ['completed', -8, ...names('up')],
    ];
    await ledger.take('acme', { events: rows.map((row) => event(row)).toReversed() });
    const { servers = [] } = (await standings.get('acme', 'p1')) ?? {};
    expect(servers).toHaveLength(100);
    expect(servers.filter(({ outcome }) => outcome === 'failed')).toHaveLength(90);
  });
});
