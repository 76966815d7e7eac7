import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../sandbox/slack/block-kit/message.ts';
import { linkLine, linkMessage } from '../../../src/views/accounts/identity.ts';
import { linkedPage, pageOf } from '../../../src/views/public/pages.ts';
import { anyText } from '../../support/arbitraries.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');
const URL = 'https://deckhand.example.com/service/oauth/start?ticket=abc';

describe('how a person’s link is shown', () => {
  it.each([
    [undefined, 'is not linked. `/deckhand link`'],
    [{ linkedAt: NOW }, 'Linked <!date^'],
    [{ linkedAt: NOW, expiresAt: NOW + 1 }, 'Linked <!date^'],
    [{ linkedAt: NOW, expiresAt: NOW }, 'ended <!date^'],
  ])('%j', (link, words) => {
    const stored = link && { sealedTokens: '', ...link };
    expect(linkLine(stored, NOW, '/deckhand')).toContain(words);
  });

  it('is a message that Slack takes, whatever the scope is called', () => {
    const scope = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('<!channel>', 'x'.repeat(10_000)),
    );
    fc.assert(
      fc.property(scope, (text) => {
        const link = { sealedTokens: '', linkedAt: NOW, scope: text };
        const message = linkMessage(URL, link, NOW, '/deckhand');
        expect(checkMessageBlocks(message.blocks)).toEqual([]);
        expect(message.text).not.toContain('<!channel>');
      }),
    );
  });

  it('is a page on which no name becomes markup', () => {
    fc.assert(
      fc.property(anyText(), (name) => {
        const tags = pageOf(linkedPage('T1', `${name}<b>`, '/deckhand')).match(/<\/?[a-z0-9]+/gi) ?? [];
        const known = ['html', 'head', 'meta', 'title', 'style', 'body', 'main', 'h1', 'p', 'a'];
        expect(tags.filter((tag) => tag === '<a')).toHaveLength(1);
        expect(tags.filter((tag) => !known.includes(tag.replace(/<\/?/, '').toLowerCase()))).toEqual([]);
      }),
    );
  });
});
