import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished } from 'vitest';
import { ask } from './support/asking.ts';
import { test as base } from './support/fixtures.ts';
import { ACCOUNT, openTestWorld, TEAM, type TestWorld } from './support/test-world.ts';

const test = base.extend('connected', true);

/** The collection of each document. */
function stored({ folder }: TestWorld): string[] {
  const db = new DatabaseSync(join(folder, 'deckhand.sqlite'), { readOnly: true });
  const documents = db.prepare('SELECT key FROM keyv').all();
  db.close();
  return documents.map(({ key }) => String(key).split('/', 2).join('/')).toSorted();
}

/** What each world has of its own: ports, times, ids of blocks. */
const OWN = /127\.0\.0\.1:\d+|\d{10}|[\d-]+ [\d:]+ UTC|"block_id":"\w+"/g;

async function answers(world: TestWorld): Promise<string[]> {
  const said: string[] = [];
  for (const line of ['accounts', 'whoami', 'projects', 'audit']) {
    const text = await ask(world, `/deckhand ${line}`, 'admin');
    said.push(text.replace(OWN, ''));
  }
  return said;
}

test('a world that is opened connected holds and answers what one does whose account was connected by hand', async ({
  world,
}) => {
  const byHand = await openTestWorld();
  onTestFinished(() => byHand.stop());
  await byHand.connect();
  await expect.poll(() => stored(byHand)).toEqual(stored(world));
  expect(await answers(world)).toEqual(await answers(byHand));
});

test('a world that is opened connected keeps nothing of an earlier one', async ({ world }) => {
  await world.app.workspaces.open(TEAM).accounts.disconnect(ACCOUNT);
  const later = await openTestWorld({ connected: true });
  onTestFinished(() => later.stop());
  expect(await ask(world, '/deckhand projects')).toContain('No account is connected');
  expect(await ask(later, '/deckhand projects')).toContain('Storefront');
});
