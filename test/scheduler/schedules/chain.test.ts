import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Engine, WorkspaceJobs } from '../../../src/jobs/jobs.ts';
import { openBackend } from '../../../src/open.ts';
import { type Chain, continueChain, startChain } from '../../../src/scheduler/schedules/chain.ts';
import { ONCE } from '../../jobs/fixtures.ts';
import { byLength } from '../../support/length.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { temporarySqlite } from '../../support/temporary.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Where these zones change their clocks; the long form takes all that lies between too. */
const PERIODS = byLength(
  [
    { from: '2026-03-06', days: 4 },
    { from: '2026-03-20', days: 18 },
    { from: '2026-09-04', days: 4 },
    { from: '2026-10-02', days: 4 },
    { from: '2026-10-23', days: 11 },
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

/** The occurrences by looking at the wall clock every quarter of an hour: the first time it shows the hour or more. */
function expectedTimes(start: number, end: number, { zone, hour, minute }: Daily): number[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const asked = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
  const times = new Map<string, number>();
  const isSeenWhole = new Set<string>();
  for (let at = start; at <= end; at += 15 * MINUTE) {
    const [date = '', time = ''] = format.format(at).split(' ');
    if (time < asked) isSeenWhole.add(date);
    const isFirst = !times.has(date) && time >= asked;
    // The day of the start may have had its own before.
    if (isFirst && (isSeenWhole.has(date) || at > start + DAY || time === asked)) times.set(date, at);
  }
  return [...times.values()];
}

const title =
  'over $days days in 6 zones from $from, with restarts, every occurrence comes once, in order, at its local time';

test.each(PERIODS)(title, async ({ from, days }) => {
  const start = Date.parse(`${from}T12:00Z`);
  const end = start + days * DAY;
  const url = await temporarySqlite();
  const clock = createManualClock(start);
  const done = new Map<string, number[]>();
  const early: number[] = [];

  async function live(ms: number, isFirst: boolean): Promise<void> {
    const { engine, close } = await openBackend(url, { clock });
    const workspace = { clock, jobs: jobsOf(engine) };
    engine.work(OCCURRENCE, {
      options: ONCE,
      async run(_, { data: { id, scheduledAt }, attempt }) {
        const doneAt = done.get(id)?.at(-1);
        if (!(await continueChain(workspace, chainOf(id), { scheduledAt, attempt, doneAt }))) return;
        done.set(id, [...(done.get(id) ?? []), scheduledAt]);
        if (scheduledAt > clock.now()) early.push(scheduledAt);
      },
    });
    await engine.start();
    // Again and again, as each start does.
    const began = isFirst ? clock.now() : start;
    for (const { zone } of ZONES) await startChain(workspace, chainOf(zone), done.get(zone)?.at(-1) ?? began);
    await clock.advance(ms);
    await engine.stop(0);
    await close();
  }

  await live((days / 7) * DAY, true);
  while (clock.now() < end) {
    await clock.advance(9 * HOUR); // down, but less than the 12 hours within which occurrences are caught up with
    await live(Math.min((days / 8) * DAY, end - clock.now()), false);
  }

  expect(early).toEqual([]);
  for (const daily of ZONES)
    expect([daily.zone, done.get(daily.zone)]).toEqual([daily.zone, expectedTimes(start, end, daily)]);
});

const OCCURRENCE = { queue: 'q', schema: z.object({ id: z.string(), scheduledAt: z.number() }) };
type Occurrence = z.infer<typeof OCCURRENCE.schema>;

/** @param zone of a daily schedule, or a cron expression in UTC */
function chainOf(zone: string): Chain<Occurrence> {
  const daily = ZONES.find((one) => one.zone === zone);
  const when =
    daily === undefined ? { cron: zone, zone: 'UTC' } : { cron: `${daily.minute} ${daily.hour} * * *`, zone };
  return { id: zone, ...when, job: OCCURRENCE, dataAt: (scheduledAt) => ({ id: zone, scheduledAt }) };
}

function jobsOf(engine: Engine): WorkspaceJobs {
  return { send: (job, data, options) => engine.send('T1', job, data, options) };
}

/** An engine that stops with the test, and the occurrences that it has done. */
async function living(start: string) {
  const clock = createManualClock(start);
  const { engine, close } = await openBackend(await temporarySqlite(), { clock });
  onTestFinished(async () => {
    await engine.stop(0);
    await close();
  });
  const workspace = { clock, jobs: jobsOf(engine) };
  const done: string[] = [];
  engine.work(OCCURRENCE, {
    options: { ...ONCE, attempts: 5 },
    async run(_, { data: { id, scheduledAt }, attempt }) {
      if (!(await continueChain(workspace, chainOf(id), { scheduledAt, attempt, doneAt: undefined }))) return;
      done.push(new Date(scheduledAt).toISOString().slice(11, 16));
      if (done.length === 1 && attempt < 3) throw new Error('again');
    },
  });
  return { clock, engine, workspace, done };
}

test('of the occurrences that were missed, the last one is done, and none that is older than 12 hours', async () => {
  const { clock, engine, workspace, done } = await living('2026-03-02T09:02:00Z');
  await startChain(workspace, chainOf('0 * * * *'), clock.now());
  await clock.advance(5 * HOUR);
  await engine.start();
  while (done.length < 2) {
    await new Promise(setImmediate);
    await clock.advance(1_000);
  }
  expect(new Set(done)).toEqual(new Set(['14:00']));

  await startChain(workspace, chainOf('30 9 1 * *'), Date.parse('2026-02-01T09:30:00Z'));
  await clock.advance(HOUR);
  expect(done).not.toContain('09:30');
});

test('an occurrence that fails is tried again as itself, also while the next one is due, and has one next', async () => {
  const { clock, engine, workspace, done } = await living('2026-03-02T09:02:00Z');
  await engine.start();
  await startChain(workspace, chainOf('*/5 * * * *'), clock.now());
  await clock.advance(14 * MINUTE);
  expect(done.filter((time) => time === '09:05').length).toBeGreaterThan(1);
  expect(new Set(done)).toEqual(new Set(['09:05', '09:10', '09:15']));
  expect(done.filter((time) => time === '09:15')).toHaveLength(1);
});

test('an occurrence is left out where it has been done, or the schedule has other times by now', async () => {
  const { clock, workspace } = await living('2026-03-02T09:05:01Z');
  const at = Date.parse('2026-03-02T09:05:00Z');
  const link = { scheduledAt: at, attempt: 1, doneAt: undefined };
  expect(await continueChain(workspace, chainOf('*/5 * * * *'), { ...link, doneAt: at })).toBe(false);
  expect(await continueChain(workspace, chainOf('0 * * * *'), link)).toBe(false);
  expect(await continueChain(workspace, chainOf('*/5 * * * *'), link)).toBe(true);
  expect(clock.now()).toBe(at + 1_000);
});
