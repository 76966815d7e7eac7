import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { LEASE } from '../../src/jobs/pg-boss-jobs.ts';
import { freshDatabase } from '../support/postgres.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  addTestAccount,
  CHANNEL,
  connectAccount,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from '../support/test-world.ts';
import { setDatabaseClock } from './database-clock.ts';

const REPLICAS = 3;
const RUNS = 6;
/** The progress alone, where all is well. */
const REPLIES = 1;

describe(`${REPLICAS} replicas on one Postgres`, () => {
  let slack: LocalSlack;
  let service: SimulatedService;
  let replicas: Product[];
  let ports: number[];
  let database: string;

  beforeEach(async () => {
    service = await startSimulatedService();
    slack = await startSlack();
    const { botToken } = furnish(slack);
    const projects = Array.from({ length: RUNS }, (_, at) => ({
      name: `Shop ${at}`,
      permalink: `shop-${at}`,
      servers: [{ name: 'web-1' }, { name: 'web-2' }],
    }));
    addTestAccount(service, projects);
    const env = environment(slack, service, botToken, await temporaryFolder());
    database = await freshDatabase();
    const shared = { ...env, STORE_URL: database, POLL_INTERVAL_MS: '500' };
    replicas = Array.from({ length: REPLICAS }, () => createProduct(shared, () => undefined));
    ports = await Promise.all(replicas.map((replica) => replica.start()));
    deliverTo(0);
    await connectAccount(slack);
    for (const { permalink } of projects)
      service.world.setRunOutcome({ account: 'acme', project: permalink, durationMs: 3_600_000 });
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await Promise.all([slack.stop(), service.stop()]);
  });

  /** Slack knows one address: the load balancer's, which picks a replica. */
  function deliverTo(replica: number): void {
    slack.deliverTo(`http://127.0.0.1:${ports[replica]}/slack/events`);
  }

  const roots = () => slack.messages(TEAM, CHANNEL);
  const replies = (ts: string) => slack.thread(TEAM, CHANNEL, ts).map(({ text }) => text);

  it('carry out a request once, whichever it reaches, take over what a killed one was following, and tell nothing twice', async () => {
    const ben = slack.as(TEAM, PEOPLE.member);
    for (let at = 0; at < RUNS; at += 1) {
      deliverTo(at % REPLICAS);
      await ben.command(CHANNEL, `/deckhand test shop-${at}`);
    }
    const running = () => roots().filter(({ ts }) => replies(ts).length === 1).length;
    await slack.until(() => running() === RUNS, { what: 'all runs to be followed' });
    // The last of them is another replica's.
    deliverTo(0);
    await ben.command(CHANNEL, `/deckhand test shop-${RUNS - 1}`);
    await slack.until(() =>
      slack.ephemerals(TEAM, PEOPLE.member).some(({ text }) => text.includes('running already')),
    );
    await replicas[1]?.kill();
    // The others need not wait until the dead one's leases end.
    await setDatabaseClock(database, LEASE.leaseMs + 1_000);
    service.clock.advance(3_600_000);
    const ended = () =>
      roots().filter(({ ts }) => replies(ts).some((text) => text.includes('The test took'))).length;
    await slack.until(() => ended() === RUNS, { what: 'all runs to end' });
    expect(roots()).toHaveLength(RUNS);
    for (const { ts } of roots()) {
      expect(new Set(replies(ts)).size).toBe(replies(ts).length);
      expect(replies(ts)).toHaveLength(REPLIES);
    }
  });
});
