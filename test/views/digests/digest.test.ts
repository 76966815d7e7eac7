import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../sandbox/slack/block-kit/message.ts';
import { checkView } from '../../../sandbox/slack/block-kit/view.ts';
import type { KnownBlock, Message } from '../../../src/core/message.ts';
import { code, mrkdwn } from '../../../src/core/mrkdwn.ts';
import type { Digest } from '../../../src/records/digests.ts';
import type { ActivityEvent } from '../../../src/service/activity.ts';
import {
  chartBlock,
  chartImage,
  chartWords,
  type DeploymentsData,
  deploymentBars,
} from '../../../src/views/activity/chart.ts';
import {
  type AccountReport,
  digestCommand,
  digestMessage,
  digestWords,
  threadMessages,
} from '../../../src/views/digests/digest.ts';
import { digestModal } from '../../../src/views/digests/form.ts';
import {
  pausedMessage,
  removedCard,
  SCHEDULE_FACES,
  scheduleCard,
} from '../../../src/views/schedules/schedule.ts';
import { timedList } from '../../../src/views/schedules/timed.ts';
import { hostileText } from '../../support/hostile.ts';
import { DIGEST } from '../records.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');

const event: fc.Arbitrary<ActivityEvent> = fc.record({
  event: fc.oneof(hostileText, fc.constantFrom('deploy_completed', 'deploy_failed')),
  properties: fc.record({
    end_ref: fc.option(hostileText),
    servers: fc.array(hostileText, { maxLength: 8 }),
  }),
  project: fc.option(fc.record({ name: hostileText, permalink: hostileText, identifier: hostileText })),
  user: fc.option(hostileText),
  created_at: fc
    .integer({ min: 0, max: 30 * 24 })
    .map((hours) => new Date(NOW - hours * 3_600_000).toISOString()),
});
const figure = fc.option(fc.double({ noNaN: true }), { nil: undefined });
const stats = fc.record({
  total_deployments: figure,
  total_deployments_delta: figure,
  success_rate: fc.option(fc.double({ noNaN: true })),
  success_rate_delta: figure,
  avg_duration: fc.option(hostileText),
  active_servers: figure,
});
const told = fc
  .tuple(hostileText, fc.array(event, { maxLength: 100 }), fc.option(stats, { nil: undefined }), fc.boolean())
  .map(
    ([account, events, figures, isTruncated]): AccountReport => ({
      kind: 'reported',
      account,
      activity: { events, stats: figures },
      data: {
        title: account,
        zone: 'UTC',
        bars: deploymentBars(events, {
          range: 'last_30_days',
          zone: 'UTC',
          now: NOW,
          isTruncated: isTruncated,
        }),
        isTruncated: isTruncated,
      },
    }),
  );
const failed = fc
  .tuple(hostileText, hostileText)
  .map(([account, said]): AccountReport => ({ kind: 'failed', account, said: mrkdwn(said, 500) }));
const reports = fc.array(fc.oneof(told, failed), { maxLength: 12 });

const digest: fc.Arbitrary<Digest> = fc.record(
  {
    requestId: fc.constant('r1'),
    state: fc.constant(DIGEST.state),
    id: fc.constant('d7k2'),
    channel: fc.constant('C1'),
    cadence: fc.oneof(
      fc.constant({ kind: 'daily' as const, time: '09:00' }),
      hostileText.map((cron) => ({ kind: 'cron' as const, cron })),
    ),
    zone: fc.constantFrom('UTC', 'America/Argentina/Buenos_Aires'),
    range: fc.constantFrom(
      'today' as const,
      'last_7_days' as const,
      'last_30_days' as const,
      'this_week' as const,
    ),
    account: hostileText,
    project: fc.record({ permalink: hostileText, name: hostileText }),
    skipQuiet: fc.boolean(),
    setUpBy: fc.constant('U1'),
    setUpAt: fc.constant(NOW),
  },
  {
    requiredKeys: [
      'id',
      'requestId',
      'channel',
      'cadence',
      'zone',
      'range',
      'skipQuiet',
      'setUpBy',
      'setUpAt',
      'state',
    ],
  },
);

function expectTaken({ text, blocks }: Message): void {
  expect(checkMessageBlocks(blocks)).toEqual([]);
  expect(text.length).toBeGreaterThan(0);
  expect(text.length).toBeLessThanOrEqual(4000);
  expect(JSON.stringify(blocks).length).toBeLessThan(13_500);
  // What pictures show is told as plain text.
  const marked = JSON.stringify([text, blocks], (key, value) => (key === 'alt_text' ? '' : value));
  expect(marked).not.toContain('<!channel>');
}

