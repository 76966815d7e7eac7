import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';
import { GLOBAL, type Store } from '../../src/store/store.ts';
import { anyText } from '../support/arbitraries.ts';
import { byLength } from '../support/length.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { DATABASES } from './databases.ts';

const Counter = z.object({ count: z.number() });
const Note = z.object({ text: z.string(), author: z.string().optional() });
const HOUR = 3_600_000;

async function open(url: string, options?: StoreOptions): Promise<Store> {
  const store = await openStore(url, options);
  onTestFinished(() => store.close());
  return store;
}

describe.each(DATABASES)('a store on $name', ({ fresh }) => {
  test('keeps workspaces and collections apart, whatever their ids look like, and erases one alone', async () => {
    const store = await open(await fresh());
    const notes = (workspace: string) => store.of(workspace).collection('notes', Note);
    const others = store.of('T1').collection('notes2', Note);
    await notes('T1').put('a', { text: 'one' });
    await notes('T10').put('a', { text: 'ten' });
    await notes('T1').put('b/c', { text: 'slash' });
    await others.put('a', { text: 'other' });

    expect(await notes('T1').list()).toEqual([
      { id: 'a', doc: { text: 'one' } },
      { id: 'b/c', doc: { text: 'slash' } },
    ]);
    await expect(async () => notes('T1/notes').get('a')).rejects.toThrow('malformed');
    await notes(GLOBAL).put('a', { text: 'global' });

    await store.erase('T1');

    expect([await notes('T1').list(), await others.list()]).toEqual([[], []]);
    expect(await notes('T10').list()).toHaveLength(1);
    expect(await notes(GLOBAL).list()).toHaveLength(1);
  });

  test('any id and any text survive the way there and back', async () => {
    const store = await open(await fresh());
    const notes = store.of('T1').collection('notes', Note);
    const text = anyText({ maxLength: 50 }).filter((value) => !value.includes('\0'));
    await fc.assert(
      fc.asyncProperty(
        text.filter((id) => id !== ''),
        text,
        async (id, body) => {
          await notes.put(id, { text: body });
          expect(await notes.get(id)).toEqual({ text: body });
          expect(await notes.delete(id)).toBe(true);
          expect(await notes.list()).toEqual([]);
        },
      ),
      { numRuns: byLength(20, 200) },
    );
  });

  test('loses no update, though the changes take their time, changes nothing in a failing one, and deletes in one', async () => {
    const store = await open(await fresh());
    const counters = store.of('T1').collection('counters', Counter);

    await Promise.all(
      Array.from({ length: 30 }, () =>
        counters.update('n', async (current) => {
          await new Promise(setImmediate);
          return { count: (current?.count ?? 0) + 1 };
        }),
      ),
    );

    expect(await counters.get('n')).toEqual({ count: 30 });
    const failing = counters.update('n', () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await counters.get('n')).toEqual({ count: 30 });
    expect(await counters.update('n', () => undefined)).toBeUndefined();
    expect(await counters.get('n')).toBeUndefined();
    expect(await counters.delete('n')).toBe(false);
  });

  test('a document is gone when its time is over, and its id is free again', async () => {
    const clock = createManualClock();
    const store = await open(await fresh(), { clock });
    const notes = store.of('T1').collection('notes', Note);
    await notes.put('a', { text: 'short' }, clock.now() + HOUR);
    await notes.put('b', { text: 'long' });
    expect(await notes.create('a', { text: 'next' }, clock.now() + HOUR)).toBe(false);

    await clock.advance(HOUR);

    expect(await notes.get('a')).toBeUndefined();
    expect(await notes.list()).toEqual([{ id: 'b', doc: { text: 'long' } }]);
    expect(await notes.create('a', { text: 'next' }, clock.now() + HOUR)).toBe(true);
    expect(await notes.create('a', { text: 'more' }, clock.now() + HOUR)).toBe(false);
  });

  test('runs exclusive work of one key one by one, of different keys at once, and goes on after a failure', async () => {
    const store = await open(await fresh());
    const seen: string[] = [];
    const work = (label: string) => async (): Promise<void> => {
      seen.push(`${label} begins`);
      await new Promise(setImmediate);
      seen.push(`${label} ends`);
      if (label === 'a1') throw new Error('a1 failed');
    };

    const results = await Promise.allSettled([
      store.exclusive('a', work('a1')),
      store.exclusive('a', work('a2')),
      store.exclusive('a', () => store.exclusive('b', work('ab'))),
    ]);

    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(seen).toEqual(['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends', 'ab begins', 'ab ends']);
  });

  test.each([
    ['the same workspace', 'T1', 'a', 'waits'],
    ['the same workspace, which asks for another', 'T1', 'b', 'works'],
    ['another workspace', 'T2', 'a', 'works'],
    ['all workspaces together', undefined, 'a', 'works'],
  ])('while a workspace has a lock, the work of %s (%s, %s) %s', async (_, workspace, key, outcome) => {
    const store = await open(await fresh());
    const [taken, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = store.of('T1').exclusive('a', async () => {
      taken.resolve();
      await done.promise;
      return 'first';
    });
    await taken.promise;
    const place = workspace === undefined ? store : store.of(workspace);
    const second = place.exclusive(key, async () => 'second');
    const winner = Promise.race([first, second]);
    if (outcome === 'waits') {
      for (let look = 0; look < 5; look += 1) await store.ping();
      done.resolve();
    } else setTimeout(done.resolve, 5_000);
    expect(await winner).toBe(outcome === 'works' ? 'second' : 'first');
    done.resolve();
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });
});
