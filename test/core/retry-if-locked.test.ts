import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { retryIfLocked } from '../../src/core/retry.ts';
import { temporaryFolder } from '../support/temporary.ts';

async function twoConnections(): Promise<[DatabaseSync, DatabaseSync]> {
  const path = join(await temporaryFolder(), 'file.sqlite');
  const [ours, other] = [new DatabaseSync(path, { timeout: 0 }), new DatabaseSync(path)];
  onTestFinished(() => {
    ours.close();
    other.close();
  });
  ours.exec('CREATE TABLE kept (id INTEGER PRIMARY KEY)');
  return [ours, other];
}

it('waits for the lock of another program, two seconds at most, and writes once it is free', async () => {
  const [ours, other] = await twoConnections();
  other.exec('BEGIN IMMEDIATE');
  const startedAt = performance.now();
  // Slack waits three seconds for an answer.
  await expect(retryIfLocked(() => ours.exec('INSERT INTO kept VALUES (1)'))).rejects.toThrow('locked');
  expect(performance.now() - startedAt).toBeGreaterThan(1_900);

  let tries = 0;
  await retryIfLocked(() => {
    tries += 1;
    if (tries === 2) other.exec('ROLLBACK');
    ours.exec('INSERT INTO kept VALUES (2)');
  });
  expect(tries).toBe(2);
  expect(ours.prepare('SELECT id FROM kept').all()).toEqual([{ id: 2 }]);
});

it('tries nothing again that fails for another reason', async () => {
  const [ours] = await twoConnections();
  let tries = 0;
  const insert = (): void => {
    tries += 1;
    ours.exec('INSERT INTO missing VALUES (1)');
  };
  await expect(retryIfLocked(insert)).rejects.toThrow('no such table');
  expect(tries).toBe(1);
});
