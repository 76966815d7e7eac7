import { describe, expect, it } from 'vitest';
import type { Account } from '../../src/records/accounts.ts';
import { withOutcomes } from '../../src/records/outcomes.ts';
import type { Digest, InvoiceNotices, Watch } from '../../src/records/schedules.ts';
import { type HomeData, homeView } from '../../src/views/home/home-view.ts';

const KEY: Account = {
  name: 'acme',
  email: 'ann@acme.example',
  sealedKey: '',
  keyTail: '1f2e',
  state: 'ok',
  purpose: 'shared',
  createdBy: 'U0ANN',
  createdAt: 0,
};
const MADE = {
  channel: 'C1',
  requestId: 'r1',
  createdBy: 'U1',
  createdAt: 0,
  state: { kind: 'active' },
} as const;
const CADENCE = { cadence: { kind: 'daily', time: '09:00' }, zone: 'UTC' } as const;
const DIGEST: Digest = {
  ...MADE,
  ...CADENCE,
  kind: 'digest',
  id: 'd7k2',
  range: 'this_week',
  skipQuiet: false,
};
const WATCH: Watch = { ...MADE, kind: 'watch', id: 'w7k2', account: 'acme', mode: 'all' };
const NOTICES: InvoiceNotices = { ...MADE, kind: 'invoices', id: 'C1 acme', account: 'acme' };
const ARCHIVED = { kind: 'paused', cause: 'slack', reason: 'it is archived', at: 0 } as const;

describe('App Home', () => {
  const base: HomeData = {
    word: '/deckhand',
    now: Date.UTC(2026, 2, 2),
    canSignUp: true,
    accounts: [KEY],
    defaultAccount: 'acme',
    figures: {},
    failing: { failures: [], settled: [], ages: [] },
    runs: [],
    schedules: [],
    roles: [],
  };
  const draw = (change: Partial<HomeData>) => JSON.stringify(homeView({ ...base, ...change }).blocks);

  it('links a project whose commits wait', () => {
    const pages = {
      project: (account: string, permalink: string) => `https://${account}.example.net/${permalink}`,
      server: () => '',
    };
    const waiting = [{ name: 'Shop', permalink: 'shop', words: '1 commit waits to be deployed' }];
    expect(draw({ pages, figures: { acme: { stats: undefined, waiting } } })).toContain(
      '<https://acme.example.net/shop|*Shop*>: 1 commit waits to be deployed',
    );
  });
  const failing = (amount: number) => ({ failures: failures(amount), settled: [], ages: [] });
  const failures = (amount: number) =>
    Array.from({ length: amount }, (_, at) => {
      const subject = {
        kind: 'deployments',
        channel: `C${at}`,
        account: 'acme',
        project: 'p1',
        name: `${'A long name '.repeat(20)}${at}`,
      } as const;
      const failure = { kind: 'failure' as const, id: 'f1', at: base.now, lines: [] };
      const { episodes } = withOutcomes({ subject, counted: [], episodes: [] }, [failure], base.now);
      return episodes.map((episode) => ({ key: `${at}`, subject, episode }));
    }).flat();

  it('names the lists of the schedules, and the channels of the failures, which do not fit', () => {
    const schedules = Array.from({ length: 30 }, (_, at) => ({
      schedule: at < 20 ? DIGEST : WATCH,
      next: undefined,
    }));
    const text = draw({ failing: failing(14), schedules });
    const order = ['Failing now', 'Test runs', 'Schedules', 'Accounts'].map((title) => text.indexOf(title));
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(text).toContain('and 4 more, in <#C10>, <#C11>, <#C12>, <#C13>');
    expect(text.match(/:rotating_light:/g)).toHaveLength(10);
    expect(text).toContain('and 15 more: `/deckhand digest list all`, `/deckhand watch list all`');
  });

  it('tells of a schedule when and where it posts, or why not, with a menu for those who may change it', () => {
    const schedules: HomeData['schedules'] = [
      { schedule: DIGEST, next: 1000 },
      { schedule: { ...WATCH, state: ARCHIVED }, next: undefined },
      { schedule: NOTICES, next: undefined },
    ];
    const text = draw({ schedules });
    expect(text).toMatch(/every day at 09:00, UTC, in <#C1>\\nNext <!date\^1\^/);
    expect(text).toContain('all events, in <#C1>\\nPaused because it is archived.');
    const menus = (role: 'operator' | 'billing') =>
      draw({ schedules, roles: [role] }).match(/\w+:menu(?=")/g);
    expect(text).not.toContain(':menu');
    expect(menus('operator')).toEqual(['digest:menu', 'watch:menu']);
    expect(menus('billing')).toEqual(['invoices:menu']);
  });
});
