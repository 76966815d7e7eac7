import { describe, expect, it } from 'vitest';
import { scaleTables, WORKS } from '../../bench/scale.ts';
import {
  capacityOf,
  carries,
  queueWait,
  sharesOf,
  simulate,
  type Work,
} from '../../bench/support/scale-model.ts';
import { readText } from '../support/deployment-files.ts';

const ONE = { replicas: 1, postgresCores: 2 };
const { thread } = capacityOf(ONE);
const costOf = (wanted: string) => WORKS.find(({ name }) => name === wanted)?.cost ?? {};
const work = (when: Work['when'], ms: number): Work => ({
  name: 'work',
  perDay: 1,
  when,
  cost: { thread: ms },
});

describe('the model of docs/scale.md', () => {
  it.each(['office hours', 'all day', 'on the hour'] as const)('spreads a whole day over %s', (when) => {
    const shares = sharesOf(when);
    expect(shares).toHaveLength(1440);
    expect(shares.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1);
  });

  it('is half busy with half of what fits, and nothing is late', () => {
    const { busiest, latest } = simulate(1440, ONE, [work('all day', thread / 2)]);
    expect(busiest.thread).toBeCloseTo(0.5);
    expect(latest.work).toBeCloseTo(0.5);
  });

  it('needs two and a half minutes for two and a half minutes of work that fall due at once', () => {
    const workspaces = 1000;
    const atOnce = workspaces * Math.max(...sharesOf('on the hour'));
    const { latest } = simulate(workspaces, ONE, [work('on the hour', (2.5 * thread) / atOnce)]);
    expect(latest.work).toBeCloseTo(2.5);
  });

  it('falls behind for good with twice as much as fits', () => {
    const { latest } = simulate(1440, ONE, [work('all day', 2 * thread)]);
    expect(latest.work).toBeGreaterThan(1000);
  });

  it('serves people before what can wait', () => {
    const command = { ...work('all day', thread / 2), name: 'command' };
    const { latest } = simulate(1440, ONE, [command, work('all day', thread)]);
    expect(latest.command).toBeLessThan(1);
    expect(latest.work).toBeGreaterThan(100);
  });

  it('lets a command wait as the theory has it for one server', () => {
    expect([queueWait(0, 10), queueWait(0.5, 10), queueWait(0.8, 10)].map(Math.round)).toEqual([0, 10, 40]);
  });

  it('is held to what docs/benchmarks.md measured: never faster, and at most 40 % slower', () => {
    const dueAtOnce = (amount: number, cost: Work['cost']) => {
      const workspaces = amount / Math.max(...sharesOf('on the hour'));
      return 60 * (simulate(workspaces, ONE, [{ ...work('on the hour', 0), cost }]).latest.work ?? 0);
    };
    const { thread: digestMs = 0, drawing = 0 } = costOf('digest');
    const { thread: runMs = 0 } = costOf('run');
    const computed = [
      dueAtOnce(10_000, { thread: digestMs, drawing }) / 54,
      dueAtOnce(10_000, { thread: digestMs }) / 44,
      // The looks of a minute, of which a run of three has three times as many.
      dueAtOnce(10_000, { thread: runMs / 3 }) / 60 / 1.06,
    ];
    for (const ratio of computed) expect(ratio).toBeGreaterThan(1);
    for (const ratio of computed) expect(ratio).toBeLessThan(1.4);
    expect(dueAtOnce(4_000, { thread: runMs / 3 })).toBeLessThan(60);
  });

  it('carries more with more replicas, and is never sooner done with more workspaces', () => {
    const limits = { digest: 15, 'watch poll': 2 };
    const most = [1, 2, 3].map((replicas) => carries({ replicas, postgresCores: 16 }, WORKS, limits));
    expect(most).toEqual(most.toSorted((a, b) => a - b));
    expect(most[2]).toBeGreaterThan(2 * (most[0] ?? 0));
    const late = [10_000, 20_000, 40_000].map((amount) => simulate(amount, ONE, WORKS).latest.digest ?? 0);
    expect(late).toEqual(late.toSorted((a, b) => a - b));
  });

  it('is what the page quotes', () => {
    for (const table of scaleTables()) expect(readText('docs/scale.md')).toContain(table);
  });
});
