import { once } from 'node:events';
import { chmodSync, linkSync, statSync, symlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startScript } from '../support/deckhand-process.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM } from '../support/test-world.ts';

const SOURCE = join(import.meta.dirname, '..', '..', 'src', 'store', 'open-store.ts');

async function open(url: string): Promise<Store> {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return store;
}

test('an SQLite file that another process runs on is refused by whatever link', async () => {
  const file = (await temporarySqlite()).replace('sqlite://', '');
  const folder = dirname((await temporarySqlite()).replace('sqlite://', ''));
  const owner = await startScript(opening(file));
  const [symbolic, hard] = [join(folder, 'symbolic.sqlite'), join(folder, 'hard.sqlite')];
  symlinkSync(file, symbolic);
  symlinkSync(dirname(file), join(folder, 'linked'));
  const names = [symbolic, join(folder, 'linked', basename(file)), hard];
  for (const name of names) {
    // A second name of the file itself is refused before anything else is asked.
    if (name === hard) linkSync(file, hard);
    for (const _ of ['first', 'again'])
      await expect(openStore(`sqlite://${name}`), name).rejects.toThrow('in use by another Deckhand');
  }

  owner.kill('SIGKILL');
  await once(owner, 'exit');
  for (const name of names) {
    const store = await openStore(`sqlite://${name}`);
    await store.ping();
    await store.close();
  }
});

test('store, log, index and guard are their owner’s alone, whatever the umask', async () => {
  const folder = join(dirname((await temporarySqlite()).replace('sqlite://', '')), 'data');
  const file = join(folder, 'deckhand.sqlite');
  await startScript(`process.umask(0); ${opening(file)}`);
  const modes = (await readdir(folder)).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
  const names = ['', '-owner', '-shm', '-wal'].map((ending) => `deckhand.sqlite${ending}`);
  expect(modes.toSorted()).toEqual(names.map((name) => [name, 0o600]));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('an SQLite file that was readable by others is so no more', async () => {
  const url = await temporarySqlite();
  await (await openStore(url)).close();
  const file = url.replace('sqlite://', '');
  chmodSync(file, 0o644);
  await open(url);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('an SQLite file opens beside a tool that only reads it', async () => {
  const url = await temporarySqlite();
  await (await openStore(url)).close();
  const tool = new DatabaseSync(url.replace('sqlite://', ''), { readOnly: true });
  tool.prepare('SELECT count(*) FROM keyv').get();
  const store = await open(url);
  await store.ping();
  tool.close();
});

/** A script that runs on the file. */
const opening = (file: string) => `const { openStore } = await import(${JSON.stringify(SOURCE)});
  const store = await openStore(${JSON.stringify(`sqlite://${file}`)});
  await store.ping(); console.log('open'); setInterval(() => store, 1000);`;

test('a lock that another process holds stops neither acknowledgements nor what needs no write', async () => {
  const world = await openTestWorld();
  onTestFinished(() => world.stop());
  const ben = world.as('member');
  const answers = () => world.slack.ephemerals(TEAM, PEOPLE.member).length;
  await ben.command(CHANNEL, '/deckhand help');
  await world.slack.until(() => answers() === 1);
  const locker = await startScript(locking(join(world.folder, 'deckhand.sqlite')));
  const turns = countTurns();
  const health = await fetch(`${world.origin}/healthz`);
  const help = await ben.command(CHANNEL, '/deckhand help');
  await world.slack.until(() => answers() === 2);
  expect([health.status, help.status]).toEqual([200, 200]);

  // Stored before it is acknowledged, so it waits for the lock, and holds up nothing else meanwhile.
  const use = world.as('admin').command(CHANNEL, '/deckhand use none');
  expect((await fetch(`${world.origin}/healthz`)).status).toBe(200);
  // SQLite's own waiting would hold up everything for five seconds.
  expect(turns.longestMs()).toBeLessThan(4_500);
  locker.kill('SIGKILL');
  expect((await use).status).toBe(200);
});

/** A script that holds the lock for writing, as a shell with BEGIN EXCLUSIVE does. */
const locking = (file: string) => `import { DatabaseSync } from 'node:sqlite';
  const db = new DatabaseSync(${JSON.stringify(file)});
  db.exec('BEGIN EXCLUSIVE'); console.log('locked'); setInterval(() => db, 1000);`;

/** How long the event loop was held up at most. */
function countTurns(): { longestMs(): number } {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  onTestFinished(() => clearInterval(timer));
  return { longestMs: () => Math.max(longest, performance.now() - last) };
}
