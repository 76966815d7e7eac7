import { expect, test } from 'vitest';
import { openBackend } from '../../src/open.ts';
import { byLength } from '../support/length.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { ONCE, type TestData } from './fixtures.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Where these zones change their clocks; the long form takes all that lies between too. */
const PERIODS = byLength(
  [
    { from: '2026-03-05', days: 10 },
    { from: '2026-03-19', days: 20 },
    { from: '2026-09-02', days: 10 },
    { from: '2026-10-01', days: 10 },
    { from: '2026-10-22', days: 14 },
  ],
  [{ from: '2026-01-15', days: 400 }],
);

interface Daily {
  zone: string;
  hour: number;
  minute: number;
}

/**
 * Lord Howe moves by half an hour; Casablanca twice around Ramadan; Santiago skips midnight. The times are those
 * that a change of the clocks skips or doubles.
 */
const ZONES: readonly Daily[] = [
  { zone: 'Europe/Lisbon', hour: 1, minute: 30 },
  { zone: 'America/New_York', hour: 2, minute: 30 },
  { zone: 'Australia/Lord_Howe', hour: 2, minute: 15 },
  { zone: 'Africa/Casablanca', hour: 2, minute: 45 },
  { zone: 'America/Santiago', hour: 0, minute: 0 },
  { zone: 'Asia/Kathmandu', hour: 9, minute: 0 },
];

/** The slots by looking at the wall clock every quarter of an hour: the first time it shows the hour or more. */
function expectedSlots(start: number, end: number, { zone, hour, minute }: Daily): number[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const asked = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
  const slots = new Map<string, number>();
  const isSeenWhole = new Set<string>();
  for (let at = start; at <= end; at += 15 * MINUTE) {
    const [date = '', time = ''] = format.format(at).split(' ');
    if (time < asked) isSeenWhole.add(date);
    const isFirst = !slots.has(date) && time >= asked;
    // The day of the start may have had its slot before.
    if (isFirst && (isSeenWhole.has(date) || at > start + DAY || time === asked)) slots.set(date, at);
  }
  return [...slots.values()];
}

const title =
  'over $days days in 6 zones from $from, with restarts, every slot comes once, in order, at its local time';

test.each(PERIODS)(title, async ({ from, days }) => {
  const start = Date.parse(`${from}T12:00Z`);
  const end = start + days * DAY;
  const url = await temporarySqlite();
  const clock = createManualClock(start);
  const sent = new Map<number, number[]>();
  const early: number[] = [];

  async function live(ms: number, isFirst: boolean): Promise<void> {
    const { engine, close } = await openBackend(url, { clock });
    engine.work<TestData>(
      'q',
      async ({ data }) => {
        const slotAt = data.slotAt ?? 0;
        sent.set(data.n, [...(sent.get(data.n) ?? []), slotAt]);
        if (slotAt > clock.now()) early.push(slotAt);
      },
      ONCE,
    );
    await engine.start();
    for (const [n, { zone, hour, minute }] of ZONES.entries()) {
      if (!isFirst) break;
      const data = { workspace: 'T1', n };
      await engine.schedule('T1', zone, { cron: `${minute} ${hour} * * *`, zone, queue: 'q', data });
    }
    await clock.advance(ms);
    await engine.stop(0);
    await close();
  }

  await live((days / 7) * DAY, true);
  while (clock.now() < end) {
    await clock.advance(9 * HOUR); // down, but less than the 12 hours within which slots are caught up on
    await live(Math.min((days / 8) * DAY, end - clock.now()), false);
  }

  expect(early).toEqual([]);
  for (const [n, daily] of ZONES.entries())
    expect([daily.zone, sent.get(n)]).toEqual([daily.zone, expectedSlots(start, end, daily)]);
});
