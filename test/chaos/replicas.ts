import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Product } from '../../sandbox/demo/product.ts';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { setDatabaseClock } from '../process/database-clock.ts';
import { createMachineClock, type MachineClock } from '../process/machine-clock.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { MEMORY_FOLDER } from '../support/temporary.ts';
import { ACCOUNT, addTestAccount, environment, furnish } from '../support/test-world.ts';
import { setUpDigests } from './slot-posts.ts';

/** Replicas of Deckhand on one Postgres, whose digests fall due together. */
export interface Replicas {
  slack: LocalSlack;
  /** The digests' ids. */
  ids: string[];
  /** Which replica told, in this order, that it posted a digest. */
  postedBy: number[];
  /** The deliveries that a replica was in doubt of. */
  uncertain: string[];
  start(replica: number): Promise<void>;
  /** `kill -9` */
  kill(replica: number): Promise<void>;
  stopAll(): Promise<void>;
  /** Moves all clocks; slots fall due and leases end by the database's. */
  shift(ms: number): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  /** The `STORE_URL` of an empty Postgres. */
  url: string;
  digests: number;
  /** At most ten: a replica posts in each one after the other. */
  channels?: number;
  /** When they fall due; each minute by default. */
  cron?: string;
  /** How long Slack takes for a post. */
  answerMs: number;
  /** Without deployments a digest is one post, without a picture and a thread. */
  hasDeployments?: boolean;
}

/** Starts the first one, numbered 0. */
export async function openReplicas(options: Options): Promise<Replicas> {
  const { url, digests, channels, cron, answerMs, hasDeployments = true } = options;
  const service = await startSimulatedService();
  const slack = await startSlack();
  const folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-replicas-'));
  const { botToken } = furnish(slack);
  addTestAccount(service, undefined);
  const endedAt = Date.now();
  if (hasDeployments)
    service.world.addDeployment({ account: ACCOUNT, project: 'storefront', endedAt, succeeded: false });
  const env = { ...environment(slack, service, botToken, folder), STORE_URL: url, LOG_LEVEL: 'info' };
  const running = new Map<number, { product: Product; clock: MachineClock }>();
  const postedBy: number[] = [];
  const uncertain: string[] = [];
  let shift = 0;

  function listen(replica: number, line: string): void {
    if (line.includes('"event":"digest_posted"')) postedBy.push(replica);
    if (line.includes('"event":"possible_duplicate"'))
      uncertain.push((JSON.parse(line) as { delivery: string }).delivery);
  }

  async function start(replica: number): Promise<void> {
    const clock = createMachineClock(join(folder, `clock-${replica}`));
    clock.set(shift);
    const product = createProduct({ ...env, ...clock.env }, (line) => listen(replica, line));
    running.set(replica, { product, clock });
    slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
  }

  async function stopAll(): Promise<void> {
    await Promise.all([...running.values()].map(({ product }) => product.stop()));
  }

  async function close(): Promise<void> {
    await stopAll();
    await Promise.all([slack.stop(), service.stop()]);
    await rm(folder, { recursive: true, force: true });
  }

  try {
    await start(0);
    const ids = await setUpDigests(slack, digests, channels, cron);
    slack.fault({ method: 'chat.postMessage', delayMs: answerMs });
    return {
      slack,
      ids,
      postedBy,
      uncertain,
      start,
      kill: async (replica) => running.get(replica)?.product.kill(),
      stopAll,
      async shift(ms) {
        shift += ms;
        for (const { clock } of running.values()) clock.set(shift);
        await setDatabaseClock(url, shift);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
