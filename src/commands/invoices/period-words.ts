import { addDays, type CalendarDay } from '../../core/time/zone.ts';

/** A span of calendar days such as `2026-10-05`, both included. */
export interface Period {
  from: string;
  to: string;
}

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
const ORDINALS = ['first', '1st', 'second', '2nd', 'third', '3rd', 'fourth', '4th'];
const QUIET_WORDS = /\b(?:the|of|in|for|all)\b|,/g;

/**
 * The span of time that words name: `q3`, `october`, `last quarter`, `2026`, `h1 2025`, `may to july`, `since 2026-03-01`, `90d`.
 * Without a year it is the latest one that has begun. Pure.
 * @param today the person's calendar day
 * @returns undefined for other words
 */
export function readPeriod(words: string, today: CalendarDay): Period | undefined {
  const text = normalise(words);
  return readBetween(text, today) ?? readSince(text, today) ?? readSpan(text, today);
}

function normalise(words: string): string {
  return words
    .toLowerCase()
    .replace(QUIET_WORDS, ' ')
    .replace(/[–—]/g, '-')
    .replace(/\b(first|second|third|fourth|1st|2nd|3rd|4th) (q|h)(?:uarter|alf)\b/g, nameByNumber)
    .replace(/\bquarter ([1-4])\b/g, 'q$1')
    .replace(/\b([1-4])q\b/g, 'q$1')
    .replace(/\s+/g, ' ')
    .trim();
}

function nameByNumber(_: string, ordinal: string, unit: string): string {
  return `${unit}${Math.floor(ORDINALS.indexOf(ordinal) / 2) + 1}`;
}

/** "since october" */
function readSince(text: string, today: CalendarDay): Period | undefined {
  const [, words] = /^(?:since|from) (.+)$/.exec(text) ?? [];
  const begin = words === undefined ? undefined : readSpan(words, today)?.from;
  const to = write(today);
  return begin === undefined || begin > to ? undefined : { from: begin, to };
}

/** "july to september" */
function readBetween(text: string, today: CalendarDay): Period | undefined {
  const [, first, last] = /^(?:from |between )?(.+?) (?:to|until|till|through|and|-) (.+)$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return undefined;
  const from = readSpan(first, today)?.from;
  const to = last === 'now' ? write(today) : readSpan(last, today)?.to;
  if (from === undefined || to === undefined) return undefined;
  // "october to december": a month alone is the latest that has begun.
  const isNextYear = to < from && !/\d{4}/.test(last);
  const end = isNextYear ? `${Number(to.slice(0, 4)) + 1}${to.slice(4)}` : to;
  return from > end ? undefined : { from, to: end };
}

/** Spans of one name, each with what its words mean. */
const SPANS: ReadonlyArray<
  readonly [RegExp, (parts: readonly string[], today: CalendarDay) => Period | undefined]
> = [
  [/^today$/, (_, today) => span(today, today)],
  [/^yesterday$/, (_, today) => span(addDays(today, -1), addDays(today, -1))],
  [/^(\d{4})-(\d{2})-(\d{2})$/, ([year, month, day]) => readDay(Number(year), Number(month), Number(day))],
  [/^(\d{4})[-/](\d{1,2})$/, ([year, month]) => readMonth(Number(year), Number(month))],
  [/^(\d{1,2})[-/](\d{4})$/, ([month, year]) => readMonth(Number(year), Number(month))],
  [/^(\d{4})$/, ([year]) => readYear(Number(year))],
  [/^(?:year to date|ytd)$/, (_, today) => span({ ...today, month: 1, day: 1 }, today)],
  [/^(?:quarter to date|qtd)$/, (_, today) => span(findBegin('quarter', today), today)],
  [/^(?:month to date|mtd)$/, (_, today) => span({ ...today, day: 1 }, today)],
  [
    /^(?:(?:this|current) )?(week|month|quarter|half|year)$/,
    ([unit], today) => unitAt(unit as Unit, today, 0),
  ],
  [
    /^(?:last|previous|prev|past) (week|month|quarter|half|year)$/,
    ([unit], today) => unitAt(unit as Unit, today, -1),
  ],
  [/^(?:last|previous|prev|past) (\d{1,3}) (week|month|quarter|half|year)s?$/, readLatest],
  [
    /^(?:(?:last|previous|prev|past) )?(\d{1,3}) ?(?:d|days?)$/,
    ([days], today) => span(addDays(today, 1 - Number(days)), today),
  ],
  [/^(\d{4})[ /-]?([qh])([1-4])$/, ([year, unit, number]) => readPart(unit, Number(number), Number(year))],
  [
    /^([qh])([1-4])(?:[ /-]?(\d{4}))?$/,
    ([unit, number, year], today) => latestPart(unit, Number(number), year, today),
  ],
  [/^([a-z]{3,9})\.?(?:[ /-]?(\d{4}))?$/, ([name = '', year], today) => latestMonth(name, year, today)],
  [/^(\d{4})[ /-]?([a-z]{3,9})\.?$/, ([year, name = ''], today) => latestMonth(name, year, today)],
];

