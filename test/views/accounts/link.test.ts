import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkLine } from '../../../src/views/accounts/identity.ts';
import { linkedPage, renderPage } from '../../../src/views/public/pages.ts';
import { anyText } from '../../support/arbitraries.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');

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

  it('is a page on which no name becomes markup', () => {
    fc.assert(
      fc.property(anyText(), (name) => {
        const tags = renderPage(linkedPage('T1', `${name}<b>`, '/deckhand')).match(/<\/?[a-z0-9]+/gi) ?? [];
        const known = ['html', 'head', 'meta', 'title', 'style', 'body', 'main', 'h1', 'p', 'a'];
        expect(tags.filter((tag) => tag === '<a')).toHaveLength(1);
        expect(tags.filter((tag) => !known.includes(tag.replace(/<\/?/, '').toLowerCase()))).toEqual([]);
      }),
    );
  });
});
