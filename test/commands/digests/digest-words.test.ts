import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDigestWords } from '../../../src/commands/digests/digest.ts';
import { splitWords } from '../../../src/commands/typed-words.ts';
import { UserError } from '../../../src/core/errors.ts';

const read = (text: string) => readDigestWords(splitWords(text, ['skip-quiet']).words);

describe('the words of a digest', () => {
  it.each([
    ['weekly:mon 09:00 Europe/Lisbon last_7_days', 'weekly mon 09:00', 'Europe/Lisbon', 'last_7_days'],
    ['cron:“0 9 * * 1-5” Europe/Lisbon', 'cron 0 9 * * 1-5', 'Europe/Lisbon', undefined],
    ['cron:0 9 1 * * UTC last_30_days', 'cron 0 9 1 * *', 'UTC', 'last_30_days'],
    ['Weekly:Friday 9am europe/lisbon week', 'weekly fri 09:00', 'Europe/Lisbon', 'this_week'],
    ['daily 09:00 UTC since_last', 'daily 09:00', 'UTC', 'since_last'],
    ['daily 09:00 since the last digest', 'daily 09:00', undefined, 'since_last'],
    ['daily 09:00 America/Los Angeles last 7 days', 'daily 09:00', 'America/Los_Angeles', 'last_7_days'],
    ['daily 09:00 New York', 'daily 09:00', 'America/New_York', undefined],
    ['daily 09:00 los angeles last 7 days', 'daily 09:00', 'America/Los_Angeles', 'last_7_days'],
    ['daily 09:00 Lagos', 'daily 09:00', 'Africa/Lagos', undefined],
  ])('%s', (text, cadence, zone, range) => {
    const words = read(text);
    expect(words).toMatchObject({ zone, range, project: undefined });
    expect(Object.values(words.cadence ?? {}).join(' ')).toBe(cadence);
  });

  it('may name a project at the end', () => {
    expect(read('daily 09:00 UTC today storefront').project).toBe('storefront');
    expect(read('daily 09:00 UTC since_last storefront').project).toBe('storefront');
  });

  it.each([
    ['dayly 09:00 UTC', 'Did you mean `daily`?'],
    ['weekly 09:00 UTC', 'Did you mean `weekly:mon`?'],
    ['monthly 09:00 UTC', 'first of each month'],
    ['daily 09:00 New Yrok', 'Did you mean `America/New_York`?'],
    ['daily 24:00 UTC', 'Did you mean `00:00`?'],
    ['daily 9:75 UTC', 'Did you mean `09:59`?'],
    ['daily 09:00 Europe/Lisbonn', 'Did you mean `Europe/Lisbon`?'],
    ['daily 09:00 +02:00', 'There is no time zone'],
    ['daily 09:00 BST', 'Did you mean `Europe/London` or `Asia/Dhaka`?'],
    ['daily 09:00 pst8pdt last_7_days', '`America/Los_Angeles`'],
    ['daily 09:00 UTC since_last today', 'Name one range only.'],
    ['cron:"61 * * * *" UTC', 'This is wrong: minute (0-59)'],
    ['<!channel> 09:00 UTC', '`&lt;!channel&gt;`'],
  ])('%s is refused: %s', (text, said) => {
    expect(() => read(text)).toThrow(UserError);
    expect(() => read(text)).toThrow(said);
  });

  it('never break on what people type', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.string(), fc.constantFrom('cron:', 'daily', 'weekly:', '09:00', 'UTC', 'today')),
        ),
        (words) => {
          try {
            readDigestWords(words);
          } catch (error) {
            expect(error).toBeInstanceOf(UserError);
          }
        },
      ),
    );
  });
});
