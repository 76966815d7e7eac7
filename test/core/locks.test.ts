import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../src/core/locks.ts';
import { FairGate } from '../../src/core/shares.ts';

describe('work of one key, such as the posts in a channel', () => {
  it('runs one after the other, what a person waits for before what runs by itself', async () => {
    const lock = createKeyedLock();
    const ran: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      ran.push(`${name} begins`);
      await nextTurn();
      ran.push(`${name} ends`);
    };
    void lock('C1', work('first'));
    void lock('C1', work('reply'));
    void lock('C1', work('root'), true);
    await lock.idle();
    expect(ran).toEqual(['first', 'root', 'reply'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('goes on after work that failed, and begins at once where the key is free', async () => {
    const lock = createKeyedLock();
    const failed = lock('C1', async () => Promise.reject(new Error('refused')));
    const next = lock('C1', async () => 'posted');
    await expect(failed).rejects.toThrow('refused');
    await expect(next).resolves.toBe('posted');
    await lock.idle();
    let hasBegun = false;
    void lock('C1', async () => {
      hasBegun = true;
    });
    expect(hasBegun).toBe(true);
  });
});

it('a caller whose connections hang leaves others theirs', () => {
  const gate = new FairGate({ most: 128, mostOfKey: 32 });
  let begun = 0;
  const begin = (): void => {
    begun += 1;
  };
  const slow = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const key of slow) for (let call = 0; call < 260; call += 1) gate.enter(key, () => begin());
  const begunBySlow = begun;
  const leave = gate.enter('new', begin);
  expect(begun).toBe(begunBySlow + 1);
  leave();
  expect(gate.isEmpty).toBe(false);
});

it('a caller that waits no longer takes no connection, and one that leaves hands its own on', () => {
  const gate = new FairGate({ most: 2, mostOfKey: 1 });
  const begun: string[] = [];
  const enter = (name: string) => gate.enter('a', () => void begun.push(name));
  const [leave, giveUp, leaveLast] = ['first', 'gives up', 'last'].map(enter);
  giveUp?.();
  leave?.();
  expect(begun).toEqual(['first', 'last']);
  leaveLast?.();
  expect(gate.isEmpty).toBe(true);
});
