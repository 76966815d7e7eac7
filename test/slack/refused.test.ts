import { expect, it, onTestFinished } from 'vitest';
import type { SlackFailure } from '../../src/core/errors.ts';
import { createLog } from '../../src/observability/log.ts';
import { mayHavePosted } from '../../src/slack/failure.ts';
import { createSlack } from '../../src/slack/slack.ts';
import { createWeb } from '../../src/slack/web.ts';
import { say } from '../../src/views/blocks/message.ts';
import { hastyClock } from '../support/faults.ts';
import { freePort } from '../support/free-port.ts';

const log = createLog('silent', () => undefined);

it('a post that found no connection was certainly not made, and is not counted as repeated', async () => {
  const web = createWeb(`http://127.0.0.1:${await freePort()}/api/`, hastyClock, log);
  onTestFinished(() => web.close());
  const repeated: string[] = [];
  const slack = createSlack({
    web,
    installations: { token: async () => 'xoxb-1' },
    clock: hastyClock,
    log,
    responseHosts: [],
    onRepeat: (_, { delivery }) => repeated.push(delivery),
  });
  const failure = await slack
    .of('T1')
    .post({ channel: 'C1', message: say('Hello') })
    .then(
      () => expect.unreachable(),
      (error: SlackFailure) => error,
    );
  expect(failure.kind).toBe('unreachable');
  expect(mayHavePosted(failure)).toBe(false);
  expect(repeated).toEqual([]);
});
