import { expect, it } from 'vitest';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import { explain } from '../../../src/views/blocks/failures.ts';

const at = { word: '/deckhand', now: 0 };
const nextOf = (supportUrl?: string) => explain(new Error('a bug'), { ...at, supportUrl }).next;

it.each([
  [undefined, 'Try again. If it keeps happening, contact your administrator.'],
  ['https://help.example.com', 'Try again. If it keeps happening, get help: https://help.example.com'],
  ['mailto:help@example.com', 'Try again. If it keeps happening, get help: help@example.com'],
])('an unexpected failure leads to help at %s', (supportUrl, words) => {
  expect(nextOf(supportUrl)).toBe(words);
});

it('only an unexpected failure does', () => {
  expect(
    explain(new StoreUnavailable(undefined), { ...at, supportUrl: 'https://help.example.com' }).next,
  ).toBe('Try again in a minute.');
});
