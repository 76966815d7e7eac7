import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { openSqlite } from '../../src/store/sqlite.ts';
import { enroll } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { CHANNEL, TEAM, type TestWorld } from '../support/test-world.ts';

const DAY_MS = 86_400_000;
/** How long each of them is kept, in days; docs/security.md says the same. */
const KEPT = { audit: 400, runs: 30, forms: 1, deliveries: 7 };

function inDatabase<T>({ folder }: TestWorld, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(folder, 'deckhand.sqlite'));
  try {
    return work(database);
  } finally {
    database.close();
  }
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

test('what is kept for a time has an end, and is deleted after it', async ({ world }) => {
  const { slack } = world;
  slack.invite(TEAM, CHANNEL, 'bot');
  await world.connect();
  const begunAt = Date.now();
  await world.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC');
  await world.as('admin').command(CHANNEL, '/deckhand test storefront');
  const texts = () => slack.messages(TEAM, CHANNEL).map(({ text }) => text);
  await slack.until(() => texts().some((text) => text.includes('all 2 servers are reachable')), {
    what: 'the run to end',
  });
  await slack.until(() => texts().some((text) => text.includes('the digest')), { what: 'the digest' });
  await enroll(world);

  for (const [collection, days] of Object.entries(KEPT)) {
    const ends = endsOf(world, collection);
    expect(ends.length, collection).toBeGreaterThan(0);
    for (const end of ends) {
      const keptDays = (end - begunAt) / DAY_MS;
      expect(Math.round(keptDays), collection).toBe(days);
    }
  }

  await world.restart(async () => {
    inDatabase(world, (database) => database.exec('UPDATE keyv SET expires = 1 WHERE expires IS NOT NULL'));
    const { database: opened } = await openSqlite(join(world.folder, 'deckhand.sqlite'), 'alone');
    await opened.sweep();
    await opened.close();
    for (const collection of Object.keys(KEPT)) expect(endsOf(world, collection), collection).toEqual([]);
    expect(endsOf(world, 'digests')).toHaveLength(1);
  });
});
