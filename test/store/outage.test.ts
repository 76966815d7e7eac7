import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type DatabaseProxy, openDatabaseProxy } from '../support/database-proxy.ts';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { type Answer, sendCommand, sendEvent, sendForm } from '../support/signed.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

/** How long the database is away, in milliseconds. */
const AWAY_MS = byLength(3_000, 40_000);
const SLACK_WAITS_MS = 3_000;
const PROBE_WAITS_MS = 1_000;
const WELL_WITHIN_MS = 30_000;
const MINUTE_MS = 60_000;
/** Lines about the database in a minute, beside those whose reference a person was given. */
const MAX_LINES = 15;

interface Outage {
  name: string;
  isStored: boolean;
  /** Resolves when it is over. */
  strike(proxy: DatabaseProxy): Promise<void>;
}

const OUTAGES: readonly Outage[] = [
  {
    name: 'goes silent without closing a connection',
    isStored: false,
    async strike(proxy) {
      proxy.silence();
      await wait(AWAY_MS);
      proxy.recover();
    },
  },
  { name: 'fails over', isStored: false, strike: (proxy) => proxy.failOver(AWAY_MS) },
  {
    name: 'takes 300 ms for a statement',
    isStored: true,
    async strike(proxy) {
      proxy.slow(300);
      await wait(AWAY_MS);
      proxy.slow(0);
    },
  },
];

describe.each(byLength(OUTAGES.slice(0, 1), OUTAGES))('a Postgres that $name', ({ strike, isStored }) => {
  let proxy: DatabaseProxy;
  let world: TestWorld;

  beforeEach(async () => {
    proxy = await openDatabaseProxy(await freshDatabase());
    world = await openTestWorld({ env: { STORE_URL: proxy.url } });
    await world.connect();
  });
  afterEach(async () => {
    proxy.recover();
    await world.stop();
    await proxy.close();
  });

  const command = () => sendCommand(world, 'use storefront');
  const opened = { type: 'app_home_opened', user: PEOPLE.admin, tab: 'home', channel: 'D1' };
  const event = () => sendEvent(world, opened);
  const form = () => sendForm(world, 'roles', { title: { type: 'plain_text', text: 'Roles' } });
  const readiness = async (): Promise<Answer> => {
    const { statusCode: status, body } = await request(`${world.origin}/readyz`);
    return { status, text: await body.text() };
  };

  interface Timed extends Answer {
    ms: number;
  }

  /** Asks again and again until the end. */
  async function repeat(ask: () => Promise<Answer>, end: Promise<void>): Promise<Timed[]> {
    const answers: Timed[] = [];
    let isOver = false;
    void end.then(() => {
      isOver = true;
    });
    while (!isOver) {
      const from = performance.now();
      answers.push({ ...(await ask()), ms: performance.now() - from });
      await wait(500);
    }
    return answers;
  }

  const slowest = (answers: readonly Timed[]): number => Math.max(...answers.map(({ ms }) => ms));
  const isBound = () =>
    world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('bound this channel'));

  it('costs nobody more than seconds: answers come in time, and all is well soon after', async () => {
    const known = world.logs.length;
    const outage = strike(proxy);
    const [commands, events, forms, probes] = await Promise.all(
      [command, event, form, readiness].map((ask) => repeat(ask, outage)),
    );
    const acks = [...(commands ?? []), ...(events ?? []), ...(forms ?? [])];
    expect(slowest(acks)).toBeLessThan(SLACK_WAITS_MS);
    expect(slowest(probes ?? [])).toBeLessThan(PROBE_WAITS_MS);
    expect(new Set(probes?.map(({ status }) => status))).toEqual(new Set([200]));
    if (!isStored) {
      expect(commands?.[0]?.text).toContain('cannot store anything at the moment, so nothing was done');
      expect(forms?.[0]?.text).toContain('cannot store anything at the moment, so nothing was done');
      expect(events?.[0]?.status).toBe(500);
      expect(probes?.[0]?.text).toBe('ready, store: does not answer');
    }
    const lines = world.logs.slice(known).filter((line) => !/"reference"|"level":"info"/.test(line));
    expect(lines.length).toBeLessThan(MAX_LINES * Math.ceil(AWAY_MS / MINUTE_MS));

    const from = performance.now();
    await expect.poll(async () => (await readiness()).text).toBe('ready');
    expect(isBound()).toBe(isStored);
    if (!isStored) await expect.poll(async () => (await command()).text).toBe('');
    await expect.poll(isBound).toBe(true);
    expect(performance.now() - from).toBeLessThan(WELL_WITHIN_MS);
  });
});

it('does not do later what it said was not done', async () => {
  const url = await freshDatabase();
  const proxy = await openDatabaseProxy(url);
  const world = await openTestWorld({ env: { STORE_URL: proxy.url } });
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  onTestFinished(async () => {
    await database.end();
    await world.stop();
    await proxy.close();
  });
  const ran = async (): Promise<number> => {
    const { rowCount } = await database.query(
      "SELECT FROM pgboss.job WHERE name = 'requests' AND state = 'completed' AND singleton_key LIKE '%late.1%'",
    );
    return rowCount ?? 0;
  };
  await world.connect();
  // Longer than Deckhand waits, so that the database stores it after the person was told.
  proxy.slow(3_000);
  const { text } = await sendCommand(world, 'use storefront', { trigger_id: 'late.1' });
  expect(text).toContain('nothing was done');
  proxy.slow(0);
  await expect.poll(ran).toBe(1);
  expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
});
