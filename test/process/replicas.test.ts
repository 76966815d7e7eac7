import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import { LEASE } from '../../src/jobs/pg-boss-jobs.ts';
import { freshDatabase } from '../support/postgres.ts';
import { openSurroundings, type Surroundings } from '../support/surroundings.ts';
import { connectAccount, PEOPLE, TEAM } from '../support/test-world.ts';
import { setDatabaseClock } from './database-clock.ts';

const REPLICAS = 3;
const RUNS = 300;
/** Runs of one channel wait for each other's posts. */
const CHANNELS = Array.from({ length: 20 }, (_, at) => `C0SHOPS${at}`);

describe(`${REPLICAS} replicas on one Postgres`, () => {
  let around: Surroundings;
  let slack: Surroundings['slack'];
  let replicas: Product[];
  let ports: number[];
  let database: string;

  beforeEach(async () => {
    const projects = Array.from({ length: RUNS }, (_, at) => ({
      name: `Shop ${at}`,
      permalink: `shop-${at}`,
      servers: [{ name: 'web-1' }, { name: 'web-2' }],
    }));
    around = await openSurroundings({ channels: CHANNELS, projects });
    slack = around.slack;
    database = await freshDatabase();
    const shared = { STORE_URL: database, POLL_INTERVAL_MS: '500' };
    replicas = Array.from({ length: REPLICAS }, () => around.createProduct(shared));
    ports = await Promise.all(replicas.map((replica) => replica.start()));
    deliverTo(0);
    await connectAccount(slack);
    for (const { permalink } of projects)
      around.service.world.setRunOutcome({ account: 'acme', project: permalink, durationMs: 3_600_000 });
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await around.close();
  });

  /** Slack knows one address: the load balancer's, which picks a replica. */
  function deliverTo(replica: number): void {
    slack.deliverTo(`http://127.0.0.1:${ports[replica]}/slack/events`);
  }

  const roots = () => CHANNELS.flatMap((channel) => slack.messages(TEAM, channel));
  const replies = ({ channel, ts }: SeenMessage) => slack.thread(TEAM, channel, ts).map(({ text }) => text);
  const doubted = () => around.logs.filter((line) => line.includes('"event":"possible_duplicate"')).length;

  it('carry out each of many requests once, whichever they reach, and take over what a killed one was following', async () => {
    const ben = slack.as(TEAM, PEOPLE.member);
    const channelOf = (at: number) => CHANNELS[at % CHANNELS.length] ?? '';
    for (let at = 0; at < RUNS; at += 1) {
      deliverTo(at % REPLICAS);
      await ben.command(channelOf(at), `/deckhand test shop-${at}`);
    }
    const running = () => roots().filter((root) => replies(root).length === 1).length;
    await slack.until(() => running() === RUNS, { what: 'all runs to be followed' });
    // The last of them is another replica's.
    deliverTo((RUNS + 1) % REPLICAS);
    await ben.command(channelOf(RUNS - 1), `/deckhand test shop-${RUNS - 1}`);
    await slack.until(() =>
      slack.ephemerals(TEAM, PEOPLE.member).some(({ text }) => text.includes('running already')),
    );
    await replicas[Math.floor(Math.random() * REPLICAS)]?.kill();
    // The others need not wait until the dead one's leases end.
    await setDatabaseClock(database, LEASE.leaseMs + 1_000);
    around.service.clock.advance(3_600_000);
    // The root says it at once; the replies wait for the few edits a minute that may be late.
    const ended = () => roots().filter(({ text }) => text.includes('both servers are reachable'));
    await slack.until(() => ended().length === RUNS, { what: 'all runs to end' });
    expect(roots()).toHaveLength(RUNS);
    // The progress alone, where all is well, and what Deckhand itself counts.
    const doubled = roots().reduce((sum, root) => sum + replies(root).length - 1, 0);
    expect(doubled).toBeLessThanOrEqual(doubted());
  });
});
