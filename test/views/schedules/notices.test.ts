import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../sandbox/slack/block-kit/message.ts';
import type { Message } from '../../../src/core/message.ts';
import type { ActivityEvent } from '../../../src/service/activity.ts';
import type { Invoice } from '../../../src/service/invoices.ts';
import {
  type InvoiceNews,
  invoiceNotices,
  notifyStateMessage,
} from '../../../src/views/invoices/invoices.ts';
import { SCHEDULE_FACES, scheduleCard } from '../../../src/views/schedules/schedule.ts';
import { newsLine, watchMessages } from '../../../src/views/watches/news.ts';
import { type ListedWatch, watchListMessage, watchWords } from '../../../src/views/watches/watch.ts';
import { hostileText } from '../../support/hostile.ts';
import { byLength } from '../../support/length.ts';
import { NOTICES, WATCH } from '../records.ts';

const instant = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
const created_at = instant.map((at) => at.toISOString());
/** Accounts are slugs. */
const account = fc.constantFrom('acme', 'a'.repeat(63));
const millis = instant.map((at) => at.getTime());

const event: fc.Arbitrary<ActivityEvent> = fc.record({
  event: fc.oneof(hostileText, fc.constantFrom('deploy_completed', 'deploy_failed')),
  properties: fc.record({
    end_ref: fc.option(hostileText),
    servers: fc.array(hostileText, { maxLength: 5 }),
  }),
  project: fc.option(fc.record({ name: hostileText, permalink: hostileText, identifier: hostileText })),
  user: fc.option(hostileText),
  created_at,
});
const invoice: fc.Arbitrary<Invoice> = fc.record({
  number: fc.nat(),
  kind: hostileText,
  currency: hostileText,
  total: hostileText,
  vat: fc.option(hostileText),
  paid: fc.boolean(),
  paid_at: fc.option(created_at),
  created_at,
  download_url: fc.option(hostileText),
});
const invoiceNews: fc.Arbitrary<InvoiceNews> = fc.oneof(
  fc.record({ kind: fc.constantFrom('new' as const, 'paid' as const), invoice }),
  fc.record({ kind: fc.constant('unpaid' as const), invoice, days: fc.nat() }),
);
const state = fc.oneof(
  fc.constant({ kind: 'active' as const }),
  fc.record({
    kind: fc.constant('paused' as const),
    cause: fc.constant('slack' as const),
    reason: fc.constant('the channel is archived'),
    at: millis,
  }),
);
const last = fc.option(fc.record({ at: millis, said: fc.constant('3 events') }), { nil: undefined });
const listed: fc.Arbitrary<ListedWatch> = fc.record({
  watch: fc
    .record({
      mode: fc.constantFrom('all' as const, 'failures' as const, 'transitions' as const),
      project: fc.option(hostileText, { nil: undefined }),
      setUpAt: millis,
      state,
      last,
    })
    .map(({ project: name, ...one }) => ({
      ...WATCH,
      ...one,
      project: name === undefined ? undefined : { permalink: 'storefront', identifier: 'p1', name },
    })),
  channel: fc.constant('C1'),
  account,
  lookedAt: fc.option(millis, { nil: undefined }),
  failures: fc.nat(),
});

function expectFit(message: Message): void {
  const shown = JSON.stringify(message);
  expect(checkMessageBlocks(message.blocks), shown.slice(0, 500)).toEqual([]);
  expect(message.text.length).toBeGreaterThan(0);
  expect(message.text.length).toBeLessThanOrEqual(4000);
  expect(textOf(message)).toBeLessThanOrEqual(13_000);
  expect(shown).not.toMatch(/<!channel>|<https:\/\/evil/);
}

/** What Slack counts of a message's blocks, and refuses over about 13,000. */
function textOf({ blocks }: Message): number {
  const texts = JSON.stringify(blocks).match(/"text":"(?:[^"\\\\]|\\\\.)*"/g) ?? [];
  return texts.reduce((sum, text) => sum + text.length - 9, 0);
}

describe('notices', () => {
  it('of events fit Slack, whatever the service says and however much', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 100 }),
        fc.boolean(),
        account,
        fc.array(fc.constant('w7k2'), { maxLength: 60 }),
        (news, isCut, of, ids) => {
          if (news.length === 0 && !isCut) return;
          const lines = news.map((one) => newsLine(one, () => undefined));
          const { root, replies } = watchMessages({ lines, isCut, account: of, ids, word: '/deckhand' });
          for (const message of [root, ...replies]) expectFit(message);
        },
      ),
      { numRuns: byLength(20, 200) },
    );
  });

  it('of events lose none, in order, in the message or its thread', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (amount) => {
        const refs = Array.from({ length: amount }, (_, at) => `r${100 + at}`);
        const news = refs.map((end_ref) => deployment(end_ref));
        const { root, replies } = watchMessages({
          lines: news.map((one) => newsLine(one, () => undefined)),
          isCut: false,
          account: 'acme',
          ids: [],
          word: '/deckhand',
        });
        const shown = JSON.stringify([root.blocks, ...replies.map(({ blocks }) => blocks)]);
        expect(shown.match(/`r\d+`/g)).toEqual(refs.map((ref) => `\`${ref}\``));
        expect(replies.length > 0).toBe(amount > 10);
      }),
    );
  });

  it('of invoices fit Slack, each with its button', () => {
    fc.assert(
      fc.property(fc.array(invoiceNews, { minLength: 1, maxLength: 50 }), account, (news, of) => {
        const { root, replies } = invoiceNotices(of, news);
        for (const message of [root, ...replies]) expectFit(message);
        const shown = JSON.stringify([root, ...replies]);
        expect(shown.match(/invoices:pdf#/g)).toHaveLength(news.length);
      }),
      { numRuns: byLength(20, 200) },
    );
  });

  it('and their lists fit Slack, whatever is watched', () => {
    const listing = fc.record({
      scope: fc.constantFrom('here', 'all'),
      elsewhere: fc.nat(),
      word: fc.constant('/deckhand'),
    });
    fc.assert(
      fc.property(fc.array(listed, { maxLength: 40 }), listing, (watches, how) => {
        expectFit(watchListMessage(watches, how));
        for (const one of watches.slice(0, 1)) {
          const card = { face: SCHEDULE_FACES.watch, id: 'w7k2', name: 'w7k2', words: watchWords(one) };
          expectFit(scheduleCard({ ...card, isAsleep: true }, { done: 'paused', user: 'U1' }));
        }
        const channels = watches.map(({ watch: { state, last }, ...rest }) => ({
          ...NOTICES,
          ...rest,
          state,
          last,
        }));
        expectFit(notifyStateMessage(channels, '/deckhand'));
      }),
      { numRuns: byLength(20, 200) },
    );
  });
});

function deployment(end_ref: string): ActivityEvent {
  return {
    event: 'deploy_completed',
    properties: { end_ref, servers: ['web-1'] },
    project: { name: 'Storefront', permalink: 'storefront', identifier: 'p1' },
    user: 'Kim',
    created_at: '2026-11-20T12:00:00Z',
  };
}
