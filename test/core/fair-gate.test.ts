import { expect, test } from 'vitest';
import { FairGate } from '../../src/core/locks.ts';

test('a caller whose connections hang leaves others theirs', async () => {
  const gate = new FairGate({ most: 128, mostOfKey: 32 });
  const { signal } = new AbortController();
  const slow = ['a', 'b', 'c', 'd', 'e', 'f'];
  const waiting = slow.flatMap((key) => Array.from({ length: 260 }, () => gate.enter(key, signal)));
  const leave = await gate.enter('new', signal);
  leave();
  expect(gate.isEmpty).toBe(false);
  expect(waiting).toHaveLength(1_560);
});
