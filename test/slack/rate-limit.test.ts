import { expect, it } from 'vitest';
import { SlackFailure } from '../../src/core/errors.ts';
import { BACKGROUND, withRetries } from '../../src/slack/rate-limit.ts';
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
