import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createClock } from '../../service/clock.ts';

test('work runs in the order of its time, each at its own time', () => {
  const clock = createClock({ now: () => 1_000, speed: 0 });
  const done: [string, number][] = [];
  const note = (name: string) => () => done.push([name, clock.now()]);
  clock.at(1_300, note('late'));
  clock.after(100, note('early'));
  clock.after(100, note('early too'));
  clock.after(200, () => clock.after(50, note('chained')));
  clock.advance(249);
  expect(done.flat()).toEqual(['early', 1_100, 'early too', 1_100]);
  clock.advance(1_000);
  expect(done.slice(2).flat()).toEqual(['chained', 1_250, 'late', 1_300]);
  expect(clock.now()).toBe(2_249);
});

test('planned work can be taken back, one or all', () => {
  const clock = createClock({ speed: 0 });
  const done: string[] = [];
  const cancel = clock.after(1, () => done.push('cancelled'));
  clock.after(1, () => done.push('kept'));
  cancel();
  clock.advance(1);
  clock.after(1, () => done.push('cleared'));
  clock.clear();
  clock.advance(1);
  expect(done).toEqual(['kept']);
});

test('time underneath passes as many times faster as told, and a tick does what is due', () => {
  let real = 0;
  const clock = createClock({ now: () => real, speed: 10 });
  const done: number[] = [];
  clock.after(500, () => done.push(clock.now()));
  real = 49;
  clock.tick();
  expect({ now: clock.now(), done }).toEqual({ now: 490, done: [] });
  real = 60;
  clock.tick();
  expect({ now: clock.now(), done }).toEqual({ now: 600, done: [500] });
  clock.clear();
});

test('work that throws does not stop the rest', () => {
  const clock = createClock({ speed: 0 });
  const done: string[] = [];
  clock.after(1, () => {
    throw new Error('broken');
  });
  clock.after(2, () => done.push('rest'));
  expect(() => clock.advance(1)).toThrow('broken');
  clock.advance(2);
  expect(done).toEqual(['rest']);
});

test('time never runs backwards', () => {
  expect(() => createClock({ speed: -1 })).toThrow(RangeError);
  expect(() => createClock().advance(-1)).toThrow(RangeError);
});

test('however it is moved, everything planned runs once and in order', () => {
  const delays = fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 30 });
  const steps = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 30 });
  fc.assert(
    fc.property(delays, steps, (planned, moves) => {
      const clock = createClock({ now: () => 0, speed: 0 });
      const done: number[] = [];
      for (const delay of planned) clock.after(delay, () => done.push(clock.now()));
      for (const move of moves) clock.advance(move);
      clock.advance(1_000);
      expect(done).toEqual(planned.toSorted((a, b) => a - b));
    }),
  );
});
