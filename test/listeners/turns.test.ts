import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTurns, type Turns } from '../../src/listeners/background-work.ts';

/** Each work that begins takes 3 ms of the clock. */
function counted(): {
  turns: Turns;
  begun: string[];
  take: (key: string, times: number, isAwaited?: boolean) => void;
  /** What began before goes on for so many milliseconds. */
  goOn: (ms: number) => void;
  /** How often the time was looked at, as each attempt to begin something does. */
  looks: () => number;
} {
  let now = 0;
  let looks = 0;
  const turns = createTurns(() => {
    looks += 1;
    return now;
  });
  const begun: string[] = [];
  const take = (key: string, times: number, isAwaited = true): void => {
    for (let at = 0; at < times; at += 1)
      void turns.run(key, isAwaited, async () => {
        now += 3;
        begun.push(isAwaited ? key : `${key} by itself`);
      });
  };
  const goOn = (ms: number): void => {
    now += ms;
  };
  return { turns, begun, take, goOn, looks: () => looks };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('work that waits for its turn', () => {
  it('begins in portions of some milliseconds, with what came in read in between', async () => {
    const { begun, take } = counted();
    take('T1', 9);
    expect(begun).toEqual([]);
    await nextTurn();
    await nextTurn();
    expect(begun.length).toBeGreaterThan(0);
    expect(begun.length).toBeLessThan(9);
    while (begun.length < 9) await nextTurn();
  });

  it('begins one at a time while a request waits for its ack, and never stands still', async () => {
    const { turns, begun, take } = counted();
    const acknowledged = turns.arrive();
    take('T1', 6);
    for (let before = 0; begun.length < 3; before = begun.length) {
      await nextTurn();
      expect(begun.length - before).toBeLessThanOrEqual(1);
    }
    acknowledged();
    acknowledged();
    while (begun.length < 6) await nextTurn();
  });

  it('begins in one turn of four where what began before fills them', async () => {
    const { begun, take, goOn } = counted();
    take('T1', 40);
    for (let turn = 0; turn < 20; turn += 1) {
      await nextTurn();
      goOn(20);
    }
    expect(begun.length).toBeGreaterThan(4);
    expect(begun.length).toBeLessThan(9);
    while (begun.length < 40) await nextTurn();
  });

  it('takes turns between workspaces, so that one with much work delays no other', async () => {
    const { begun, take } = counted();
    take('T1', 100);
    take('T2', 2);
    while (begun.filter((key) => key === 'T2').length < 2) await nextTurn();
    expect(begun.length).toBeLessThan(8);
  });

  it('begins what a person waits for first, and yet lets the rest have a turn in ten', async () => {
    const { begun, take } = counted();
    take('T1', 3, false);
    take('T1', 30);
    while (begun.length < 33) await nextTurn();
    const byItself = [...begun.entries()].flatMap(([at, key]) => (key === 'T1 by itself' ? [at] : []));
    expect(byItself).toEqual([9, 19, 29]);
  });

  it('begins little of what runs by itself while a person’s work goes on, but for other workspaces', async () => {
    const { turns, begun, take } = counted();
    const answered = Promise.withResolvers<void>();
    const awaited = turns.run('T1', true, () => answered.promise);
    await nextTurn();
    await nextTurn();
    take('T1', 9, false);
    take('T2', 9, false);
    while (begun.length < 9) await nextTurn();
    expect(begun.filter((key) => key.startsWith('T1')).length).toBeLessThanOrEqual(1);
    answered.resolve();
    await awaited;
    while (begun.length < 18) await nextTurn();
  });

  it('begins what runs by itself now and then, however long a person’s work goes on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { turns, begun, take, goOn, looks } = counted();
    void turns.run('T1', true, () => new Promise(() => undefined));
    await nextTurn();
    take('T1', 3, false);
    for (let passed = 0; passed < 3; passed += 1) await nextTurn();
    const before = looks();
    for (let passed = 0; passed < 10; passed += 1) await nextTurn();
    expect(begun).toEqual([]);
    expect(looks(), 'nothing is tried again in the meantime').toBe(before);
    while (begun.length < 3) {
      goOn(50);
      vi.advanceTimersByTime(50);
      await nextTurn();
    }
  });
});
