import { describe, expect, it } from 'vitest';
import { describeMessage } from '../../src/core/message-text.ts';
import type { KnownActivity } from '../../src/records/ledger.ts';
import type { Digest } from '../../src/records/schedules.ts';
import type { DeploymentsBar } from '../../src/service/activity.ts';
import type { Invoice } from '../../src/service/invoices.ts';
import type { Server } from '../../src/service/servers.ts';
import {
  type DigestFrame,
  digestMessage,
  type ReportedAccount,
} from '../../src/views/digests/digest-message.ts';
import { invoiceNotices, invoicesMessage } from '../../src/views/invoices/invoice-messages.ts';
import { periodMessage } from '../../src/views/invoices/period-message.ts';
import { buildMessage, provisioningMessage, serverMessage } from '../../src/views/servers/server.ts';

const BILL: Invoice = {
  number: 1001,
  created_at: '2026-10-01T00:00:00Z',
  kind: 'subscription',
  total: '49.00',
  vat: null,
  currency: 'USD',
  paid: false,
  paid_at: null,
  download_url: null,
};
const PAID: Invoice = { ...BILL, number: 1002, paid: true, paid_at: '2026-10-02T00:00:00Z' };

describe('invoices, as a phone shows them', () => {
  it.for([
    [[BILL], '1 invoice of acme, unpaid: 1001 (49.00 USD). Number,'],
    [[PAID], '1 invoice of acme, paid. Number,'],
    [
      [BILL, { ...BILL, number: 1003 }],
      '2 invoices of acme, both unpaid: 1001 (49.00 USD), 1003 (49.00 USD). Number,',
    ],
    [[PAID, PAID, PAID], '3 invoices of acme, all paid. Number,'],
    [[BILL, PAID, PAID], '3 invoices of acme, 1 unpaid: 1001 (49.00 USD). Number,'],
  ] as const)('%j begins with its number and state once', ([invoices, start]) => {
    expect(describeMessage(invoicesMessage('acme', invoices)).slice(0, start.length)).toBe(start);
  });

  it('a notice says after each invoice which one it is', () => {
    const { root } = invoiceNotices('acme', [
      { kind: 'new', invoice: BILL },
      { kind: 'paid', invoice: PAID },
    ]);
    expect(describeMessage(root)).toBe(
      'New invoice 1001 of acme: 49.00 USD, unpaid. Subscription of Oct 1, 2026. Paid: invoice 1002 of acme, 49.00 USD. Subscription of Oct 1, 2026, paid Oct 2, 2026.',
    );
  });

  const ask = { isUnpaid: false };
  const find = (all: ReadonlyArray<readonly [string, Invoice]>) => ({
    ask,
    all: all.map(([account, invoice]) => ({ account, invoice })),
    accounts: ['acme', 'globex'],
    failures: [],
    skipped: [],
  });

  it('sums are together only for a currency of more than one account', () => {
    const euros = { ...BILL, currency: 'EUR' };
    const text = describeMessage(
      periodMessage(
        find([
          ['acme', BILL],
          ['globex', PAID],
          ['globex', euros],
        ]),
      ),
    );
    expect(text.match(/Together: [^,]*, [^,]*/g)).toEqual(['Together: 2 invoices, 98.00 USD']);
  });

  it('none in two accounts', () => {
    expect(describeMessage(periodMessage(find([])))).toBe('Invoices: none in acme and globex.');
  });
});

