import { describe, expect, it } from 'vitest';
import { withOutcomes } from '../../../src/records/episodes.ts';
import type { Paused } from '../../../src/records/schedules.ts';
import { type HomeData, homeView } from '../../../src/views/home/home.ts';
import { DIGEST, KEY, NOTICES, RUN, WATCH } from '../records.ts';

function paused(reason: string): Paused {
  return { kind: 'paused', cause: 'slack', reason, at: 0 };
}

const HERE = { channel: 'C0DEPLOY' };
const PAUSED_WATCH = { ...WATCH, ...HERE, state: paused('it is archived') };

const FAILING = {
  kind: 'deployments',
  channel: 'C0DEPLOY',
  account: 'acme',
  project: 'p1',
  name: 'Storefront',
} as const;

describe('App Home', () => {
  const base: HomeData = {
    word: '/deckhand',
    now: Date.UTC(2026, 2, 2),
    canSignUp: true,
    accounts: [KEY],
    defaultAccount: 'acme',
    figures: {},
    failing: [],
    runs: [],
    schedules: [],
    roles: [],
  };
  const shown = (change: Partial<HomeData>) => JSON.stringify(homeView({ ...base, ...change }).blocks);

  it('tells the first steps where nothing is connected, with a button for those who may', () => {
    expect(shown({ accounts: [] })).toContain('Ask an admin to connect');
    expect(shown({ accounts: [] })).not.toContain('connect:open');
    expect(shown({ accounts: [], roles: ['admin'] })).toContain('connect:open');
  });

  it('names the list that has the schedules, and the channels that have the failures, which do not fit', () => {
    const { episodes } = withOutcomes(
      { subject: FAILING, counted: [], episodes: [] },
      [{ kind: 'failure', id: 'f1', at: base.now, lines: [] }],
      base.now,
    );
    const [episode] = episodes;
    if (episode === undefined) throw new Error('nothing fails');
    const failing = Array.from({ length: 14 }, (_, at) => {
      const name = `${'A long name '.repeat(20)}${at}`;
      return { key: `${at}`, subject: { ...FAILING, channel: `C${at}`, name }, episode };
    });
    const schedules = Array.from({ length: 30 }, (_, at) => ({
      schedule: at < 20 ? DIGEST : WATCH,
      next: undefined,
    }));
    const said = shown({ failing, schedules });
    expect(said).toContain('and 4 more, in <#C10>, <#C11>, <#C12>, <#C13>');
    expect(said.match(/:rotating_light:/g)).toHaveLength(10);
    expect(said).toContain('and 15 more: `/deckhand digest list all`, `/deckhand watch list all`');
  });

  it('begins with what fails now, where, and who is on it, then runs, schedules and accounts', () => {
    const { episodes } = withOutcomes(
      { subject: FAILING, counted: [], episodes: [] },
      [{ kind: 'failure', id: 'f1', at: base.now, lines: [] }],
      base.now,
    );
    const failing = episodes.map((episode) => ({
      key: 'k1',
      subject: FAILING,
      episode: { ...episode, owner: 'U0BEN' },
    }));
    const said = shown({ failing });
    expect(said).toMatch(
      /\*Storefront: deployments are failing since .*\* in <#C0DEPLOY>, <@U0BEN> is on it/,
    );
    const order = ['Failing now', 'Test runs', 'Schedules', 'Accounts'].map((title) => said.indexOf(title));
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(shown({})).not.toContain('Failing now');
  });

  it('pauses and resumes schedules for those who may: operators, and billing for invoice notices', () => {
    const schedules: HomeData['schedules'] = [
      { schedule: { ...DIGEST, ...HERE }, next: undefined },
      { schedule: PAUSED_WATCH, next: undefined },
      { schedule: { ...NOTICES, ...HERE }, next: undefined },
    ];
    const forOperators = shown({ schedules, roles: ['operator'] });
    expect(forOperators).toContain('digest:pause');
    expect(forOperators).toContain('watch:resume');
    expect(forOperators).toContain('because it is archived');
    expect(forOperators).not.toContain('invoices:pause');
    const forBilling = shown({ schedules, roles: ['billing'] });
    expect(forBilling).toContain('invoices:pause');
    expect(forBilling).not.toContain('digest:pause');
    expect(shown({ schedules })).not.toMatch(/:pause|:resume/);
  });

  it('says of a schedule where it posts what and when, or why it does not', () => {
    const schedules: HomeData['schedules'] = [
      { schedule: { ...DIGEST, ...HERE }, next: 1000 },
      { schedule: PAUSED_WATCH, next: undefined },
    ];
    const said = shown({ schedules });
    expect(said).toMatch(
      /:calendar: \*Digest\* of every connected account: this week, every day at 09:00, UTC, in <#C0DEPLOY>\\nNext <!date\^1\^/,
    );
    expect(said).toContain(
      '*Watch* of all projects of `acme`: all events, in <#C0DEPLOY>\\nPaused because it is archived.',
    );
  });

  it('lets no name come alive, and links to nothing but https', () => {
    const target = { account: 'acme', project: { permalink: 'x', name: '<!channel>' } };
    const run = { ...RUN, target, status: 'running' as const, link: 'javascript:alert(1)' };
    const said = shown({ runs: [run] });
    expect(said).toContain('&lt;!channel&gt;');
    expect(said).not.toContain('javascript');
  });
});