describe('whatever the service tells, Slack takes', () => {
  it('the message of a digest, with its charts drawn, as pictures and in words, and without', () => {
    fc.assert(
      fc.property(digest, reports, fc.boolean(), (shown, all, isPreview) => {
        const data = all.flatMap((one) => (one.kind === 'reported' ? [one.data] : [])).slice(0, 4);
        const frame = { digest: shown, lateSince: NOW, next: NOW, isPreview };
        const drawn = (draw: (data: DeploymentsData) => KnownBlock | undefined) => {
          const blocks = data.map((each) => [each.title, draw(each)] as const);
          return new Map(blocks.filter((each): each is [string, KnownBlock] => each[1] !== undefined));
        };
        expectTaken(digestMessage(frame, all.slice(0, 2), drawn(chartBlock)));
        expectTaken(
          digestMessage(
            frame,
            all,
            drawn((each) => chartImage(each, 'F0FILE', 500)),
          ),
        );
        expectTaken(
          digestMessage(
            frame,
            all,
            drawn((each) => chartWords(each, 7)),
          ),
        );
        expectTaken(digestMessage(frame, all));
      }),
      { numRuns: 60 },
    );
  });

  it('its thread', () => {
    fc.assert(
      fc.property(digest, reports, (shown, all) => {
        for (const message of threadMessages(all, shown)) expectTaken(message);
      }),
      { numRuns: 40 },
    );
  });

  it('the list of digests, and what is said of one', () => {
    const state = fc.oneof(
      fc.constant({ kind: 'active' as const }),
      hostileText.map((reason) => ({
        kind: 'paused' as const,
        cause: 'person' as const,
        reason: mrkdwn(reason),
        at: NOW,
        by: 'U1',
      })),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(digest, state), { maxLength: 30 }), fc.nat(3), (all, elsewhere) => {
        const listed = all.map(([one, standing]) => ({ ...one, state: standing, next: NOW }));
        expectTaken(
          timedList(
            SCHEDULE_FACES.digest,
            listed,
            { scope: 'all', elsewhere, word: '/deckhand' },
            digestWords,
          ),
        );
        for (const [one] of all.slice(0, 2)) {
          const card = { face: SCHEDULE_FACES.digest, id: one.id, name: one.id, isAsleep: false };
          const shownCard = { ...card, words: digestWords(one) };
          expectTaken(scheduleCard(shownCard, { done: 'set up', user: 'U1' }));
          const again = { user: 'U1', note: code(digestCommand(one), 500) };
          expectTaken(removedCard([shownCard], again, { removal: 'r1' }));
        }
        expectTaken(
          pausedMessage({ reason: 'so', what: all.map(() => 'the digest `d7k2` in <#C1>'), next: 'Do.' }),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('the form, however it is filled in', () => {
    const value = fc.option(fc.oneof(hostileText, fc.constantFrom('cron', 'daily', 'UTC', 'today')), {
      nil: undefined,
    });
    const values = fc.record({
      cadence: value,
      zone: value,
      range: value,
      account: value,
      project: value,
      cron: value,
    });
    fc.assert(
      fc.property(
        values,
        fc.array(fc.stringMatching(/^[a-z0-9-]{1,20}$/), { maxLength: 120 }),
        hostileText,
        (filled, accounts, next) => {
          const view = digestModal({
            origin: { channel: 'C1', accounts: [...new Set(accounts)] },
            values: filled,
            next,
          });
          expect(checkView(view, 'modal')).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('the message of a digest', () => {
  const shown: Digest = { ...DIGEST, setUpAt: NOW };

  it('shows null as an em dash and what is missing as n/a, and says what the deltas compare with', () => {
    const activity = {
      events: [],
      stats: {
        total_deployments: 3,
        total_deployments_delta: undefined,
        success_rate: null,
        success_rate_delta: null,
      },
    };
    const data = { title: 'acme', zone: 'UTC', bars: [], isTruncated: false };
    const { blocks, text } = digestMessage({ digest: shown }, [
      { kind: 'reported', account: 'acme', activity, data } as AccountReport,
    ]);
    const said = JSON.stringify(blocks);
    expect(said).toContain('*Deployments*\\n3  n/a');
    expect(said).toContain('*Success rate*\\n—  —');
    expect(said).toContain('*Active servers now*\\nn/a');
    expect(said).toContain('▲ ▼ against the same part of last week');
    expect(text).toBe('Deployment digest, this week. `acme`: 3 deployments');
  });

  it('carries its buttons, and a preview none', () => {
    const actions = (isPreview: boolean) =>
      digestMessage({ digest: shown, isPreview }, []).blocks.flatMap((block) =>
        block.type === 'actions' ? block.elements.map((one) => ('text' in one ? one.text?.text : '')) : [],
      );
    expect(actions(false)).toEqual(['Snooze a week', 'Pause', 'Preview']);
    expect(actions(true)).toEqual([]);
  });
});
