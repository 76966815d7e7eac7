import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createBackgroundWork } from '../../src/listeners/listeners.ts';
import { createLog } from '../../src/observability/log.ts';

const log = createLog('silent', () => undefined);

describe('work after an ack', () => {
  it('is waited for, also where it has not begun', async () => {
    const inFlight = createBackgroundWork(log);
    const ended: number[] = [];
    for (let at = 0; at < 35; at += 1)
      inFlight.begin(async () => {
        await turn();
        ended.push(at);
      });
    await inFlight.idle();
    expect(ended).toHaveLength(35);
  });

  it('goes on in the surroundings of its own request', async () => {
    const inFlight = createBackgroundWork(log);
    const request = new AsyncLocalStorage<number>();
    const seen: Array<number | undefined> = [];
    for (const id of [1, 2, 3])
      request.run(id, () =>
        inFlight.begin(async () => {
          seen.push(request.getStore());
        }),
      );
    await inFlight.idle();
    expect(seen).toEqual([1, 2, 3]);
  });
});
