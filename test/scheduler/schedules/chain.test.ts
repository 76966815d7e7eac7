import { expect, onTestFinished, test } from 'vitest';
import { nextOccurrence } from '../../../src/core/time/cron.ts';
import type { Engine, WorkspaceJobs } from '../../../src/jobs/jobs.ts';
import { openBackend } from '../../../src/open.ts';
import {
  type Chain,
  continueChain,
  Occurrence,
  startChain,
} from '../../../src/scheduler/schedules/occurrences.ts';
import { ONCE } from '../../jobs/fixtures.ts';
import { byLength } from '../../support/length.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { temporarySqlite } from '../../support/temporary.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Over a change of the clocks in each of these zones; which times that means is shown by `core/cron.test.ts`. */
const START = Date.parse('2026-03-05T12:00Z');
const DAYS = byLength(32, 400);

const ZONES: Readonly<Record<string, string>> = {
  'Europe/Lisbon': '30 1 * * *',
  'America/New_York': '30 2 * * *',
  'Australia/Lord_Howe': '15 2 * * *',
};

test('with restarts, every occurrence comes once, in order, at its local time', async () => {
  const end = START + DAYS * DAY;
  const url = await temporarySqlite();
  const clock = createManualClock(START);
  const done = new Map<string, number[]>();
  const early: number[] = [];

  async function live(ms: number, isFirst: boolean): Promise<void> {
    const { engine, close } = await openBackend(url, { clock });
    const workspace = { clock, jobs: jobsOf(engine) };
    engine.work(OCCURRENCE, {
      options: ONCE,
      async handle(_, { data: { id, scheduledAt }, attempt }) {
        const doneAt = done.get(id)?.at(-1);
        if (!(await continueChain(workspace, chainOf(id), { scheduledAt, attempt, doneAt }))) return;
        done.set(id, [...(done.get(id) ?? []), scheduledAt]);
        if (scheduledAt > clock.now()) early.push(scheduledAt);
      },
    });
    await engine.start();
    // Again and again, as each start does.
    const began = isFirst ? clock.now() : START;
    for (const zone of Object.keys(ZONES))
      await startChain(workspace, chainOf(zone), done.get(zone)?.at(-1) ?? began);
    await clock.advance(ms);
    await engine.stop(0);
    await close();
  }

  await live((DAYS / 7) * DAY, true);
  while (clock.now() < end) {
    await clock.advance(9 * HOUR); // down, but less than the 12 hours within which occurrences are caught up with
    await live(Math.min((DAYS / 8) * DAY, end - clock.now()), false);
  }

  expect(early).toEqual([]);
  for (const [zone, cron] of Object.entries(ZONES)) {
    const expected: number[] = [];
    for (let at = nextOccurrence(cron, zone, START); at <= end; at = nextOccurrence(cron, zone, at))
      expected.push(at);
    expect([zone, done.get(zone)]).toEqual([zone, expected]);
  }
});

const OCCURRENCE = { queue: 'q', schema: Occurrence };

/** @param id zone of a daily schedule, or a cron expression in UTC */
function chainOf(id: string): Chain {
  const when = { cron: ZONES[id] ?? id, zone: id in ZONES ? id : 'UTC' };
  return { queue: OCCURRENCE.queue, id, ...when };
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
    async handle(_, { data: { id, scheduledAt }, attempt }) {
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
