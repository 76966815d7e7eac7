import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createInstallStates } from '../../src/installing/oauth-installations.ts';
import { openStore } from '../../src/store/open-store.ts';
import { GLOBAL } from '../../src/store/store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporarySqlite } from '../support/temporary.ts';

const OPTIONS = { scopes: ['commands'], redirectUri: 'https://deckhand.example.com/slack/oauth_redirect' };
const clock = createManualClock(Date.now());

async function replica(url: string, secret = 'secret') {
  const store = await openStore(url, { clock });
  const states = createInstallStates({ store, clock, secret }, OPTIONS);
  const begin = () => states.generateStateParam(OPTIONS, new Date());
  const end = (state: string) => states.verifyStateParam(new Date(), state);
  return { store, states, begin, end };
}

test('an install that began at one replica ends at another, once, however many try at the same time', async () => {
  const url = await freshDatabase();
  const [one, other] = await Promise.all([replica(url), replica(url)]);
  onTestFinished(async () => void (await Promise.all([one.store.close(), other.store.close()])));
  const state = await one.begin();
  const ends = await Promise.allSettled([other, one, other, one].map(({ end }) => end(state)));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toEqual([
    { status: 'fulfilled', value: OPTIONS },
  ]);
  expect(await one.states.findFault(state)).toBe('used');
});

test('what is under way, used or made up is known as such after a restart too', async () => {
  const url = await temporarySqlite();
  const before = await replica(url);
  const [used, open] = [await before.begin(), await before.begin()];
  await before.end(used);
  await before.store.close();
  const after = await replica(url);
  onTestFinished(() => after.store.close());
  const theirs = await replica(await temporarySqlite(), 'another secret');
  onTestFinished(() => theirs.store.close());
  const changed = [await theirs.begin(), `9${open}`, `${open}.x`, open.slice(0, -1), '', '.', '..'];
  for (const state of changed) await expect(after.end(state), state).rejects.toThrow('unknown');
  await expect(after.end(used)).rejects.toThrow('used');
  expect(await after.end(open)).toEqual(OPTIONS);
});

test('a used state never counts again, however many others are used after it', async () => {
  const { store, states, begin, end } = await replica(await temporarySqlite());
  onTestFinished(() => store.close());
  const used: string[] = [];
  for (let install = 0; install < 300; install += 1) {
    await clock.advance(1);
    used.push(await begin());
    await end(used.at(-1) ?? '');
  }
  for (let install = 0; install < 3_000; install += 1) {
    await clock.advance(1);
    await end(await begin());
  }
  const again = await Promise.allSettled(used.map(end));
  expect(again.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  const marks = await store.of(GLOBAL).collection('install-used', z.unknown()).list();
  expect(marks.length).toBeGreaterThan(150);
  expect(
    marks.filter(({ id }) => !/^\d{1,4}$/.test(id)),
    'in 10,000 places at most',
  ).toEqual([]);
  // Some were forgotten, and are as those that took too long.
  expect(new Set(await Promise.all(used.map(states.findFault)))).toEqual(new Set(['used', 'expired']));
});