describe('a digest, as a phone shows it', () => {
  const AT = Date.parse('2026-03-02T10:12:00Z');
  const project = { identifier: 'p-1', permalink: 'shop', name: 'Shop' };
  const digest: Digest = {
    ...{ id: 'd1', requestId: 'r', channel: 'C1', createdBy: 'U1', createdAt: AT, state: { kind: 'active' } },
    ...{ kind: 'digest', cadence: { kind: 'daily', time: '09:00' }, zone: 'UTC', skipQuiet: false },
    range: 'since_last',
  };
  const bar = (failed: number): DeploymentsBar => ({ day: '2026-03-02', succeeded: 1, failed, cancelled: 0 });
  const report = (account: string, more: Partial<ReportedAccount> = {}, bars: DeploymentsBar[] = []) => {
    const activity: KnownActivity = { events: [], stats: undefined, since: undefined, gaps: [] };
    const data = { zone: 'UTC', bars, isTruncated: false };
    return { kind: 'reported' as const, account, activity, data, from: AT, ...more };
  };
  const text = (reports: Parameters<typeof digestMessage>[1], frame: Partial<DigestFrame> = {}) =>
    describeMessage(digestMessage({ digest, ...frame }, reports)).replace(/<!date[^|]*\|([^>]*)>/g, '$1');

  it('says once that nothing was deployed', () => {
    expect(text([report('acme')]).match(/no deployments/gi)).toHaveLength(1);
    expect(
      text([report('acme')], { digest: { ...digest, range: 'last_7_days' } }).match(/no deployments/gi),
    ).toHaveLength(1);
  });

  it('names itself before it says that it is late, and each account in a sentence of its own', () => {
    const failed = { kind: 'failed' as const, account: 'acme', reason: 'The key was revoked.' };
    expect(text([failed, report('beacon', {}, [bar(0)])], { lateSince: AT })).toMatch(
      /^Deployment digest, since the last digest\. Late: this was due 2026-03-02 10:12 UTC\. acme: The key was revoked\. beacon: 1 deployment: 1 succeeded\. /,
    );
  });

  it('compares as many deployments in a sentence', () => {
    const figures = {
      total_deployments: 0,
      total_deployments_delta: 0,
      success_rate: null,
      success_rate_delta: null,
    };
    const activity = { events: [], stats: undefined, since: undefined, gaps: [], figures };
    expect(text([report('acme', { activity })], { digest: { ...digest, project } })).toContain(
      ' Since 2026-03-02 10:12 UTC: as many deployments as in the same length of time before. ',
    );
  });

  it('says what has been failing', () => {
    const failing = {
      kind: 'deployments',
      project: 'p-1',
      name: 'Shop',
      permalink: 'shop',
      since: AT,
    } as const;
    const of = (titles: string[]) => text([report('acme', { failing: [{ ...failing, titles }] })]);
    expect(of(['web-1', 'web-2'])).toContain(
      'Still failing. Shop: deployments to web-1 and web-2 have been failing since 2026-03-02 10:12 UTC.',
    );
    expect(of([])).toContain('Shop: deployments have been failing since 2026-03-02 10:12 UTC.');
  });
});

describe('servers, as a phone shows them', () => {
  const AT = Date.parse('2026-03-02T10:12:00Z');
  const project = { identifier: 'p-1', permalink: 'shop', name: 'Shop' };
  const target = { account: 'acme', project, server: { identifier: 's-1', name: 'box' } };
  const machine = {
    status: 'error',
    ip_address: null,
    region: 'fra1',
    size: 'small',
    hosted_resource_identifier: '',
  };
  const server = {
    ...{ identifier: 's-1', name: 'box', protocol_type: 'managed_vps', managed_vps: machine },
  } as unknown as Server;

  it('name a server once, and leave out what is not known', () => {
    expect(describeMessage(serverMessage(server, target))).toBe(
      'Server box of Shop, managed server. Status: error: broken, because it could not be created or refreshed. IP address: none yet. Region: fra1. Size: small. Identifier s-1, project shop, account acme.',
    );
  });

  it('link a server that was ordered, and say what follows if it is broken', () => {
    const pages = {
      project: (account: string, permalink: string) => `https://${account}.example.net/${permalink}`,
      server: (account: string, permalink: string, id: string) =>
        `https://${account}.example.net/${permalink}/${id}`,
    };
    const times = { requestedBy: 'U1', startedAt: AT, now: AT };
    const message = provisioningMessage({ target, pages, ...times, state: { kind: 'ended', server } });
    expect(JSON.stringify(message.blocks)).toContain('Server <https://acme.example.net/shop/s-1|box> in');
    expect(describeMessage(message)).toContain(
      'Its page at the service may say why. If not, ask the service’s support.',
    );
  });

  it('count nothing of an empty build configuration', () => {
    const empty = { identifier: 'b-1', default: false, packages: {}, servers: [] };
    expect(describeMessage(buildMessage('acme', project, empty))).toMatch(
      /^Build configuration of Shop\. No languages or tools are set\. No servers use it\. /,
    );
  });
});
