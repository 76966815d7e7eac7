import { describe, expect, it } from 'vitest';
import { textInput } from '../../src/views/blocks/inputs.ts';
import { modal, type Values } from '../../src/views/blocks/modal.ts';
import { mergeSubmitted, withOpened } from '../../src/views/blocks/shared-form.ts';

/** A form with text fields, as it was opened. */
function opened(values: Readonly<Record<string, string>>) {
  const inputs = Object.entries(values).map(([field, initial]) => textInput(field, field, { initial }));
  return withOpened(modal('form', 'Form', { submit: 'Save' }, inputs));
}

const WHEN = [['cadence', 'time']];

describe('a form that others may have saved since it was opened', () => {
  it.each<
    [what: string, then: Record<string, string>, mine: Values, now: Values, saved: Values, asked: string[]]
  >([
    ['nobody changed anything', { a: '1' }, { a: '1' }, { a: '1' }, { a: '1' }, []],
    ['only the person changed it', { a: '1' }, { a: '2' }, { a: '1' }, { a: '2' }, []],
    ['only the person emptied it', { a: '1' }, {}, { a: '1' }, { a: undefined }, []],
    ['only others changed it', { a: '1' }, { a: '1' }, { a: '2' }, { a: '2' }, []],
    ['only others emptied it', { a: '1' }, { a: '1' }, { a: undefined }, { a: undefined }, []],
    [
      'both changed other fields',
      { a: '1', b: '1' },
      { a: '2', b: '1' },
      { a: '1', b: '2' },
      { a: '2', b: '2' },
      [],
    ],
    ['both changed it alike', { a: '1' }, { a: '2' }, { a: '2' }, { a: '2' }, []],
    ['both changed it', { a: '1' }, { a: '2' }, { a: '3' }, { a: '3' }, ['a']],
    [
      'others changed what the form does not show',
      { a: '1' },
      { a: '2' },
      { a: '1', c: '9' },
      { a: '2', c: '9' },
      [],
    ],
    [
      'others changed the time, and the person its frequency',
      { cadence: 'daily', time: '09:00', zone: 'UTC' },
      { cadence: 'weekdays', time: '09:00', zone: 'Asia/Tokyo' },
      { cadence: 'daily', time: '10:00', zone: 'UTC' },
      { cadence: 'daily', time: '10:00', zone: 'Asia/Tokyo' },
      ['cadence'],
    ],
  ])('if %s', (_, then, values, now, saved, asked) => {
    const merged = mergeSubmitted({ view: opened(then), values }, now, { together: WHEN });
    expect(merged.values).toEqual(saved);
    expect(merged.conflicts).toEqual(asked);
  });
});
