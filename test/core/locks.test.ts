import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../src/core/concurrency.ts';

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
