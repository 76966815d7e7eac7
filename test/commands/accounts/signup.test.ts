import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { readSignupsLeft } from '../../../src/records/accounts.ts';
import { ask } from '../../support/asking.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const PASSWORD = 'CanaryPassword-1f2e3d4c5b6a-Canary';
const FORM = {
  email: 'new@example.org',
  password: PASSWORD,
  account_name: 'Northwind',
  terms_accepted: ['true'],
};
const MINUTE = 60_000;

describe('signing up', () => {
  let world: TestWorld;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = createManualClock(Date.now());
    world = await openTestWorld({ clock });
  });
  afterEach(() => world.stop());

  it('creates the account, connects it and says what to do next, to the person alone', async () => {
    await openForm(world);
    const answer = await world.as('admin').submit('signup', {
      ...FORM,
      full_name: 'Nora North',
      package: 'business',
      coupon: 'WELCOME',
      newsletter_opt_in: ['true'],
    });
    expect(answer.body).toContain('clear');
    expect(await privately(world, 'Northwind')).toContain('once the account works');
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    const sent = world.service.requests.all.find(({ path }) => path === '/api/v1/signup')?.body;
    expect(sent).toMatchObject({
      email: 'new@example.org',
      terms_accepted: true,
      account_name: 'Northwind',
      full_name: 'Nora North',
      package: 'business',
      coupon: 'WELCOME',
      newsletter_opt_in: true,
      client: 'deckhand',
      signup_source: 'deckhand-slack',
    });
  });

  it('is offered where nothing is connected, says to verify first, looks less and less often, and says when the key works', async () => {
    expect(await ask(world, '/deckhand', 'admin')).toContain('Create an account');
    const [welcome] = world.slack.ephemerals(TEAM, PEOPLE.admin);
    await world.as('admin').click({ channel: CHANNEL, ts: welcome?.ts ?? '' }, { actionId: 'signup:open' });
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'signup');
    await world.as('admin').submit('signup', FORM);
    await privately(world, 'Northwind');
    expect(await ask(world, '/deckhand')).toContain('is not verified yet');
    expect(await ask(world, '/deckhand projects')).toContain('once its e-mail address is verified');
    expect(await ask(world, '/deckhand accounts')).toContain('waiting for its e-mail to be verified');

    await looksAfter(world, clock, 34_000);
    await looksAfter(world, clock, 68_000);
    await planned(world);
    expect(world.slack.dms(TEAM, PEOPLE.admin)).toEqual([]);
    await verify(world);
    await looksAfter(world, clock, 140_000);
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.admin).length === 1);
    const [told] = world.slack.dms(TEAM, PEOPLE.admin);
    expect(told?.text).toContain('is verified. The key works');
    expect(await planned(world, 0)).toBe(0);
    await world.as('admin').command(CHANNEL, '/deckhand projects');
    await privately(world, 'No projects');
  });

  it.each([
    ['the only account', false, 'Commands use it, because no other account is connected.'],
    ['one of two', true, 'Commands still use `acme`.'],
  ])('says first that the service chose another name, which is %s', async (_, isConnected, words) => {
    if (isConnected) await world.connect();
    await openForm(world);
    await world.as('admin').submit('signup', { ...FORM, account_name: 'ACME' });
    const answer = await privately(world, 'acme-2');
    expect(answer).toContain('"text":":warning: *The account is named `acme-2`*, not `ACME`');
    expect(answer).toContain(words);
    const { accounts } = world.app.workspaces.open(TEAM);
    expect(await accounts.defaultName()).toBe(isConnected ? 'acme' : 'acme-2');
    // The account that was meant becomes the default.
    if (!isConnected) await world.connect();
    expect(await accounts.defaultName()).toBe('acme');
  });

  it('gives up after a week, and says so once', async () => {
    await openForm(world);
    await world.as('admin').submit('signup', FORM);
    await planned(world);
    await looksAfter(world, clock, 7 * 24 * 60 * MINUTE - MINUTE);
    // The one after the week has passed.
    await looksAfter(world, clock, 16 * MINUTE);
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.admin).length === 1);
    expect(world.slack.dms(TEAM, PEOPLE.admin)[0]?.text).toContain('not verified within 7 days');
    expect(await planned(world, 0)).toBe(0);
  });

  it('signs up once, however often the button is clicked, names the account beside the default one, and stops looking once it is disconnected', async () => {
    await world.connect();
    await openForm(world);
    const ann = world.as('admin');
    const { terms_accepted: _, ...incomplete } = FORM;
    expect((await ann.submit('signup', incomplete)).errors).toHaveProperty('terms_accepted');
    expect(signups(world)).toBe(0);
    const answers = await Promise.all([
      ann.submit('signup', FORM),
      ann.submit('signup'),
      ann.submit('signup'),
    ]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(signups(world)).toBe(1);
    expect(await privately(world, 'Northwind')).toContain('/deckhand projects --account northwind');
    const told = world.slack.ephemerals(TEAM, PEOPLE.admin).filter(({ text }) => text.includes('Northwind'));
    expect(told).toHaveLength(1);
    await planned(world);
    await world.app.workspaces.open(TEAM).accounts.disconnect('northwind');
    await clock.advance(MINUTE);
    expect(await planned(world, 0)).toBe(0);
    expect(world.slack.dms(TEAM, PEOPLE.admin)).toEqual([]);
  });

  it('speaks of the limit once one attempt is left, and says when the next is free', async () => {
    await openForm(world);
    expect(shown(world)).not.toContain('this hour');
    const ann = world.as('admin');
    const first = await ann.submit('signup', { ...FORM, password: 'short' });
    expect(first.errors?.password).not.toContain('this hour');
    const second = await ann.submit('signup', { ...FORM, password: 'tiny' });
    expect(second.errors?.password).toContain('Last attempt this hour.');
    const third = await ann.submit('signup', { ...FORM, password: 'small' });
    // Slack shows an error of a field as plain text.
    expect(third.errors?.password).toMatch(/You can try again \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/);
    await ann.close();
    await openForm(world);
    expect(shown(world)).toContain('No attempts are left this hour. You can try again <!date^');
    await ann.submit('signup', FORM);
    expect(shown(world)).toContain('too many sign-up attempts. Try again <!date^');
    const { store } = world.app.workspaces.open(TEAM);
    const anHourLater = await readSignupsLeft(store, clock.now() + 60 * MINUTE);
    expect(anHourLater).toEqual({ perHour: 3, remaining: 3, freeAt: undefined });
  });

  it('tells of a slow sign-up once it is done, and puts all back but the password where it failed', async () => {
    await openForm(world);
    world.service.faults.add({ path: '/api/v1/signup', delayMs: 1_000, status: 409, body: {}, times: 1 });
    expect(await submitSlowly(world, clock)).toContain('One moment');
    await world.slack.until(() => shown(world).includes('Choose another'));
    expect(shown(world)).toContain('"initial_value":"new@example.org"');
    expect(shown(world)).not.toContain(PASSWORD);
    world.service.faults.add({ path: '/api/v1/signup', delayMs: 1_000, afterHandling: true, times: 1 });
    expect(await submitSlowly(world, clock)).toContain('One moment');
    await privately(world, 'Northwind');
    expect(shown(world)).toContain('Done');
  });

  it('leaves neither password nor key in a log line, the database or anything sent to Slack', async () => {
    await openForm(world);
    const ann = world.as('admin');
    world.service.faults.add({ path: '/api/v1/signup', status: 500, times: 1 });
    await ann.submit('signup', FORM);
    world.service.faults.add({ path: '/api/v1/signup', status: 422, times: 1, body: { base: ['No.'] } });
    await ann.submit('signup');
    await ann.submit('signup', FORM);
    await privately(world, 'Northwind');
    await looksAfter(world, clock, MINUTE);
    await verify(world);
    await planned(world);
    await looksAfter(world, clock, 2 * MINUTE);
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.admin).length === 1);
    const key = world.service.world.state.accounts.get('northwind')?.users[0]?.apiKey ?? '';
    expect(key).toHaveLength(40);
    const places = {
      log: world.logs.join('\n'),
      database: await bytesIn(world.folder),
      slack: JSON.stringify(world.slack.calls),
      answers: JSON.stringify(world.slack.deliveries.map(({ body }) => body)),
    };
    for (const [place, text] of Object.entries(places))
      for (const secret of [PASSWORD, key])
        for (const form of [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')])
          expect(text.includes(form), `a secret stands in the ${place}`).toBe(false);
    expect(places.database).toContain('northwind');
  });
});

