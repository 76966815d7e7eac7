import { expect, it } from 'vitest';
import { readWatchWords } from '../../../src/commands/watches/watch.ts';

it.each<[string, string | undefined, boolean, string | undefined]>([
  ['', undefined, false, undefined],
  ['all', undefined, true, undefined],
  ['ALL', undefined, true, undefined],
  ['all all', undefined, true, 'all'],
  ['all failures', undefined, true, 'failures'],
  ['everything transitions', undefined, true, 'transitions'],
  ['failures', undefined, false, 'failures'],
  ['storefront', 'storefront', false, undefined],
  ['storefront all', 'storefront', false, 'all'],
  ['storefront Failures', 'storefront', false, 'failures'],
  ['failures storefront', 'storefront', false, 'failures'],
  ['Billing API transitions', 'Billing API', false, 'transitions'],
  ['constructor', 'constructor', false, undefined],
])('watch %s', (line, project, isAll, mode) => {
  expect(readWatchWords(line === '' ? [] : line.split(' '))).toEqual({ project, isAll, mode });
});
