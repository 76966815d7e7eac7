import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ActivityEvent } from '../../../src/service/activity.ts';
import { newsLine, watchMessages } from '../../../src/views/watches/watch.ts';

describe('notices', () => {
  it('of events lose none, in order, in the message or its thread', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (amount) => {
        const refs = Array.from({ length: amount }, (_, at) => `r${100 + at}`);
        const news = refs.map((end_ref) => deployment(end_ref));
        const { root, replies } = watchMessages({
          lines: news.map((one) => newsLine(one, () => undefined)),
          isTruncated: false,
          account: 'acme',
          word: '/deckhand',
        });
        const shown = JSON.stringify([root.blocks, ...replies.map(({ blocks }) => blocks)]);
        expect(shown.match(/`r\d+`/g)).toEqual(refs.map((ref) => `\`${ref}\``));
        expect(replies.length > 0).toBe(amount > 10);
      }),
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
