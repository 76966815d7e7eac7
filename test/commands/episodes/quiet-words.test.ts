import { expect, it } from 'vitest';
import { readQuietWords } from '../../../src/commands/episodes/quiet-words.ts';

/** Friday, half past four in the afternoon in Lisbon, which is at UTC. */
const NOW = Date.parse('2026-03-06T16:30:00Z');

it.each<[string, string | undefined, string | undefined]>([
  ['for 2h', '03-06T18:30', undefined],
  ['2h storefront', '03-06T18:30', 'storefront'],
  ['storefront for 90m', '03-06T18:00', 'storefront'],
  ['for half an hour', '03-06T17:00', undefined],
  ['for an hour all', '03-06T17:30', 'all'],
  ['billing api for 2 hours', '03-06T18:30', 'billing api'],
  ['for 3 days', '03-09T16:30', undefined],
  ['until monday', '03-09T08:00', undefined],
  ['until Mon storefront', '03-09T08:00', 'storefront'],
  ['until friday', '03-13T08:00', undefined],
  ['until monday at 9:30', '03-09T09:30', undefined],
  ['until 8:00', '03-07T08:00', undefined],
  ['until 8', '03-07T08:00', undefined],
  ['until 18h00', '03-06T18:00', undefined],
  ['until 6pm storefront', '03-06T18:00', 'storefront'],
  ['until tomorrow', '03-07T08:00', undefined],
  ['until noon', '03-07T12:00', undefined],
  ['until 2026-03-10', '03-10T08:00', undefined],
  ['for today', '03-07T00:00', undefined],
  ['over the weekend', '03-09T08:00', undefined],
  ['everything', undefined, '*'],
  ['this channel until tuesday', '03-10T08:00', '*'],
  ['storefront', undefined, 'storefront'],
])('"quiet %s" lasts until %s, for %s', (words, until, scope) => {
  const read = readQuietWords(words.split(' '), { now: NOW, zone: 'Europe/Lisbon' });
  const time = read.until === undefined ? undefined : new Date(read.until).toISOString().slice(5, 16);
  expect([time, read.scope, read.isEnd]).toEqual([until, scope, false]);
});

it('"quiet off" ends it', () => {
  const time = { now: NOW, zone: 'UTC' };
  expect(readQuietWords(['off'], time)).toEqual({ isEnd: true, until: undefined, scope: undefined });
  expect(readQuietWords(['off', 'storefront'], time)).toMatchObject({ isEnd: true, scope: 'storefront' });
});
