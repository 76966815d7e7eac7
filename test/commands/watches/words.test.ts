import { describe, expect, it } from 'vitest';
import { readHours, readWatchWords } from '../../../src/commands/watches/watch.ts';

describe('the words after watch', () => {
  it.each<[string, string | undefined, boolean, string | undefined]>([
    ['', undefined, false, undefined],
    ['storefront all', 'storefront', false, 'all'],
    ['failures storefront', 'storefront', false, 'failures'],
    ['Billing API Transitions', 'Billing API', false, 'transitions'],
    ['constructor', 'constructor', false, undefined],
  ])('%s', (line, project, isAll, mode) => {
    expect(readWatchWords(line === '' ? [] : line.split(' '))).toEqual({ project, isAll, mode });
  });
});

describe('working hours', () => {
  it.each([
    ['8.30 - 17', '08:30', '17:00'],
    ['9–18', '09:00', '18:00'],
    ['9 to 18:30', '09:00', '18:30'],
    ['22-6', '22:00', '06:00'],
    ['0-24', '00:00', '24:00'],
  ])('%s are from %s to %s', (typed, from, to) => {
    expect(readHours(typed)).toEqual({ from, to });
  });

  it.each(['9', '9-9', '25-26', '9-18:75', '24-6', '0am-5am', ''])(
    '%s are refused with an example',
    (typed) => {
      expect(() => readHours(typed)).toThrow('`9-18`');
    },
  );
});
