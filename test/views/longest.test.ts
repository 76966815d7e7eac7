import { expect, it } from 'vitest';
import { checkMessageBlocks } from '../../sandbox/slack/block-kit/message.ts';
import type { Digest } from '../../src/records/schedules.ts';
import type { ActivityEvent } from '../../src/service/activity.ts';
import { createPages } from '../../src/service/addresses.ts';
import { projectName } from '../../src/views/activity/activity-message.ts';
import { type AccountReport, threadMessages } from '../../src/views/digests/digest-message.ts';
import { projectsMessage } from '../../src/views/projects/project-messages.ts';
import { testRootMessage } from '../../src/views/test-access/test-run.ts';
import { newsLine, watchMessages } from '../../src/views/watches/watch-messages.ts';
import { measureText } from '../support/sent.ts';

const pages = createPages('https://{account}.deployments.example');
const LONG = '&'.repeat(3_500);
const many = <T>(draw: (at: number) => T): T[] => Array.from({ length: 150 }, (_, at) => draw(at));
const event = (at: number): ActivityEvent => ({
  event: 'deploy_failed',
  properties: { end_ref: LONG, servers: [LONG, LONG, LONG] },
  project: { name: LONG, permalink: `p-${at}`, identifier: `p-${at}` },
  user: LONG,
  created_at: '2026-11-20T12:00:00Z',
});
const project = (at: number) => ({
  name: LONG,
  permalink: `p-${at}`,
  identifier: `p-${at}`,
  last_deployed_at: '2026-11-20T12:00:00Z',
  starred: true,
});
const news = (amount: number) => {
  const lines = many((at) =>
    newsLine(event(at), () => undefined, [projectName(event(at), 'acme', pages)]),
  ).slice(0, amount);
  const { root, replies } = watchMessages({ account: 'acme', lines, isTruncated: true, word: '/deckhand' });
  return [root, ...replies].map(({ blocks }) => blocks);
};
const unreachable = { status: 'error', message: LONG } as const;
const results = {
  repository: unreachable,
  servers: many((at) => ({ ...unreachable, name: LONG, identifier: `s-${at}` })),
};
const report = {
  kind: 'reported',
  account: 'acme',
  activity: { events: many(event), stats: undefined, since: undefined, gaps: [] },
  data: { zone: 'UTC', bars: [] },
} as unknown as AccountReport;
const digest = { zone: 'UTC' } as Digest;

it.each([
  [
    'the projects of a list',
    () => [projectsMessage(many(project), { account: 'acme', page: 0 }, '/deckhand').blocks],
  ],
  ['the replies of a digest', () => threadMessages([report], { digest, pages }).map(({ blocks }) => blocks)],
  ['ten events of a watch', () => news(10)],
  ['the events of a page of a watch', () => news(150)],
  [
    'the blocks of a test run',
    () => [
      testRootMessage({
        target: { account: 'acme', project: { permalink: 'p', name: 'Storefront' } },
        startedAt: 0,
        now: 1,
        runKey: 'key',
        state: { kind: 'ended', run: { status: 'completed', created_at: null, completed_at: null, results } },
      }).blocks,
    ],
  ],
])('%s are as long as Slack takes', (_what, draw) => {
  for (const blocks of draw()) {
    expect(checkMessageBlocks(blocks)).toEqual([]);
    expect(measureText(blocks)).toBeLessThan(13_000);
  }
});
