import { describe, expect, test } from 'vitest';
import { CronError } from '../../src/jobs/cron.ts';
import type { Engine, Schedule } from '../../src/jobs/jobs.ts';
import { collect, ENGINES, type Handled, ONCE, type Site, started } from './fixtures.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

function every(cron: string, n = 1, zone = 'UTC'): Schedule {
  return { cron, zone, queue: 'q', data: { workspace: 'T1', n } };
}

function slotsOf(handled: Handled): string[] {
  return handled.jobs.map(({ data }) => new Date(data.slotAt ?? 0).toISOString().slice(0, 16));
}

function working(handled: Handled): (engine: Engine) => void {
  return (engine) => engine.work('q', handled.handler, ONCE);
}

/** Lets time pass in small steps, so that what becomes due is also done. */
async function pass(site: Site, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10 * SECOND)
    await site.advance(Math.min(10 * SECOND, ms - passed));
}

describe.each(ENGINES)('schedules of the $name engine', ({ site: open }) => {
  test('send a job with the slot at each slot, never early', async () => {
    const site = await open('2026-03-02T08:59:50Z');
    const lateness: number[] = [];
    const handled = collect(async ({ data }) => void lateness.push(site.now() - (data.slotAt ?? 0)));
    const { engine } = await started(site, working(handled));
    await engine.schedule('T1', 'k', every('* * * * *', 7));
    await pass(site, 80 * SECOND);
    await handled.given(2);

    expect(handled.jobs[0]?.data).toEqual({ workspace: 'T1', n: 7, slotAt: Date.parse('2026-03-02T09:00Z') });
    expect(slotsOf(handled)).toEqual(['2026-03-02T09:00', '2026-03-02T09:01']);
    expect(Math.min(...lateness)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lateness)).toBeLessThan(10 * SECOND);
  });

  test('end when they are taken away, and change when they are replaced', async () => {
    const site = await open('2026-03-02T08:59:50Z');
    const handled = collect();
    const { engine } = await started(site, working(handled));
    await engine.schedule('T1', 'gone', every('* * * * *', 1));
    await engine.schedule('T1', 'new time', every('0 9 * * *', 2));
    await engine.schedule('T1', 'new data', every('0 9 * * *', 3));
    await engine.schedule('T2', 'gone', { ...every('0 9 * * *', 4), data: { workspace: 'T2', n: 4 } });

    await engine.unschedule('T1', 'gone');
    await engine.unschedule('T1', 'never there');
    await engine.schedule('T1', 'new time', every('1 9 * * *', 20));
    await engine.schedule('T1', 'new data', every('0 9 * * *', 30));
    await pass(site, 20 * SECOND);
    await handled.given(2);
    expect(handled.jobs.map(({ data }) => data.n).sort()).toEqual([30, 4]);
    await pass(site, MINUTE);
    await handled.given(3);
    expect(handled.jobs[2]?.data).toEqual({
      workspace: 'T1',
      n: 20,
      slotAt: Date.parse('2026-03-02T09:01Z'),
    });
  });

  test('catch up on the last slot that was missed while everything was down, once', async () => {
    const site = await open('2026-03-02T08:30:00Z');
    const before = await started(site, working(collect()));
    await before.engine.schedule('T1', 'hourly', every('0 * * * *', 1));
    await before.engine.schedule('T1', 'daily', every('0 9 * * *', 2));
    await before.kill();
    await site.advance(11 * HOUR + 29 * MINUTE + 30 * SECOND);

    const handled = collect();
    const { engine } = await started(site, working(handled));
    // As every start does.
    await engine.schedule('T1', 'hourly', every('0 * * * *', 1));
    await handled.given(2);
    await site.advance(10 * SECOND);

    const sent = handled.jobs.map(({ data }) => [
      data.n,
      new Date(data.slotAt ?? 0).toISOString().slice(11, 16),
    ]);
    expect(sent.sort()).toEqual([
      [1, '19:00'],
      [2, '09:00'],
    ]);
    await site.advance(30 * SECOND);
    await handled.given(3);
    expect(slotsOf(handled)[2]).toBe('2026-03-02T20:00');
  });

  test('send no slot again after a restart', async () => {
    const site = await open('2026-03-02T08:59:50Z');
    const handled = collect();
    const before = await started(site, working(handled));
    await before.engine.schedule('T1', 'k', every('0 9 * * *'));
    await pass(site, 20 * SECOND);
    await handled.given(1);
    await before.kill();

    const later = collect();
    const { engine } = await started(site, working(later));
    await engine.schedule('T1', 'k', every('0 9 * * *'));
    await pass(site, 20 * SECOND);

    expect(later.jobs).toEqual([]);
  });

  test('leave out a missed slot of 12 hours or more', async () => {
    const site = await open('2026-03-02T08:59:00Z');
    const before = await started(site, working(collect()));
    await before.engine.schedule('T1', 'old', every('0 9 * * *', 1));
    await before.engine.schedule('T1', 'young', every('1 9 * * *', 2));
    await before.kill();
    await site.advance(12 * HOUR + MINUTE);

    const handled = collect();
    await started(site, working(handled));
    await handled.given(1);
    await pass(site, 20 * SECOND);

    expect(handled.jobs.map(({ data }) => data.n)).toEqual([2]);
  });

  test('begin now, not before, also when they come back', async () => {
    const site = await open('2026-03-02T09:30:00Z');
    const handled = collect();
    const { engine } = await started(site, working(handled));
    await engine.schedule('T1', 'k', every('0 9 * * *'));
    await engine.unschedule('T1', 'k');
    await engine.schedule('T1', 'k', every('0 9 * * *'));
    await pass(site, 20 * SECOND);

    expect(handled.jobs).toEqual([]);
  });

  test('repeat no slot when the clock is put back, and catch the last one when it is put forward', async () => {
    const site = await open('2026-03-02T08:59:50Z');
    const handled = collect();
    const { engine } = await started(site, working(handled));
    await engine.schedule('T1', 'k', every('*/30 * * * *'));
    await pass(site, 20 * SECOND);
    await handled.given(1);

    await site.jump(-30 * SECOND);
    await pass(site, 50 * SECOND);
    expect(slotsOf(handled)).toEqual(['2026-03-02T09:00']);

    await site.jump(5 * HOUR);
    await pass(site, MINUTE);
    await handled.given(2);
    expect(slotsOf(handled)).toEqual(['2026-03-02T09:00', '2026-03-02T14:00']);
  });

  test('send a slot at a skipped local time right after the gap', async () => {
    const site = await open('2026-03-29T00:59:50Z');
    const handled = collect();
    const { engine } = await started(site, working(handled));
    await engine.schedule('T1', 'k', every('30 1 * * *', 1, 'Europe/Lisbon'));
    await pass(site, 20 * SECOND);
    await handled.given(1);

    expect(slotsOf(handled)).toEqual(['2026-03-29T01:00']);
  });

  test('refuse a wrong expression or zone, and keep what stood', async () => {
    const site = await open('2026-03-02T08:59:50Z');
    const handled = collect();
    const { engine } = await started(site, working(handled));
    await engine.schedule('T1', 'k', every('0 9 * * *'));

    await expect(engine.schedule('T1', 'k', every('0 9 * *'))).rejects.toThrow(CronError);
    await expect(engine.schedule('T1', 'k', every('0 9 * * *', 1, 'Mars/Base'))).rejects.toThrow(CronError);
    await pass(site, 20 * SECOND);
    await handled.given(1);
  });
});

describe.each(ENGINES.filter(({ replicas }) => replicas))(
  'replicas of the $name engine',
  ({ site: open }) => {
    test('send each slot once between replicas, also when one dies', async () => {
      const site = await open('2026-03-02T08:59:50Z');
      const handled = collect();
      const replicaA = await started(site, working(handled));
      await started(site, working(handled));
      await started(site, working(handled));
      for (let n = 1; n <= 20; n += 1) await replicaA.engine.schedule('T1', `k${n}`, every('* * * * *', n));
      await pass(site, 20 * SECOND);
      await handled.given(20);
      await replicaA.kill();
      await site.jump(40 * SECOND);
      await pass(site, 20 * SECOND);
      await handled.given(40);

      const sent = handled.jobs.map(({ data }) => `${data.n} ${data.slotAt}`);
      expect(new Set(sent).size).toBe(40);
      expect(sent).toHaveLength(40);
    });
  },
);
