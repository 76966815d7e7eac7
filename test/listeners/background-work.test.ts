import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createBackgroundWork } from '../../src/listeners/listeners.ts';
import { createLog } from '../../src/observability/log.ts';

it('work after an ack is waited for, also where it has not begun, and goes on in the surroundings of its request', async () => {
  const background = createBackgroundWork(createLog('silent', () => undefined));
  const request = new AsyncLocalStorage<number>();
  const ids = Array.from({ length: 35 }, (_, at) => at);
  const seen: Array<number | undefined> = [];
  for (const id of ids)
    request.run(id, () =>
      background.begin(async () => {
        await turn();
        seen.push(request.getStore());
      }),
    );
  await background.idle();
  expect(seen).toEqual(ids);
});
