import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AuditEntry } from '../../src/records/audit.ts';
import { ask } from '../support/asking.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { emptyDatabase } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  ACCOUNT,
  CHANNEL,
  openTestWorld,
  TEAM,
  type TestWorld,
  type TestWorldOptions,
} from '../support/test-world.ts';

/** Made by `fixtures/make-store.ts` with the code of that release. */
const RELEASES = ['0.2.0'];

const STORES = RELEASES.flatMap((release) => [
  { release, name: 'SQLite', fill: sqliteOf },
  { release, name: 'Postgres', fill: postgresOf },
]);

async function sqliteOf(release: string): Promise<string> {
  const file = join(await temporaryFolder(), 'deckhand.sqlite');
  await copyFile(join(import.meta.dirname, 'fixtures', `deckhand-${release}.sqlite`), file);
  return `sqlite://${file}`;
}

async function postgresOf(release: string): Promise<string> {
  const url = await emptyDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    await readFile(join(import.meta.dirname, 'fixtures', `deckhand-${release}.sql`), 'utf8'),
  );
  await client.end();
  return url;
}

describe.each(STORES)('a store that release $release left on $name', ({ release, fill }) => {
  async function open(options: TestWorldOptions = {}): Promise<TestWorld> {
    const world = await openTestWorld({
      ...options,
      env: { ...options.env, STORE_URL: await fill(release) },
    });
    onTestFinished(() => world.stop());
    world.slack.invite(TEAM, CHANNEL, 'bot');
    return world;
  }

  test('is read by this one: accounts, their sealed keys, schedules, runs and the audit log', async () => {
    const world = await open();
    expect(await ask(world, '/deckhand projects')).toContain('Storefront');
    expect(await ask(world, '/deckhand accounts')).toContain('ann@example.com');
    for (const list of ['digest list', 'watch list']) {
      const said = await ask(world, `/deckhand ${list}`, 'admin');
      expect(said).toContain(list === 'digest list' ? '09:00' : 'Storefront');
    }
    const audit = await world.app.parts.store.of(TEAM).collection('audit', AuditEntry).list();
    expect(audit.map(({ doc }) => doc.what)).toEqual(['connect', 'digest add', 'watch', 'test', 'test']);
    expect(await ask(world, '/deckhand doctor', 'admin')).not.toContain('cannot be read');
    expect(world.logs.filter((line) => /record_unreadable|job_unreadable|"level":50/.test(line))).toEqual([]);
  });

  test('goes on where it was: its watch posts what is deployed from now on', async () => {
    const world = await open({ env: { NOTICE_INTERVAL_MS: '40' } });
    await world.service.requests.next(({ path }) => path.endsWith('/activity'));
    const failed = { account: ACCOUNT, project: 'storefront', succeeded: false, endRef: 'abc1234' };
    world.service.world.addDeployment(failed);
    const news = () =>
      world.slack.messages(TEAM, CHANNEL).filter((message) => JSON.stringify(message).includes('abc1234'));
    await world.slack.until(() => news().length > 0, { what: 'the news' });
    expect(news()).toHaveLength(1);
  });

  test('goes on where it was: its digest has its next occurrence, and a run is followed by its identifier', async () => {
    const clock = createManualClock(Date.now());
    const world = await open({ time: clock });
    let polled: string | undefined;
    void world.service.requests
      .next(({ path }) => /\/test_access\/[^/]+$/.test(path))
      .then(({ method }) => {
        polled = method;
      });
    const { engine } = world.app.parts;
    await expect.poll(async () => (await engine.stats()).digest).toMatchObject({ later: 1 });
    // Its follower sleeps only once the database has given it the run.
    await expect
      .poll(async () => {
        await clock.advance(5_000);
        return polled;
      })
      .toBe('GET');
    await engine.stop(0);
    if (world.config.STORE_URL.startsWith('postgres')) {
      const tables = await leftTables(world.config.STORE_URL);
      expect(tables).toEqual([]);
    }
  });
});

/** Those that stood beside pg-boss. */
async function leftTables(url: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT tablename FROM pg_tables WHERE tablename IN ('deckhand_job_states', 'deckhand_schedules')",
  );
  await client.end();
  return rows;
}
