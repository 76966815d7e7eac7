import { expect, it } from 'vitest';
import { createEditBudget } from '../../src/slack/rate-limit.ts';
import { createManualClock } from '../support/manual-clock.ts';

it('edits that may be left out: one a second in a channel, and a quarter of the fifty a minute in a workspace', async () => {
  const clock = createManualClock();
  const budget = createEditBudget(clock);
  expect([budget.take('T1', 'C1'), budget.take('T1', 'C1'), budget.take('T1', 'C2')]).toEqual([
    true,
    false,
    true,
  ]);
  let taken = 2;
  for (let second = 1; second < 60; second += 1) {
    await clock.advance(1_000);
    if (budget.take('T1', 'C1')) taken += 1;
  }
  expect(taken).toBe(12);
  expect(budget.take('T2', 'C1')).toBe(true);
  await clock.advance(60_000);
  expect(budget.take('T1', 'C1')).toBe(true);
});

it('edits that may be left out pause for as long as Slack asks', async () => {
  const clock = createManualClock();
  const budget = createEditBudget(clock);
  budget.pause('T1', clock.now() + 5_000);
  expect([budget.take('T1', 'C1'), budget.take('T2', 'C1')]).toEqual([false, true]);
  await clock.advance(5_000);
  expect(budget.take('T1', 'C1')).toBe(true);
});
