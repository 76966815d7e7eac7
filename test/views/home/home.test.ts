import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../sandbox/slack/block-kit/message.ts';
import { checkView, isViewTooLarge } from '../../../sandbox/slack/block-kit/view.ts';
import { ACTIVE, type Paused } from '../../../src/records/schedules.ts';
import { Run } from '../../../src/records/test-runs.ts';
import type { Server } from '../../../src/service/servers.ts';
import { type HomeData, homeView } from '../../../src/views/home/home.ts';
import { SCHEDULE_FACES } from '../../../src/views/schedules/schedule.ts';
import { openTestMessage, testModal } from '../../../src/views/test-access/form.ts';
import { projectUnfurl, serverUnfurl } from '../../../src/views/unfurls/unfurl.ts';
import { webUrl } from '../../support/arbitraries.ts';
import { hostileText } from '../../support/hostile.ts';
import { KEY, RUN } from '../records.ts';

const target = fc.record({
  account: hostileText,
  project: fc.record({ permalink: hostileText, name: hostileText }),
  server: fc.option(fc.record({ identifier: hostileText, name: hostileText }), { nil: undefined }),
});
const run = fc
  .record({
    target,
    status: fc.constantFrom(...Run.shape.status.options),
    reachable: fc.option(fc.nat(), { nil: undefined }),
    total: fc.option(fc.nat(), { nil: undefined }),
    startedAt: fc.nat(),
    endedAt: fc.option(fc.nat(), { nil: undefined }),
    link: fc.option(fc.oneof(hostileText, webUrl(['https'])), { nil: undefined }),
  })
  .map((one) => ({ ...RUN, ...one }));
const amount = fc.option(fc.double(), { nil: undefined });
const stats = fc.record({
  total_deployments: amount,
  total_deployments_delta: amount,
  success_rate: fc.option(fc.double()),
  success_rate_delta: amount,
  avg_duration: fc.option(hostileText),
  active_servers: amount,
});
const name = fc.stringMatching(/^[a-z0-9]{1,63}$/);
const key = fc
  .record({
    name,
    state: fc.constantFrom('ok' as const, 'unverified' as const, 'broken' as const),
    purpose: fc.constantFrom('shared' as const, 'mine' as const),
  })
  .map((one) => ({ ...KEY, ...one }));
const data: fc.Arbitrary<HomeData> = fc
  .record({
    word: fc.constant('/deckhand'),
    now: fc.nat(),
    canSignUp: fc.boolean(),
    accounts: fc.array(key, { maxLength: 40 }),
    runs: fc.array(run, { maxLength: 40 }),
    schedules: fc.array(
      fc.record(
        {
          face: fc.constantFrom(...Object.values(SCHEDULE_FACES)),
          state: fc.oneof(fc.constant(ACTIVE), fc.string({ maxLength: 5000 }).map(paused)),
          id: name,
          channel: fc.constant('C0DEPLOY'),
          next: fc.option(fc.nat(), { nil: undefined }),
          what: fc.string({ maxLength: 5000 }),
        },
        { requiredKeys: ['face', 'state', 'id', 'channel', 'what'] },
      ),
      { maxLength: 60 },
    ),
    roles: fc.subarray(['admin', 'operator', 'billing']),
    figure: fc.oneof(
      fc.record({ stats: fc.option(stats, { nil: undefined }) }),
      fc.record({ failed: fc.string({ maxLength: 5000 }) }),
    ),
    isLoading: fc.boolean(),
  })
  .map(({ figure, isLoading, ...rest }) => ({
    ...rest,
    defaultAccount: rest.accounts[0]?.name,
    figures: isLoading
      ? ('loading' as const)
      : Object.fromEntries(rest.accounts.map((account) => [account.name, figure])),
  }));

function paused(reason: string): Paused {
  return { kind: 'paused', cause: 'slack', reason, at: 0 };
}

const DIGEST = { face: SCHEDULE_FACES.digest, id: 'd1', channel: 'C0DEPLOY', state: ACTIVE };
const WATCH = { ...DIGEST, face: SCHEDULE_FACES.watch, id: 'w1' };

const server = fc
  .record({ identifier: hostileText, name: hostileText, protocol_type: hostileText, status: hostileText })
  .map(
    ({ status, ...rest }): Server => ({
      ...rest,
      server_path: null,
      last_revision: null,
      preferred_branch: null,
      notify_email: false,
      server_group_identifier: null,
      hostname: null,
      port: null,
      username: null,
      use_ssh_keys: false,
      host_key: null,
      static_hosting: null,
      managed_vps: { status, hosted_resource_identifier: null, ip_address: null, region: '', size: '' },
    }),
  );

describe('whatever it is given, Slack takes', () => {
  it('App Home', () => {
    fc.assert(
      fc.property(data, (given) => {
        const view = homeView(given);
        expect(checkView(view, 'home')).toEqual([]);
        expect(isViewTooLarge(view)).toBe(false);
      }),
    );
  });

  it('what hangs under a link', () => {
    const project = fc.record({
      name: hostileText,
      permalink: hostileText,
      last_deployed_at: fc.option(hostileText),
    });
    fc.assert(
      fc.property(
        hostileText,
        project,
        fc.option(run, { nil: undefined }),
        server,
        (account, one, latest, other) => {
          expect(checkMessageBlocks(projectUnfurl(account, one, latest))).toEqual([]);
          expect(checkMessageBlocks(serverUnfurl(account, one.permalink, other))).toEqual([]);
        },
      ),
    );
  });

  it('the form of a test', () => {
    const project = fc.option(
      fc.record({ permalink: hostileText.filter(Boolean), name: hostileText.filter(Boolean) }),
      { nil: undefined },
    );
    const short = fc.record({ permalink: name, name });
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 1, maxLength: 150 }),
        project,
        short,
        (accounts, one, other) => {
          const account = accounts[0] ?? 'acme';
          const fitting = one === undefined || JSON.stringify(one).length > 2_000 ? other : one;
          expect(checkView(testModal({ account, project: fitting }, accounts), 'modal')).toEqual([]);
          expect(checkView(testModal({ account, channel: 'C1' }, accounts), 'modal')).toEqual([]);
        },
      ),
    );
    expect(checkMessageBlocks(openTestMessage().blocks)).toEqual([]);
  });
});

describe('App Home', () => {
  const base: HomeData = {
    word: '/deckhand',
    now: Date.UTC(2026, 2, 2),
    canSignUp: true,
    accounts: [KEY],
    defaultAccount: 'acme',
    figures: {},
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

  it('pauses and resumes schedules for those who may: operators, and billing for invoice notices', () => {
    const schedules: HomeData['schedules'] = [
      { ...DIGEST, what: 'the digest `d1`' },
      { ...WATCH, what: 'the watch `w1`', state: paused('it is archived') },
      { ...DIGEST, face: SCHEDULE_FACES.invoices, what: 'the invoice notices of `acme`' },
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
      { ...DIGEST, what: 'every day at 09:00, UTC: today', next: 1000 },
      { ...WATCH, what: 'failures, as they happen', state: paused('it is archived') },
    ];
    const said = shown({ schedules });
    expect(said).toMatch(
      /:calendar: \*Digest\* in <#C0DEPLOY>: every day at 09:00, UTC: today\\nNext <!date\^1\^/,
    );
    expect(said).toContain(
      '*Watch* in <#C0DEPLOY>: failures, as they happen\\nPaused because it is archived.',
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
