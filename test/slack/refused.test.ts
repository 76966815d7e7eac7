import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { createLog } from '../../src/observability/log.ts';
import type { SlackFailure } from '../../src/slack/failure.ts';
import { createSlack, type RepeatedPost } from '../../src/slack/slack.ts';
import { createWeb } from '../../src/slack/web.ts';
import { say } from '../../src/views/blocks/message.ts';
import { hastyClock } from '../support/faults.ts';
import { freePort } from '../support/free-port.ts';

/** Posts to a Slack that ends without an answer after so many requests, and takes no connection from then on. */
async function postAfter(answered: number): Promise<{ failure: SlackFailure; repeated: RepeatedPost[] }> {
  const server = createServer((request) => {
    server.close();
    request.socket.destroy();
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  if (answered === 0) await new Promise((closed) => server.close(closed));
  const web = createWeb(`http://127.0.0.1:${port}/api/`, hastyClock);
  onTestFinished(() => web.close());
  const repeated: RepeatedPost[] = [];
  const slack = createSlack({
    web,
    installations: { token: async () => 'xoxb-1' },
    clock: hastyClock,
    log: createLog('silent', () => undefined),
    responseHosts: [],
    onRepeat: (_, post) => repeated.push(post),
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
  expect(failure).toMatchObject({ kind: 'unreachable', mayHavePosted: false });
  expect(repeated).toEqual([]);
});

it('a post whose answer was lost may have been made, also where later tries found no connection', async () => {
  const { failure, repeated } = await postAfter(1);
  expect(failure).toMatchObject({ kind: 'unreachable', mayHavePosted: true });
  expect(repeated).toHaveLength(4);
});
