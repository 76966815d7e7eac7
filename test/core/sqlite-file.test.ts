import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createGroupCommit } from '../../src/core/sqlite-file.ts';
import { temporaryFolder } from '../support/temporary.ts';

function open() {
  const db = new DatabaseSync(':memory:');
  onTestFinished(() => db.close());
  db.exec('CREATE TABLE kept (id INTEGER PRIMARY KEY CHECK (id < 100))');
  const transactions: string[] = [];
  const exec = db.exec.bind(db);
  db.exec = (sql) => {
    transactions.push(sql);
    exec(sql);
  };
  const commit = createGroupCommit(db);
  const insert = db.prepare('INSERT INTO kept VALUES (?)');
  const keep = (id: number): Promise<number> => commit(() => Number(insert.run(id).lastInsertRowid));
  const kept = (): unknown[] =>
    db
      .prepare('SELECT id FROM kept ORDER BY id')
      .all()
      .map(({ id }) => id);
  return { commit, keep, kept, transactions };
}

it('writes what comes in one turn of the event loop in one transaction, and answers each after it', async () => {
  const { keep, kept, transactions } = open();
  const written = Promise.all([keep(1), keep(2), keep(3)]);
  expect(kept()).toEqual([]);
  expect(await written).toEqual([1, 2, 3]);
  expect(kept()).toEqual([1, 2, 3]);
  expect(transactions).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
});

it('writes what follows from a write before the event loop turns, together too', async () => {
  const { keep, transactions } = open();
  const written: number[] = [];
  const follow = async (id: number): Promise<void> => {
    await keep(id);
    written.push(await keep(id + 10));
  };
  void follow(1);
  void follow(2);
  await nextTurn();
  expect(written).toEqual([11, 12]);
  expect(transactions).toEqual(['BEGIN IMMEDIATE', 'COMMIT', 'BEGIN IMMEDIATE', 'COMMIT']);
});

it('lets what the database refuses fail by itself: the others of the group are written', async () => {
  const { keep, kept } = open();
  const outcomes = await Promise.allSettled([keep(1), keep(500), keep(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(kept()).toEqual([1, 2]);
});

it('lets a writer refuse its own write without another transaction for the others', async () => {
  const { commit, keep, kept, transactions } = open();
  const refused = commit(() => {
    throw new TypeError('ended');
  });
  const outcomes = await Promise.allSettled([keep(1), refused, keep(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(kept()).toEqual([1, 2]);
  expect(transactions).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
});

it('waits for the lock of another process once, whatever is written one after the other', async () => {
  const path = join(await temporaryFolder(), 'file.sqlite');
  const [db, other] = [new DatabaseSync(path, { timeout: 0 }), new DatabaseSync(path)];
  onTestFinished(() => {
    db.close();
    other.close();
  });
  db.exec('CREATE TABLE kept (id INTEGER PRIMARY KEY)');
  const commit = createGroupCommit(db);
  /** How often it was tried until it was refused. */
  const refused = async (id: number): Promise<number> => {
    let tries = 0;
    const write = (): void => {
      tries += 1;
      db.exec(`INSERT INTO kept VALUES (${id})`);
    };
    await expect(commit(write)).rejects.toThrow('locked');
    return tries;
  };
  other.exec('BEGIN IMMEDIATE');
  const startedAt = performance.now();
  // Two seconds of tries, the last ones 100 ms apart: Slack waits three for an answer to the request that wrote both.
  expect(await refused(1)).toBeLessThan(30);
  expect(performance.now() - startedAt).toBeGreaterThan(1_900);
  // A machine that stops for a moment between two writes has the second one wait again.
  await expect.poll(() => refused(2)).toBe(1);
  other.exec('ROLLBACK');
  await commit(() => db.exec('INSERT INTO kept VALUES (3)'));
  // The next lock is waited for anew.
  other.exec('BEGIN IMMEDIATE');
  let tries = 0;
  await commit(() => {
    tries += 1;
    if (tries === 2) other.exec('ROLLBACK');
    db.exec('INSERT INTO kept VALUES (4)');
  });
  expect(tries).toBe(2);
});
