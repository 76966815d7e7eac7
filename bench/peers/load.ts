import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { type Outgoing, openConnection } from '../support/connections.ts';
import { sayListening } from '../support/processes.ts';

/** So many signed requests, so many at once. */
export interface Load {
  origin: string;
  secret: string;
  /** `closed` is acknowledged and nothing else; a command is answered at its `response_url`. */
  kind: 'command' | 'closed';
  /** `{n}` is the number of the request, from 1 on. */
  text: string;
  /** What the numbers of the requests begin after; 0 where left out. */
  before?: number;
  /** How many channels the commands are typed in, in turn; one where left out. */
  channels?: number;
  count: number;
  concurrency: number;
  /** Whether a request is answered at its `response_url`, and ends with that instead of with its ack. */
  reply: 'none' | 'after' | 'awaited';
}

export interface LoadResult {
  seconds: number;
  ms: number[];
  /** When each was sent, in their order, milliseconds since the epoch. */
  sentAt: number[];
  failed: number;
}

// Answers to a command arrive here; each is named by the path.
const replies = new Map<string, () => void>();
const sink = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200).end('ok');
    replies.get(request.url ?? '')?.();
    replies.delete(request.url ?? '');
  });
});
let lastId = 0;

function bodyOf(load: Load, replyPath: string, n: number): string {
  if (load.kind === 'closed')
    return new URLSearchParams({
      payload: JSON.stringify({
        type: 'view_closed',
        team: { id: 'T0BENCH', domain: 'bench' },
        user: { id: 'U0BEN', username: 'ben', team_id: 'T0BENCH' },
        api_app_id: 'A0BENCH',
        view: {
          id: `V0BENCH${n}`,
          callback_id: 'connect',
          type: 'modal',
          state: { values: {} },
          hash: '1.a',
        },
        is_cleared: false,
      }),
    }).toString();
  return new URLSearchParams({
    token: 'unused',
    team_id: 'T0BENCH',
    team_domain: 'bench',
    channel_id: `C0BENCH${((load.before ?? 0) + n) % (load.channels ?? 1) || ''}`,
    channel_name: 'deploys',
    user_id: 'U0BEN',
    user_name: 'ben',
    command: '/deckhand',
    text: load.text.replace('{n}', String((load.before ?? 0) + n)),
    api_app_id: 'A0BENCH',
    response_url: `http://127.0.0.1:${(sink.address() as AddressInfo).port}${replyPath}`,
    trigger_id: `1.1.${replyPath}`,
  }).toString();
}

/** A request, and where its answer will arrive. */
interface Prepared extends Outgoing {
  replyPath: string;
}

function prepare(load: Load): Prepared[] {
  const at = String(Math.floor(Date.now() / 1000));
  return Array.from({ length: load.count }, (_, index) => {
    lastId += 1;
    const replyPath = `/commands/T0BENCH/1/r${lastId}`;
    const body = bodyOf(load, replyPath, index + 1);
    const digest = createHmac('sha256', load.secret).update(`v0:${at}:${body}`).digest('hex');
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${digest}`,
    };
    return { path: '/slack/events', replyPath, body, headers };
  });
}

async function run(load: Load): Promise<LoadResult> {
  const requests = prepare(load);
  const connections: Array<{ end(): void }> = [];
  const ms: number[] = [];
  const sentAt: number[] = [];
  const answered: Promise<void>[] = [];
  let failed = 0;
  let next = 0;
  async function work(): Promise<void> {
    const connection = openConnection(load.origin);
    connections.push(connection);
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (load.reply !== 'none') replies.set(request.replyPath, resolve);
      const start = performance.now();
      sentAt.push(Date.now());
      if ((await connection.post(request)) !== 200) failed += 1;
      else if (load.reply === 'awaited') await promise;
      else if (load.reply === 'after') answered.push(promise);
      ms.push(performance.now() - start);
    }
  }
  const start = performance.now();
  await Promise.all(Array.from({ length: load.concurrency }, work));
  const seconds = (performance.now() - start) / 1000;
  // What is still to be answered must not weigh on the next candidate.
  await Promise.all(answered);
  for (const connection of connections) connection.end();
  return { seconds, ms, sentAt, failed };
}

/** A client that has just started would be measured along with the process that it asks. */
async function warmUp(port: number): Promise<void> {
  const load: Load = {
    origin: `http://127.0.0.1:${port}`,
    secret: '',
    kind: 'command',
    text: 'help',
    count: 500,
    concurrency: 500,
    reply: 'none',
  };
  for (let round = 0; round < 3; round += 1) await run(load);
  sayListening(port);
}

sink.keepAliveTimeout = 60_000;
sink.listen(0, '127.0.0.1', () => void warmUp((sink.address() as AddressInfo).port));
process.on('message', (load: Load) => void run(load).then((result) => process.send?.(result)));
process.on('SIGTERM', () => process.exit(0));
