import { expect, it } from 'vitest';
import { SlackFailure } from '../../src/core/errors.ts';
import { BACKGROUND, createEditBudget, withRetries } from '../../src/slack/rate-limit.ts';
import { createManualClock } from '../support/manual-clock.ts';

it('repeats a call though the clock is set an hour ahead meanwhile', async () => {
  const clock = createManualClock();
  let calls = 0;
  const answer = withRetries(clock, BACKGROUND, async () => {
    calls += 1;
    if (calls > 1) return 'posted';
    clock.jump(3_600_000);
    throw new SlackFailure('chat.postMessage', 'unreachable', 'request_failed');
  });
  await clock.advance(1_000);
  expect(await answer).toBe('posted');
});

it('lets one edit a second in a channel and a quarter of a workspace’s go, and pauses as long as Slack asks', async () => {
  const clock = createManualClock();
  const budget = createEditBudget(clock);
  const first = [budget.take('T1', 'C1'), budget.take('T1', 'C1'), budget.take('T1', 'C2')];
  expect(first).toEqual([true, false, true]);
  let taken = 2;
  for (let second = 1; second < 60; second += 1) {
    await clock.advance(1_000);
    if (budget.take('T1', 'C1')) taken += 1;
  }
  expect(taken).toBe(12);
  expect(budget.take('T2', 'C1')).toBe(true);
  await clock.advance(60_000);
  expect(budget.take('T1', 'C1')).toBe(true);

  budget.pause('T1', clock.now() + 5_000);
  await clock.advance(4_999);
  expect([budget.take('T1', 'C1'), budget.take('T2', 'C1')]).toEqual([false, true]);
  await clock.advance(1);
  expect(budget.take('T1', 'C1')).toBe(true);
});