function readSpan(text: string, today: CalendarDay): Period | undefined {
  for (const [pattern, read] of SPANS) {
    const match = pattern.exec(text);
    if (match !== null) return read(match.slice(1), today);
  }
  return undefined;
}

type Unit = 'week' | 'month' | 'quarter' | 'half' | 'year';
const MONTHS_IN: Readonly<Record<Exclude<Unit, 'week'>, number>> = {
  month: 1,
  quarter: 3,
  half: 6,
  year: 12,
};

function findBegin(unit: Unit, day: CalendarDay): CalendarDay {
  if (unit === 'week') return addDays(day, -((new Date(write(day)).getUTCDay() + 6) % 7));
  const months = MONTHS_IN[unit];
  return { ...day, month: Math.floor((day.month - 1) / months) * months + 1, day: 1 };
}

/** @param count 0 for the present one, -1 for the last */
function unitAt(unit: Unit, today: CalendarDay, count: number): Period {
  const begin = findBegin(unit, today);
  if (unit === 'week') return span(addDays(begin, 7 * count), addDays(begin, 7 * count + 6));
  const months = MONTHS_IN[unit];
  return span(addMonths(begin, months * count), addDays(addMonths(begin, months * (count + 1)), -1));
}

/** The last whole months, or other units, before the present one. */
function readLatest([count, unit]: readonly string[], today: CalendarDay): Period {
  const first = unitAt(unit as Unit, today, -Number(count));
  return { from: first.from, to: unitAt(unit as Unit, today, -1).to };
}

function latestMonth(name: string, year: string | undefined, today: CalendarDay): Period | undefined {
  const month =
    MONTHS.findIndex((one) => one.startsWith(name) || (one === 'september' && name === 'sept')) + 1;
  if (month === 0) return undefined;
  if (year !== undefined) return readMonth(Number(year), month);
  return readMonth(month > today.month ? today.year - 1 : today.year, month);
}

function latestPart(
  unit: string | undefined,
  number: number,
  year: string | undefined,
  today: CalendarDay,
): Period | undefined {
  const part = readPart(unit, number, year === undefined ? today.year : Number(year));
  return part && year === undefined && part.from > write(today)
    ? readPart(unit, number, today.year - 1)
    : part;
}

/** A quarter (`q`) or half (`h`) of a year. */
function readPart(unit: string | undefined, number: number, year: number): Period | undefined {
  const months = unit === 'q' ? 3 : 6;
  if (number * months > 12) return undefined;
  const begin = { year, month: (number - 1) * months + 1, day: 1 };
  return span(begin, addDays(addMonths(begin, months), -1));
}

function readMonth(year: number, month: number): Period | undefined {
  if (month < 1 || month > 12) return undefined;
  const begin = { year, month, day: 1 };
  return span(begin, addDays(addMonths(begin, 1), -1));
}

function readYear(year: number): Period | undefined {
  if (year < 1990 || year > 2100) return undefined;
  return span({ year, month: 1, day: 1 }, { year, month: 12, day: 31 });
}

function readDay(year: number, month: number, day: number): Period | undefined {
  const date = { year, month, day };
  return write(addDays(date, 0)) === write(date) ? span(date, date) : undefined;
}

function addMonths({ year, month, day }: CalendarDay, months: number): CalendarDay {
  const at = year * 12 + month - 1 + months;
  return { year: Math.floor(at / 12), month: (at % 12) + 1, day };
}

function span(from: CalendarDay, to: CalendarDay): Period {
  return { from: write(from), to: write(to) };
}

function write({ year, month, day }: CalendarDay): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
}
