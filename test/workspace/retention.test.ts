import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../src/store/open-store.ts';
import { createMachineClock } from '../process/machine-clock.ts';
import { enroll, sayThere } from '../support/asking.ts';
import { startDeckhand } from '../support/deckhand-process.ts';
import { test } from '../support/fixtures.ts';
import { bundledFile } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, environment, TEAM, type TestWorld } from '../support/test-world.ts';

const DAY_MS = 86_400_000;
/** Words of the privacy page about what is kept for longer than a day. */
const STATED: Readonly<Record<string, RegExp>> = {
  audit: /with what result: (\d+) days/,
  deliveries: /were delivered: (\d+) days/,
  'followed-servers': /set-up is shown: (\d+) days/,
  once: /buttons were used[^:]*: (\d+) days/,
  runs: /Test runs[^:]*: (\d+) days/,
  'server-orders': /ordered which server: (\d+) days/,
  targets: /Test runs[^:]*: (\d+) days/,
};
/** What this test has stored. */
const KEPT = ['audit', 'deliveries', 'forms', 'once', 'runs'];

const OLD_NOTES = "SELECT key FROM keyv WHERE key LIKE '%/notes/old'";

function inDatabase<T>({ folder }: Pick<TestWorld, 'folder'>, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(folder, 'deckhand.sqlite'));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function expireAll(database: DatabaseSync): void {
  database.exec('UPDATE keyv SET expires = 1 WHERE expires IS NOT NULL');
}

function endsOf(world: TestWorld, collection: string): number[] {
  const sql = 'SELECT CAST(expires AS REAL) AS expires FROM keyv WHERE key LIKE ?';
  return inDatabase(world, (database) =>
    database
      .prepare(sql)
      .all(`${TEAM}/${collection}/%`)
      .map(({ expires }) => Number(expires)),
  );
}

/** Collections with rows that end. */
function collectionsOf(world: TestWorld): string[] {
  const sql = 'SELECT DISTINCT key FROM keyv WHERE expires IS NOT NULL AND key LIKE ?';
  const keys = inDatabase(world, (database) => database.prepare(sql).all(`${TEAM}/%`));
  return [...new Set(keys.map(({ key }) => String(key).split('/')[1] ?? ''))];
}

test('what is kept for a time has the end that the privacy page states, and is deleted after it', async ({
  world,
}) => {
  const { slack } = world;
  slack.invite(TEAM, CHANNEL, 'bot');
  await world.connect();
  const begunAt = Date.now();
  await sayThere(world, 'digest add daily 09:00 UTC', CHANNEL);
  await world.as('admin').command(CHANNEL, '/deckhand test storefront');
  const texts = () => slack.messages(TEAM, CHANNEL).map(({ text }) => text);
  await slack.until(() => texts().some((text) => text.includes('both servers are reachable')), {
    what: 'the run to end',
  });
  const root = slack.messages(TEAM, CHANNEL).find(({ text }) => text.includes('reachable'));
  await world.as('admin').click({ channel: CHANNEL, ts: root?.ts ?? '' }, { actionId: 'test:again' });
  const ended = () => texts().filter((text) => text.includes('both servers are reachable'));
  await slack.until(() => ended().length === 2, { what: 'the second run to end' });
  await enroll(world);

  const page = await (await fetch(`${world.origin}/privacy`)).text();
  expect(page).toMatch(/with what result: 400 days, the newest 50,000 entries at most/);
  const collections = collectionsOf(world);
  expect(collections).toEqual(expect.arrayContaining(KEPT));
  for (const collection of collections) {
    const days = Math.max(...endsOf(world, collection).map((end) => Math.round((end - begunAt) / DAY_MS)));
    // What has no words of its own goes within a day.
    const stated = Number(STATED[collection]?.exec(page)?.[1] ?? Math.min(days, 1));
    expect(days, collection).toBe(stated);
  }

  await world.restart(async () => {
    inDatabase(world, expireAll);
    const store = await openStore(world.config.STORE_URL);
    await store.sweep();
    await store.close();
    for (const collection of KEPT) expect(endsOf(world, collection), collection).toEqual([]);
    expect(endsOf(world, 'schedules')).toHaveLength(1);
  });
});

test('a process deletes by itself, every ten minutes, what has expired', async ({ world }) => {
  const { slack, service, config } = world;
  const folder = await temporaryFolder();
  const clock = createMachineClock(join(folder, 'clock'));
  const place = environment(slack, service, config.SLACK_BOT_TOKEN ?? '', folder);
  const store = await openStore(place.STORE_URL ?? '');
  await store
    .of(TEAM)
    .collection('notes', z.string())
    .put('old', 'expired', Date.now() + DAY_MS);
  await store.close();
  inDatabase({ folder }, expireAll);
  const tenMinutes = 600_000;
  const entry = await bundledFile();
  clock.set(tenMinutes - (Date.now() % tenMinutes) - 6_000);
  const deckhand = await startDeckhand({ ...place, ...clock.env }, [], entry);
  const left = () => inDatabase({ folder }, (database) => database.prepare(OLD_NOTES).all());
  expect(left()).toHaveLength(1);
  await expect.poll(left).toEqual([]);
  deckhand.signal('SIGTERM');
  expect(await deckhand.ended).toBe(0);
  expect(deckhand.errors).toEqual([]);
});
