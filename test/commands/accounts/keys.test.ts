import { describe, expect } from 'vitest';
import { z } from 'zod';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { sendPayload } from '../../support/signed.ts';
import { ACCOUNT, API_KEY, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

/** Users of the account at the service: whose key was used is seen by their address. */
const BEN = { email: 'ben@example.com', apiKey: 'BensKey000BensKey000BensKey000BensKey000' };
const BEA = { email: 'bea@example.com', apiKey: 'BeasKey000BeasKey000BeasKey000BeasKey000' };
const BOOKS = { email: 'books@example.com', apiKey: 'BookKey000BookKey000BookKey000BookKey000' };

type Who = keyof typeof PEOPLE;

const workspaceOf = (world: TestWorld) => world.app.workspaces.open(TEAM);
const blocksOf = (world: TestWorld, who: Who) => world.as(who).openView()?.content.blocks ?? [];

async function openForm(world: TestWorld, who: Who, line = `connect ${ACCOUNT}`): Promise<void> {
  await world.as(who).command(CHANNEL, `/deckhand ${line}`);
  await world.slack.until(() => world.as(who).openView()?.content.callback_id === 'connect');
}

async function connectKey(
  world: TestWorld,
  who: Who,
  { email, apiKey }: { email: string; apiKey: string },
  purpose: 'shared' | 'billing' | 'mine',
): Promise<void> {
  await openForm(world, who);
  const sent = { account: ACCOUNT, email, api_key: apiKey, purpose };
  expect((await world.as(who).submit('connect', sent)).outcome).toBe('ok');
  await world.slack.until(() =>
    world.slack
      .ephemerals(TEAM, PEOPLE[who])
      .some(({ text }) => /^Connected .+ with /.test(text) && text.includes(apiKey.slice(-4))),
  );
}

/** What an admin is told after the open form was sent. */
async function answerToForm(world: TestWorld, values: Record<string, string>): Promise<string> {
  const told = () => world.slack.ephemerals(TEAM, PEOPLE.admin).map(({ text }) => text);
  const before = told().length;
  expect(await world.as('admin').submit('connect', values)).toMatchObject({ outcome: 'ok' });
  await world.slack.until(() => told().length > before);
  return told().at(-1) ?? '';
}

/** Who asked the service during an act, by the addresses of the keys. Its public description needs no key. */
async function keysUsed(world: TestWorld, act: () => Promise<unknown>): Promise<Set<string | undefined>> {
  world.service.requests.clear();
  await act();
  const asked = world.service.requests.all.filter(({ path }) => !path.endsWith('/docs.json'));
  return new Set(asked.map(({ user }) => user));
}

/** What a form's radio group offers. */
const Radios = z.object({
  element: z.object({
    options: z.array(z.object({ value: z.string(), description: z.object({ text: z.string() }) })),
    initial_option: z.object({ value: z.string() }),
  }),
});
function purposesIn(world: TestWorld, who: Who) {
  const { element } = Radios.parse(blocksOf(world, who).find(({ block_id: id }) => id === 'purpose'));
  const [first] = element.options;
  return {
    values: element.options.map(({ value }) => value),
    initial: element.initial_option.value,
    replaces: first?.description.text,
  };
}

const latest = async (world: TestWorld) =>
  (await workspaceOf(world).audit.latest(1)).map(({ entry }) => entry)[0];

describe('the keys of an account', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    for (const { email, apiKey } of [BEN, BEA, BOOKS])
      world.service.world.addUser({ account: ACCOUNT, email, apiKey, billing: email !== BEN.email });
    world.service.world.addInvoice({ account: ACCOUNT, total: '11.00' });
    await workspaceOf(world).roles.set({
      admin: [PEOPLE.admin],
      operator: [],
      billing: [PEOPLE.billing],
      changedBy: PEOPLE.admin,
      changedAt: 0,
    });
  });

  test('the form asks an admin what the key is for, and takes a member’s own alone, whatever is forged', async ({
    world,
  }) => {
    await openForm(world, 'admin');
    expect(purposesIn(world, 'admin')).toEqual({
      values: ['shared', 'billing', 'mine'],
      initial: 'mine',
      replaces: `Replaces the key ••••ey00 of ${EMAIL}`,
    });
    await world.as('admin').close();
    world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    await ask(world, '/deckhand projects');
    await openForm(world, 'admin');
    expect(purposesIn(world, 'admin').initial).toBe('shared');
    await world.as('admin').close();
    await openForm(world, 'admin', 'connect globex');
    expect(blocksOf(world, 'admin').some(({ block_id: id }) => id === 'purpose')).toBe(false);
    await openForm(world, 'member', 'connect');
    expect(purposesIn(world, 'member')).toMatchObject({ values: ['mine'], initial: 'mine' });
    for (const [value, words] of [
      ['shared', 'Only admins can use'],
      ['theirs', 'Choose what the key is for.'],
    ]) {
      // Slack’s own clients send what the form offers; others may not.
      const purpose = { value, text: { type: 'plain_text', text: 'x' } };
      const sent = { account: ACCOUNT, email: BEN.email, api_key: BEN.apiKey, purpose };
      const used = await keysUsed(world, async () => {
        expect((await world.as('member').submit('connect', sent)).body).toContain(words);
      });
      expect(used.size).toBe(0);
    }
    expect(await workspaceOf(world).accounts.keys()).toMatchObject([{ email: EMAIL, purpose: 'shared' }]);
    expect(await ask(world, '/deckhand connect globex')).toContain('Only admins can use');
  });

  test('of very many accounts are all listed, in parts', async ({ world }) => {
    const names = Array.from({ length: 60 }, (_, at) => `account-${at}`);
    for (const name of names) {
      const key = { name, email: `people@${name}.example`, apiKey: BEN.apiKey, createdBy: PEOPLE.admin };
      await workspaceOf(world).accounts.connect({ ...key, state: 'ok' });
    }
    await ask(world, '/deckhand accounts');
    const listed = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member));
    await world.slack.until(() => names.every((name) => listed().includes(`*${name}*`)), { what: 'all' });
    expect(listed()).not.toMatch(/and \d+ more/);
  });

  test('nobody is shown what was looked up with the key of another', async ({ world }) => {
    world.service.world.updateUser({ account: ACCOUNT, email: BEN.email, projects: ['storefront'] });
    await connectKey(world, 'member', BEN, 'mine');
    const offered = async (who: Who): Promise<string[]> => {
      await world.as(who).shortcut('test_access');
      await world.slack.until(() => world.as(who).openView()?.content.callback_id === 'test');
      const viewId = world.as(who).openView()?.id ?? '';
      const { options } = await world.as(who).suggest({ viewId }, { actionId: 'project', query: '' });
      return options.map(({ value }) => String(value)).toSorted();
    };
    expect(await offered('billing')).toEqual(['billing-api', 'storefront']);
    expect(await offered('member')).toEqual(['storefront']);
    const { accounts, hosting } = workspaceOf(world);
    const keys = await Promise.all([PEOPLE.admin, PEOPLE.member].map((user) => accounts.resolve({ user })));
    for (const look of [hosting.servers, hosting.lastSevenDays, hosting.invoices])
      expect(
        await keysUsed(world, () => Promise.allSettled(keys.map((key) => look(key, 'storefront')))),
      ).toEqual(new Set([EMAIL, BEN.email]));
  });

  test('invoices use one’s own key, else the billing key, else the shared one, as `whoami` says', async ({
    world,
  }) => {
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
    const invoices = () => keysUsed(world, () => ask(world, '/deckhand invoices', 'billing'));
    expect(await invoices()).toEqual(new Set([EMAIL]));
    expect(await ask(world, '/deckhand whoami')).toMatch(
      new RegExp(`^You are <@${PEOPLE.member}>.*You use the shared key`),
    );
    await connectKey(world, 'admin', BOOKS, 'billing');
    expect(await latest(world)).toMatchObject({ requestedBy: PEOPLE.admin, target: 'acme/billing' });
    expect(await invoices()).toEqual(new Set([BOOKS.email]));
    expect(await ask(world, '/deckhand whoami', 'billing')).toContain('For invoices: the billing key');
    const projects = await keysUsed(world, () => ask(world, '/deckhand projects', 'billing'));
    expect(projects).toEqual(new Set([EMAIL]));
    await connectKey(world, 'billing', BEA, 'mine');
    expect(await latest(world)).toMatchObject({ what: 'connect', target: `acme/mine/${PEOPLE.billing}` });
    expect(await invoices()).toEqual(new Set([BEA.email]));
    const others = await keysUsed(world, () => ask(world, '/deckhand projects', 'admin'));
    expect(others).toEqual(new Set([EMAIL]));
    const own = await ask(world, '/deckhand whoami', 'billing');
    expect(own).toContain('You use your own key');
    expect(own).toContain(BEA.email);
    expect(own).not.toContain('billing key');
  });

  test('schedules use the shared key and invoice notices the billing key, whoever sets them up and loses their own', async ({
    world,
  }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await connectKey(world, 'admin', BEN, 'mine');
    await connectKey(world, 'admin', BOOKS, 'billing');
    const watching = await keysUsed(world, async () => {
      await ask(world, '/deckhand watch all', 'admin');
    });
    expect(watching).toEqual(new Set([EMAIL]));
    const noticing = await keysUsed(world, async () => {
      await ask(world, '/deckhand invoices notify here', 'admin');
    });
    const invoices = world.service.requests.all.filter(({ path }) => path.includes('invoices'));
    expect(noticing).toContain(BOOKS.email);
    expect(new Set(invoices.map(({ user }) => user))).toEqual(new Set([BOOKS.email]));
    await ask(world, '/deckhand digest add daily 09:00 UTC', 'admin');
    world.service.world.revokeKey({ account: ACCOUNT, email: BEN.email });
    const said = await ask(world, '/deckhand projects', 'admin');
    expect(said).toContain(`The personal key of <@${PEOPLE.admin}> for the account \`acme\` was revoked`);
    expect(said).toContain('/deckhand disconnect acme');
    await expect
      .poll(async () => (await world.app.parts.engine.stats())['settle-accounts'])
      .toMatchObject({ waiting: 0, running: 0 });
    const states = (await workspaceOf(world).schedules.all()).map(({ state }) => state.kind);
    expect(states).toEqual(['active', 'active', 'active']);
    expect(await ask(world, '/deckhand projects', 'billing')).toContain('storefront');
    const keys = (await workspaceOf(world).accounts.keys()).map(({ state }) => state);
    expect(keys).toEqual(['ok', 'broken', 'ok']);
    expect(world.slack.dms(TEAM, PEOPLE.admin)).toEqual([]);
  });

  test('an account without a shared key is said to have none, and takes a billing key whose form was open', async ({
    world,
  }) => {
    await connectKey(world, 'member', BEN, 'mine');
    await openForm(world, 'admin');
    const { accounts } = workspaceOf(world);
    const other = { name: 'other', email: EMAIL, apiKey: API_KEY, createdBy: PEOPLE.admin } as const;
    await accounts.connect({ ...other, purpose: 'shared', state: 'ok' });
    await accounts.disconnect(ACCOUNT);
    const said = await ask(world, '/deckhand projects --account acme', 'admin');
    expect(said).toContain('The account `acme` has no shared key. Try `/deckhand connect acme`.');
    expect(await ask(world, '/deckhand disconnect acme')).toContain('no shared key to use in its place');
    const sent = { account: ACCOUNT, email: BOOKS.email, api_key: BOOKS.apiKey, purpose: 'billing' };
    expect(await answerToForm(world, sent)).toContain('Next: /deckhand invoices.');
  });

  test.for([
    ['an admin connects another key', BEN, ':white_check_mark: works'],
    ['an admin connects the same key again', { email: EMAIL, apiKey: API_KEY }, ':white_check_mark: works'],
    ['an admin disconnects the account', undefined, 'No account is connected'],
    ['nobody does anything', 'nothing', ':x: the key was revoked or rotated'],
  ] as const)(
    'a 401 is for the key that was used: while it is on its way, %s',
    async ([, replacement, words], { world }) => {
      const { accounts } = workspaceOf(world);
      world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 401, delayMs: 500, times: 1 });
      const asked = world.service.requests.nextArrival(({ path }) => path.endsWith('/projects'));
      const answer = ask(world, '/deckhand projects');
      await asked;
      if (replacement === undefined) await accounts.disconnect(ACCOUNT);
      else if (replacement !== 'nothing')
        await accounts.connect({ name: ACCOUNT, ...replacement, createdBy: PEOPLE.admin, state: 'ok' });
      expect(await answer).toContain('was revoked or rotated');
      expect(await ask(world, '/deckhand accounts')).toContain(words);
    },
  );

  test('accounts lists every key with its purpose, owner and health, of which disconnect removes the one that is meant', async ({
    world,
  }) => {
    await connectKey(world, 'member', BEN, 'mine');
    await connectKey(world, 'admin', BOOKS, 'billing');
    world.service.world.revokeKey({ account: ACCOUNT, email: BEN.email });
    await ask(world, '/deckhand projects');
    const said = await ask(world, '/deckhand accounts', 'billing');
    expect(said).toContain(`:white_check_mark: works  shared key \`••••ey00\` of ${EMAIL}`);
    expect(said).toContain('works  billing key');
    expect(said).toContain(`:x: the key was revoked or rotated  personal key of <@${PEOPLE.member}>`);
    expect(said).not.toContain(BEN.apiKey);
    const card = () => world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    const click = (use: { actionId: string; selected?: string }) =>
      world.as('admin').click({ channel: CHANNEL, ts: card()?.ts ?? '' }, use);
    expect(await ask(world, '/deckhand disconnect acme', 'admin')).toContain('Which key of *acme*');
    await click({ actionId: 'disconnect:choose', selected: 'acme billing' });
    await world.slack.until(() => card()?.text.includes('Disconnect the billing key') === true);
    await click({ actionId: 'disconnect:confirm' });
    await world.slack.until(() => card()?.text.includes('is disconnected and deleted') === true);
    const left = (await workspaceOf(world).accounts.keys()).map(({ purpose }) => purpose);
    expect(left).toEqual(['shared', 'mine']);
    expect(await latest(world)).toMatchObject({ what: 'disconnect', target: 'acme/billing', result: 'done' });
  });

  test('in a channel bound to an account that is gone, no project of another is guessed', async ({
    world,
  }) => {
    world.service.world.addAccount({
      name: 'other',
      users: [{ ...BEN, role: 'admin' }],
      projects: [{ name: 'Storefront', permalink: 'storefront', servers: [{ name: 'web-9' }] }],
    });
    await openForm(world, 'admin', 'connect other');
    const form = { account: 'other', email: BEN.email, api_key: BEN.apiKey };
    expect(await answerToForm(world, form)).toContain('Next: /deckhand test --account other.');
    await world.as('admin').command(CHANNEL, '/deckhand use storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
    const { accounts } = workspaceOf(world);
    await accounts.disconnect(ACCOUNT);
    expect(await ask(world, '/deckhand test')).toContain('Which project do you mean?');
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
    await world.as('member').command(CHANNEL, '/deckhand test --account other');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 1);
  });

  test('a member disconnects a key of their own, and no other, however it is asked', async ({ world }) => {
    expect(await ask(world, '/deckhand disconnect acme')).toContain(
      'Only admins can disconnect a key that is not their own',
    );
    await connectKey(world, 'member', BEN, 'mine');
    expect(await ask(world, '/deckhand disconnect acme')).toMatch(
      /Disconnect the personal key.+<@U0BEN> uses the shared key/,
    );
    const forged = (id: string) => {
      const button = { type: 'button', action_id: 'disconnect:confirm', block_id: 'b', action_ts: '1' };
      const actions = [{ ...button, value: JSON.stringify({ id }) }];
      const forger = { team: { id: TEAM }, user: { id: PEOPLE.billing }, trigger_id: `forged-${id}` };
      const click = { ...forger, type: 'block_actions', channel: { id: CHANNEL }, actions };
      return answerTo(world, 'billing', () => sendPayload(world, click));
    };
    for (const id of [ACCOUNT, `acme mine ${PEOPLE.member}`])
      expect(await forged(id)).toContain('Only admins can disconnect a key');
    expect(await workspaceOf(world).accounts.keys()).toHaveLength(2);
    const card = () => world.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
    await world
      .as('member')
      .click({ channel: CHANNEL, ts: card()?.ts ?? '' }, { actionId: 'disconnect:confirm' });
    await world.slack.until(() => card()?.text.includes('is disconnected and deleted') === true);
    expect(await keysUsed(world, () => ask(world, '/deckhand projects'))).toEqual(new Set([EMAIL]));
  });
});

