import { once } from 'node:events';
import { createServer } from 'node:http';
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

/** Posts to a Slack that ends without an answer after so many requests, and takes no connection from then on. */
async function postAfter(answered: number): Promise<{ failure: SlackFailure; repeated: string[] }> {
  const server = createServer((request) => {
    server.close();
    request.socket.destroy();
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  if (answered === 0) await new Promise((closed) => server.close(closed));
  const web = createWeb(`http://127.0.0.1:${port}/api/`, hastyClock, log);
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
  const posted = slack.of('T1').post({ channel: 'C1', message: say('Hello') });
  return {
    failure: await posted.then(
      () => expect.unreachable(),
      (error: SlackFailure) => error,
    ),
    repeated,
  };
}

it('a post that found no connection was certainly not made, and is no repeated one when it is tried again', async () => {
  const { failure, repeated } = await postAfter(0);
  expect(failure.kind).toBe('unreachable');
  expect(mayHavePosted(failure)).toBe(false);
  expect(repeated).toEqual([]);
});

it('a post that is tried again because its answer was lost is counted once for that', async () => {
  const { repeated } = await postAfter(1);
  expect(repeated).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
});
