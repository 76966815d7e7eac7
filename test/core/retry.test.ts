import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { parseRetryAfter, retryIfLocked } from '../../src/core/retry.ts';
import { temporaryFolder } from '../support/temporary.ts';

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

test.each([
  ['7', 7_000],
  ['1.5', 1_500],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
  ['3601', 3_600_000],
  ['1795920317', 3_600_000],
  ['9'.repeat(400), 3_600_000],
  ['Sun, 06 Nov 2094 08:49:37 GMT', 3_600_000],
])('%j waits %i ms', (header, wait) => {
  expect(parseRetryAfter(header, NOW)).toBe(NOW + wait);
});

test.each([undefined, '', '-5', 'soon', '1e3', 'Sun, 36 Nov 1994 08:49:37 GMT'])(
  '%j is no time',
  (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  },
);

test('any header gives nothing, or a date that is not before now', () => {
  const headers = fc.oneof(fc.string(), fc.nat().map(String), fc.stringMatching(/^\d{1,400}$/));
  fc.assert(
    fc.property(headers, (header) => {
      const at = parseRetryAfter(header, NOW);
      if (at === undefined) return;
      expect(at).toBeGreaterThanOrEqual(NOW);
      expect(Number.isNaN(new Date(at).getTime())).toBe(false);
    }),
  );
});

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

test('waits for the lock of another program, two seconds at most, and writes once it is free', async () => {
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

test('tries nothing again that fails for another reason', async () => {
  const [ours] = await twoConnections();
  let tries = 0;
  const insert = (): void => {
    tries += 1;
    ours.exec('INSERT INTO missing VALUES (1)');
  };
  await expect(retryIfLocked(insert)).rejects.toThrow('no such table');
  expect(tries).toBe(1);
});