describe('a run', () => {
  test.override({ connected: true, worldOptions: { env: { FOLLOW_TIMEOUT_MINUTES: '0.01' } } });

  test('is followed with the key of who began it, and again with that of who clicks', async ({ world }) => {
    world.service.world.addUser({ account: ACCOUNT, email: BEN.email, apiKey: BEN.apiKey });
    await connectKey(world, 'member', BEN, 'mine');
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 3_600_000 });
    const root = () => world.slack.messages(TEAM, CHANNEL).at(-1);
    const shows = (words: string) => world.slack.until(() => root()?.text.includes(words) === true);
    const click = (actionId: string) =>
      world.as('billing').click({ channel: CHANNEL, ts: root()?.ts ?? '' }, { actionId });
    const begun = await keysUsed(world, async () => {
      await world.as('member').command(CHANNEL, '/deckhand test storefront');
      await shows('no longer followed');
    });
    expect(begun).toEqual(new Set([BEN.email]));
    world.service.clock.advance(3_600_000);
    const checked = await keysUsed(world, async () => {
      await click('test:check');
      await shows('both servers are reachable');
    });
    expect(checked).toEqual(new Set([EMAIL]));
    const again = await keysUsed(world, async () => {
      await click('test:again');
      await world.service.requests.seen(({ method }) => method === 'POST');
      await shows('no longer followed');
    });
    expect(again).toEqual(new Set([EMAIL]));
  });
});
