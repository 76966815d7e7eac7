import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerTo } from '../support/asking.ts';
import { BRISK, hold } from '../support/faults.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../support/test-world.ts';
import { expectAnswer, sending, typing, whoami, worldOfItsOwn } from './support.ts';

describe('a store that fails', () => {
  const TOLD = ['Deckhand cannot reach its database.', 'Try again in a minute.', 'with a reference'] as const;
  let world: TestWorld;
  let database: DatabaseSync;
  let undo: string;
  beforeEach(async () => {
    world = await openTestWorld(BRISK);
    await hold(world.app, 'ok');
    database = new DatabaseSync(join(world.folder, 'deckhand.sqlite'));
  });
  afterEach(async () => {
    database.exec(undo);
    database.close();
    await world.stop();
  });

  function loseStore(): void {
    database.exec('ALTER TABLE keyv RENAME TO lost');
    undo = 'ALTER TABLE lost RENAME TO keyv';
  }
  function refuse(table: string, condition = ''): void {
    database.exec(`CREATE TRIGGER refused BEFORE INSERT ON ${table} ${condition}
      BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END`);
    undo = 'DROP TRIGGER refused';
  }
  const refuseJobs = () => refuse('deckhand_jobs');
  /** Nothing more can be written of this collection: the store breaks in the middle of what the person does. */
  const breakCollection = (name: string) => refuse('keyv', `WHEN NEW.key LIKE '%${name}%'`);
  const LOGGED = /"event":"store_failed".*"stack"|"stack".*"event":"store_failed"/;

  it('in a command is told with a reference', async () => {
    loseStore();
    expectAnswer(world, await whoami(world), TOLD);
    expect(world.logs.join('')).toMatch(LOGGED);
  });

  const expectNothingDone = (said: string) =>
    expectAnswer(world, said, ['so nothing was done', TOLD[1], TOLD[2]]);

  it('before a change is stored is told with a reference, and nothing is done', async () => {
    refuseJobs();
    const said = await typing('test storefront')(world);
    expectNothingDone(said);
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
  });

  it('before a click or a shortcut is stored is told to who used it, and nothing is done', async () => {
    const ann = world.as('admin');
    const roots = () => world.slack.messages(TEAM, CHANNEL);
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => JSON.stringify(roots()).includes('test:again'));
    const { ts } = await ann.postMessage(CHANNEL, 'Is storefront slow?');
    refuseJobs();
    const place = { channel: CHANNEL, ts: roots()[0]?.ts ?? '' };
    const clicked = await answerTo(world, 'admin', () => ann.click(place, { actionId: 'test:again' }));
    expectNothingDone(clicked);
    const use = () => ann.shortcut('test_from_message', { channel: CHANNEL, ts });
    expectNothingDone(await answerTo(world, 'admin', use));
    expect(roots(), 'the first run, and what the admin posted').toHaveLength(2);
  });

  it('keeps nobody from a click that changes nothing', async () => {
    const shown = () => world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    await typing('help')(world);
    refuseJobs();
    await world
      .as('admin')
      .click({ channel: CHANNEL, ts: shown()?.ts ?? '' }, { actionId: 'help:group#billing' });
    await world.slack.until(() => JSON.stringify(shown()).includes('lists and sums invoices'));
  });

  it('before a form is stored is told in the form, which stays, and nothing is done', async () => {
    const ann = world.as('admin');
    await ann.command(CHANNEL, `/deckhand connect ${ACCOUNT}`);
    await world.slack.until(() => ann.openView()?.content.callback_id === 'connect');
    refuseJobs();
    const sent = { account: ACCOUNT, email: EMAIL, api_key: API_KEY, purpose: 'shared' };
    const { outcome } = await ann.submit('connect', sent);
    const shown = JSON.stringify(ann.openView()?.content ?? '');
    expect(outcome).toBe('ok');
    expectNothingDone(shown);
    expect(shown).toContain('"block_id":"api_key"');
    expect(shown).not.toContain(API_KEY);
    expect(world.service.requests.all.filter(({ path }) => path.endsWith('/projects.json'))).toEqual([]);
  });

  it('in the middle of a change lets it wait, and it is carried out once the store is well', async () => {
    breakCollection('channels');
    const { outcome } = await world.as('admin').command(CHANNEL, '/deckhand use storefront');
    expect(outcome).toBe('ok');
    await world.logged('"event":"job_failed"');
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    database.exec(undo);
    undo = '';
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('bound this channel')),
    );
  });

  it('in the middle of a form is told in the form with a reference', async () => {
    breakCollection('accounts');
    const sent = { account: ACCOUNT, email: EMAIL, api_key: API_KEY, purpose: 'shared' };
    const said = await sending(world, `connect ${ACCOUNT}`, 'connect', sent);
    expectAnswer(world, said, TOLD);
  });
});

it('a record that cannot be read is named as such, with a reference', async () => {
  const world = await worldOfItsOwn({});
  const odd = z.object({ project: z.number() });
  await world.app.parts.store.of(TEAM).collection('channels', odd).put(CHANNEL, { project: 5 });
  const told = ['A stored record cannot be read.', 'doctor', 'with a reference'] as const;
  expectAnswer(world, await typing('test')(world), told);
  expect(world.logs.join('')).toContain('"event":"store_failed"');
});
