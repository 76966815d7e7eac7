import { expect, test } from 'vitest';
import { openBackend } from '../../src/open-backend.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { ONCE, type TestData } from './fixtures.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAYS = 400;
const START = Date.parse('2026-01-15T12:00Z');
const END = START + DAYS * 24 * HOUR;

/**
 * Lord Howe moves by half an hour; Casablanca twice around Ramadan; Santiago skips midnight. The times are those
 * that a change of the clocks skips or doubles.
 */
const ZONES: ReadonlyArray<{ zone: string; hour: number; minute: number }> = [
  { zone: 'Europe/Lisbon', hour: 1, minute: 30 },
  { zone: 'America/New_York', hour: 2, minute: 30 },
  { zone: 'Australia/Lord_Howe', hour: 2, minute: 15 },
  { zone: 'Africa/Casablanca', hour: 2, minute: 45 },
  { zone: 'America/Santiago', hour: 0, minute: 0 },
  { zone: 'Asia/Kathmandu', hour: 9, minute: 0 },
];

/** The slots by looking at the wall clock every quarter of an hour: the first time it shows the hour or more. */
function expectedSlots(zone: string, hour: number, minute: number): number[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const asked = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
  const slots = new Map<string, number>();
  const isSeenWhole = new Set<string>();
  for (let at = START; at <= END; at += 15 * MINUTE) {
    const [date = '', time = ''] = format.format(at).split(' ');
    if (time < asked) isSeenWhole.add(date);
    const isFirst = !slots.has(date) && time >= asked;
    // The day of the start may have had its slot before.
    if (isFirst && (isSeenWhole.has(date) || at > START + 24 * HOUR || time === asked)) slots.set(date, at);
  }
  return [...slots.values()];
}

test('over 400 days in 6 zones, with restarts, every slot comes once, in order, at its local time', async () => {
  const url = await temporarySqlite();
  const clock = createManualClock(START);
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

  await live(60 * 24 * HOUR, true);
  while (clock.now() < END) {
    await clock.advance(9 * HOUR); // down, but less than the 12 hours within which slots are caught up on
    await live(Math.min(50 * 24 * HOUR, END - clock.now()), false);
  }

  expect(early).toEqual([]);
  for (const [n, { zone, hour, minute }] of ZONES.entries())
    expect([zone, sent.get(n)]).toEqual([zone, expectedSlots(zone, hour, minute)]);
}, 120_000);