test('without a sign-up address there is no such command', async () => {
  const world = await openTestWorld({ env: { SERVICE_SIGNUP_URL: '' } });
  onTestFinished(() => world.stop());
  expect(await ask(world, '/deckhand help', 'admin')).not.toContain('signup');
});

async function openForm({ as, slack }: TestWorld): Promise<void> {
  await as('admin').command(CHANNEL, '/deckhand signup');
  await slack.until(() => as('admin').openView()?.content.callback_id === 'signup');
}

/** Sends the form, and lets the front door's patience run out before the service answers. */
async function submitSlowly(world: TestWorld, clock: ManualClock): Promise<string> {
  const arrived = world.service.requests.nextArrival(({ path }) => path === '/api/v1/signup');
  const answer = world.as('admin').submit('signup', FORM);
  await arrived;
  await clock.advance(2_000);
  return (await answer).body;
}

function shown(world: TestWorld): string {
  return JSON.stringify(world.as('admin').openView()?.content.blocks);
}

function signups({ service }: TestWorld): number {
  return service.requests.all.filter(({ path }) => path === '/api/v1/signup').length;
}

/** The whole of the private message with these words. */
async function privately({ slack }: TestWorld, words: string): Promise<string> {
  const seen = (): string | undefined =>
    slack
      .ephemerals(TEAM, PEOPLE.admin)
      .map((message) => JSON.stringify(message).replaceAll('\\"', '"'))
      .find((text) => text.includes(words));
  await slack.until(() => seen() !== undefined);
  return seen() ?? '';
}

/** Moves time on once a look is planned, and waits for the service to be asked. */
async function looksAfter(world: TestWorld, clock: ManualClock, ms: number): Promise<void> {
  await planned(world);
  const asked = world.service.requests.next(
    ({ account, path }) => account === 'northwind' && path === '/projects',
  );
  await clock.advance(ms);
  await asked;
}

/** Resolves when so many looks wait, and none runs. */
async function planned({ app }: TestWorld, count = 1): Promise<number> {
  return vi.waitFor(
    async () => {
      const stats = (await app.parts.engine.stats())['watch-verification'];
      const { waiting = 0, later = 0, running = 0 } = stats ?? {};
      if (later !== count || waiting + running !== 0) throw new Error(`${later} looks wait, ${running} run`);
      return later;
    },
    { timeout: 60_000 },
  );
}

async function verify({ service }: TestWorld): Promise<void> {
  const mail = service.world.state.outbox.findLast(({ to }) => to === FORM.email);
  const page = await fetch(mail?.link ?? '');
  if (!page.ok) throw new Error('the link does not verify');
}

async function bytesIn(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((name) => name.includes('sqlite'));
  const contents = await Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')));
  return contents.join('\n');
}
