import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { mountDisk } from '../support/disk.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { createProduct } from '../support/program.ts';
import { openSurroundings, type Surroundings } from '../support/surroundings.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ACCOUNT, API_KEY, connectAccount, EMAIL, TEAM } from '../support/test-world.ts';

export type StoreKind = 'sqlite' | 'postgres';

export const CHANNELS = ['C0ONE', 'C0TWO', 'C0THREE', 'C0FOUR'] as const;
export const ACTIVITY = 'C0ACTIVITY';
export const BILLING = 'C0BILLING';
const REPLICAS = { sqlite: 1, postgres: 2 } as const;
const RUN_MS = 2_500;

/** Projects whose test runs always end the same way. */
export const PROJECTS = Array.from({ length: 10 }, (_, at) => {
  const [status, outcome] =
    at % 5 === 4
      ? (['failed', 'the test failed without results'] as const)
      : ([
          'completed',
          at % 3 === 1 ? '1 of 2 servers is unreachable' : 'both servers are reachable',
        ] as const);
  return { name: `Shop ${at}`, permalink: `shop-${at}`, status, outcome };
});

/** What Deckhand's logs say, for the verdict. Times are this machine's, in milliseconds. */
export interface Diary {
  /** Deliveries, posts by `client_msg_id`, and requests that Deckhand counted as uncertain. */
  uncertain: Set<string>;
  bugs: Array<{ line: string; at: number }>;
  ends: number[];
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld(store: StoreKind) {
  const around = await openSurroundings({
    channels: [...CHANNELS, ACTIVITY],
    longestLog: 200_000,
    account: false,
  });
  const { slack, service } = around;
  slack.invite(TEAM, BILLING, 'bot');
  addProjects(service);
  const data = join(await temporaryFolder(), 'data');
  mkdirSync(data);
  const disk = store === 'sqlite' ? mountDisk(data) : undefined;
  const postgres = store === 'postgres' ? await startPostgres() : undefined;
  const database = await postgres?.createDatabase();
  const env = {
    ...around.env,
    STORE_URL: database ?? `sqlite://${join(data, 'deckhand.sqlite')}`,
    POLL_INTERVAL_MS: '400',
    NOTICE_INTERVAL_MS: '1000',
    LOG_LEVEL: 'info',
  };
  const diary: Diary = { uncertain: new Set(), bugs: [], ends: [] };
  const replicas = Array.from({ length: REPLICAS[store] }, () => createReplica(env, diary));
  // The first one creates the tables.
  for (const replica of replicas) await replica.start();
  let turn = 0;
  /** Slack's next request goes to one of the replicas that are up, as a load balancer sends it. */
  function route(): void {
    const ports = replicas.flatMap(({ port }) => port ?? []);
    turn += 1;
    const port = ports[turn % ports.length];
    if (port !== undefined) slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
  }
  route();
  await connectAccount(slack);
  return {
    slack,
    service,
    replicas,
    diary,
    /** Undefined on Postgres, and if no file system can be mounted. */
    disk,
    postgres,
    route,
    async stop(): Promise<void> {
      await Promise.all(replicas.map((replica) => replica.end('stop', Number.POSITIVE_INFINITY)));
      await around.close();
      disk?.close();
      await postgres?.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

function addProjects({ world }: Surroundings['service']): void {
  const server = (name: string, isWell: boolean) => ({
    name,
    outcome: { status: isWell ? ('ok' as const) : ('error' as const) },
  });
  world.addAccount({
    name: ACCOUNT,
    users: [{ email: EMAIL, apiKey: API_KEY, role: 'admin', billing: true }],
    projects: PROJECTS.map(({ name, permalink, outcome }) => ({
      name,
      permalink,
      servers: [server('web-1', true), server('web-2', !outcome.startsWith('1 of 2'))],
    })),
  });
  for (const { permalink, status } of PROJECTS)
    world.setRunOutcome({ account: ACCOUNT, project: permalink, status, durationMs: RUN_MS });
}

/** Deckhand as a process that is started again whenever it ends. */
function createReplica(env: Record<string, string>, diary: Diary) {
  const product = createProduct(env, (line) => readLog(line, diary));
  let port: number | undefined;
  let isOver = false;
  async function start(): Promise<void> {
    while (port === undefined && !isOver) {
      // While its store is away, Deckhand cannot start; its supervisor tries again.
      port = await product.start().catch(() => undefined);
      if (port === undefined) await wait(500);
    }
  }
  return {
    /** Undefined while it is down. */
    get port() {
      return port;
    },
    start,
    async end(how: 'kill' | 'stop', downMs: number): Promise<void> {
      port = undefined;
      isOver = downMs === Number.POSITIVE_INFINITY;
      await (how === 'kill' ? product.kill() : product.stop());
      diary.ends.push(Date.now());
      if (isOver) return;
      await wait(downMs);
      await start();
    },
  };
}

function readLog(line: string, { uncertain, bugs }: Diary): void {
  if (!line.startsWith('{')) return;
  const { event = '', delivery } = JSON.parse(line) as { event?: string; delivery?: string };
  if (event === 'possible_duplicate' && delivery !== undefined) uncertain.add(delivery);
  if (event === 'bug' || event === 'unhandled_rejection') bugs.push({ line, at: Date.now() });
}
