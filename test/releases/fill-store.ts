import { expect } from 'vitest';
import { z } from 'zod';
import { watchEnd } from '../../src/cli/previous-end.ts';
import { DAY_MS } from '../../src/core/time/clock.ts';
import { listQuiets } from '../../src/records/quiets.ts';
import { recordBackup } from '../../src/store/open-store.ts';
import type { WorkspaceStore } from '../../src/store/store.ts';
import { ask } from '../support/asking.ts';
import { leaveFailure } from '../support/failure-menu.ts';
import { openBrowser } from '../support/installing.ts';
import { CLIENT, linkButton, openLinkBrowser, PUBLIC_URL, SECRET } from '../support/linking.ts';
import { sendClick, sendSigned } from '../support/signed.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

/** A channel in which guards are switched off. */
const QUIET_CHANNEL = 'C0BILLING';
/** A channel that hears of these projects, which fail together. */
export const SHOPS_CHANNEL = 'C0SHOPS';
export const SHOPS = ['Shop 1', 'Shop 2', 'Shop 3', 'Shop 4', 'Shop 5'];
const QUIET_SHOP = 'Shop 6';
/** An account that is disconnected again. */
const SECOND = {
  name: 'second',
  email: 'second@example.com',
  apiKey: 'SecondKey0SecondKey0SecondKey0SecondKey0',
};

/** Each cadence, kind and option of a schedule stays. */
const LINES = [
  'me Ann Admin',
  'use storefront',
  'accounts default acme',
  'digest add weekly:mon 09:00 Europe/Lisbon last_7_days --skip-quiet',
  'digest add weekdays 07:30 UTC today',
  'digest add daily 06:15 Asia/Tokyo this_week --project all',
  'digest add cron:"0 5 1 * *" UTC last_30_days',
  'guard add storefront daily 09:00 Europe/Lisbon',
  `guard add billing-api hourly UTC --mention <@${PEOPLE.billing}|bea> --after 5m`,
  'watch storefront failures --server web-1 --hours 9-18',
  'unwatch storefront',
  `watch billing-api failures --mention <@${PEOPLE.billing}|bea> --after 15m`,
  'watch all transitions --hours 22-6',
  'watch storefront failures --server web-1 --hours 9-18',
  'watch mine',
  'invoices notify here',
  'watch storefront all',
];

/** Opens Deckhand on a store, with the projects that its records name. */
export async function openOn(url: string): Promise<TestWorld> {
  const world = await openTestWorld({
    env: {
      STORE_URL: url,
      NOTICE_INTERVAL_MS: '40',
      PUBLIC_URL,
      SERVICE_OAUTH_CLIENT_ID: CLIENT.id,
      SERVICE_OAUTH_CLIENT_SECRET: SECRET,
    },
    oauth: { oauthClients: [CLIENT] },
    channels: [{ id: SHOPS_CHANNEL, name: 'shops', members: Object.values(PEOPLE) }],
    projects: ['Storefront', 'Billing API', ...SHOPS, QUIET_SHOP].map((name) => ({
      name,
      identifier: `project-of-${name}`,
      servers: [{ name: 'web-1' }],
    })),
    speed: 1,
  });
  for (const user of world.service.world.state.accounts.get(ACCOUNT)?.users ?? []) user.billing = true;
  for (const channel of [CHANNEL, QUIET_CHANNEL]) world.slack.invite(TEAM, channel, 'bot');
  return world;
}

export function deploy({ service }: TestWorld, project: string, succeeded: boolean): void {
  service.world.addDeployment({ account: ACCOUNT, project, succeeded, endedAt: Date.now() });
}

/** A run and a server are followed. */
export const ONE_EACH = { runs: [expect.any(String)], servers: [expect.any(String)] };

/** Does what people do, until every collection has a document. */
export async function fillStore(url: string): Promise<void> {
  const first = await openOn(url);
  first.slack.uninstall(TEAM);
  await first.logged('"event":"uninstalled"');
  await first.stop();

  const many = await openTestWorld({ env: { STORE_URL: url }, byOauth: true });
  await openBrowser(many).install(TEAM, PEOPLE.admin);
  await many.stop();

  const world = await openOn(url);
  const { slack } = world;
  const ann = world.as('admin');
  const messages = () => [...slack.messages(TEAM, CHANNEL), ...slack.ephemerals(TEAM, PEOPLE.admin)];
  async function press(actionId: string, who: keyof typeof PEOPLE = 'admin'): Promise<void> {
    const all = () => [...slack.messages(TEAM, CHANNEL), ...slack.ephemerals(TEAM, PEOPLE[who])];
    const find = () => all().findLast(({ blocks }) => JSON.stringify(blocks).includes(`"${actionId}`));
    await slack.until(() => find() !== undefined, { what: actionId });
    const [, name = ''] = new RegExp(`"(${actionId}[^"]*)"`).exec(JSON.stringify(find()?.blocks)) ?? [];
    await world.as(who).click({ channel: CHANNEL, ts: find()?.ts ?? '' }, { actionId: name });
  }
  async function shows(words: string): Promise<void> {
    await slack.until(() => JSON.stringify(ann.openView()?.content ?? '').includes(words), { what: words });
    await world.app.parts.slack.idle();
  }
  async function fill(callbackId: string, ...pages: Array<Record<string, string | string[]>>): Promise<void> {
    await shows(callbackId);
    for (const page of pages) await ann.submit(callbackId, page);
    await world.app.parts.slack.idle();
  }
  const sees = (words: string) =>
    slack.until(() => JSON.stringify(messages()).includes(words), { what: words });
  async function isAsked(): Promise<boolean> {
    const { waiting = 0, running = 0 } = (await world.app.parts.engine.stats()).requests ?? {};
    return waiting + running > 0;
  }
  async function changes(act: () => unknown): Promise<void> {
    const all = () => JSON.stringify([messages(), ann.openView()]);
    const before = all();
    await act();
    await slack.until(() => all() !== before, { what: String(act) });
    await expect.poll(isAsked).toBe(false);
    await world.app.parts.slack.idle();
  }
  const say = (line: string) => changes(() => ann.command(CHANNEL, `/deckhand ${line}`));

  await world.connect();
  for (const line of LINES) await say(line);
  await changes(() => press('watch:push'));
  await fill('watch.push', {});
  await press('me:claim');
  await say('roles');
  await fill('roles', { admin: [PEOPLE.admin], operator: [PEOPLE.admin], billing: [PEOPLE.billing] });
  await say('signup');
  const person = {
    email: 'new@example.org',
    password: 'Made-up-password-1f2e3d4c',
    account_name: 'Northwind',
  };
  await fill('signup', { ...person, terms_accepted: ['true'] });
  await say('integration add storefront');
  await shows('integration.add');
  const viewId = ann.openView()?.id ?? '';
  await ann.click({ viewId }, { actionId: 'hook_type', blockId: 'hook_type', selected: 'http_req' });
  await shows('properties.url');
  const hook = { name: 'Hook', flags: ['send_on_failure'], 'properties.url': 'https://hooks.example.com/1' };
  await fill('integration.add', hook);
  await say('server add storefront');
  await fill('server.add', { name: 'shop', subdomain: 'shop-front' }, {});
  deploy(world, 'storefront', false);
  await sees('episode:close');
  const failure = messages().findLast(({ blocks }) => JSON.stringify(blocks).includes('episode:close'));
  await leaveFailure(world, 'close', { ts: failure?.ts ?? '' });
  await sees('closed by');
  deploy(world, 'billing-api', false);
  await sees('the deployment');
  deploy(world, 'billing-api', true);
  await sees('recovered after');
  deploy(world, 'billing-api', false);
  await press('episode:claim');
  await sees('is on it');
  await say('test storefront');

  await ask(world, '/deckhand use none');
  await press('access:ask', 'member');
  await ask(world, '/deckhand watch mine');
  await world.as('member').openHome();
  await pauseSchedules(world);
  await fillShops(world);
  const browser = openLinkBrowser(world);
  const { location } = await browser.go(await linkButton(world, 'billing'));
  await browser.open(await browser.decide(location, 'approve'));
  await browser.go(await linkButton(world));
  await linkButton(world, 'admin');
  // The next release takes over a run and an order of a server.
  world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 600_000 });
  await changes(() => press('test:again'));
  await say('server add storefront');
  await fill('server.add', { name: 'next', subdomain: 'shop-next' }, {});
  await expect.poll(() => listFollowed(world.app.parts.store.of(TEAM))).toEqual(ONE_EACH);
  await recordBackup(world.app.parts.store, { at: Date.now(), due: Date.now() + DAY_MS });
  await world.stop();

  const refusing = await openOn(url);
  await sendSigned(refusing, 'payload={}', { signature: 'v0=0' });
  // A killed process leaves the record of its start.
  watchEnd({ app: refusing.app, close: async () => undefined }, 0);
  await refusing.stop();
}

/** Leaves what 1.1.0 brought, in a channel of its own. */
async function fillShops(world: TestWorld): Promise<void> {
  const { slack, service, app } = world;
  const { channelIds, schedules, store } = app.workspaces.open(TEAM);
  const ann = world.as('admin');
  await ann.command(SHOPS_CHANNEL, '/deckhand setup');
  await slack.until(() => ann.openView()?.content.callback_id === 'setup', { what: 'the form' });
  await ann.suggest({ viewId: ann.openView()?.id ?? '' }, { actionId: 'projects', query: 'Shop 1' });
  await ann.submit('setup', { projects: ['shop-1'], hear: 'failures', guard: 'hourly', digest: 'weekly' });
  await expect.poll(async () => (await schedules.list('watch')).length).toBe(6);
  await ann.command(SHOPS_CHANNEL, '/deckhand watch shop-* failures --server web-*');
  await expect.poll(async () => (await schedules.list('watch')).length).toBe(7);
  await ann.command(SHOPS_CHANNEL, '/deckhand quiet for 2d shop-6');
  await expect.poll(() => listQuiets(store, SHOPS_CHANNEL, Date.now())).toHaveLength(1);

  for (const project of SHOPS)
    service.world.addDeployment({
      ...{ account: ACCOUNT, project: project.toLowerCase().replace(' ', '-'), succeeded: false },
      ...{ endedAt: Date.now(), failure: { cause: 'build' }, commit: { author: 'Ben', message: 'Fix cart' } },
    });
  const shows = (words: string) => () => JSON.stringify(slack.messages(TEAM, SHOPS_CHANNEL)).includes(words);
  await slack.until(shows('5 projects of acme'), { what: 'the outage' });

  const { integrations = [] } = service.world.state.accounts.get(ACCOUNT)?.projects[0] ?? {};
  const hook = integrations
    .map(({ properties }) => properties.url ?? '')
    .find((url) => url.startsWith(PUBLIC_URL));
  await fetch((hook ?? '').replace(PUBLIC_URL, world.origin), { method: 'POST' });
  await expect.poll(() => store.collection('pushed-reads', z.unknown()).list()).toHaveLength(1);

  slack.addChannel(TEAM, { id: 'C0BEFORE', name: 'before', is_private: true });
  slack.changeChannelId(TEAM, 'C0BEFORE', 'C0AFTER');
  await expect.poll(() => channelIds.findPresent('C0BEFORE')).toBe('C0AFTER');
}

/** The messages that show something that is still followed, by its collection. */
export async function listFollowed(store: WorkspaceStore): Promise<{ runs: string[]; servers: string[] }> {
  const followed = z.looseObject({ rootTs: z.string().optional(), shownAt: z.number().optional() });
  async function listMessages(name: string): Promise<string[]> {
    const documents = await store.collection(name, followed).list();
    return documents.flatMap(({ doc: { rootTs, shownAt } }) =>
      rootTs === undefined || shownAt !== undefined ? [] : [rootTs],
    );
  }
  return { runs: await listMessages('runs'), servers: await listMessages('followed-servers') };
}

/** Leaves a schedule in each state: paused for each reason, snoozed, and muted. */
async function pauseSchedules(world: TestWorld): Promise<void> {
  const { schedules, accounts } = world.app.workspaces.open(TEAM);
  const ann = world.as('admin');
  expect((await schedules.all()).map(({ kind }) => kind)).toEqual([
    ...Array(4).fill('digest'),
    ...Array(2).fill('guard'),
    ...Array(5).fill('watch'),
    'invoices',
  ]);
  const findDigest = async (kind: string) =>
    (await schedules.list('digest')).find(({ cadence }) => cadence.kind === kind)?.id ?? '';
  const isPaused = (cause: string) => async () =>
    (await schedules.all()).some(({ state }) => state.kind === 'paused' && state.cause === cause);

  await ann.command(CHANNEL, `/deckhand digest pause ${await findDigest('daily')}`);
  await expect.poll(isPaused('person')).toBe(true);
  await sendClick(world, 'digest:snooze', { id: await findDigest('cron') });
  await sendClick(world, 'watch:mute', { account: ACCOUNT });

  const { name, email, apiKey } = SECOND;
  const projects = [{ name: 'Blog', permalink: 'blog', servers: [{ name: 'web-1' }] }];
  world.service.world.addAccount({ name, users: [{ email, apiKey, role: 'admin' }], projects });
  await accounts.connect({ name, email, apiKey, createdBy: PEOPLE.admin, state: 'ok', purpose: 'shared' });
  await ann.command(
    CHANNEL,
    `/deckhand digest add weekly:sun 10:00 UTC last_7_days --project all --account ${name}`,
  );
  await expect.poll(async () => (await schedules.list('digest')).length).toBe(5);
  await ann.command(CHANNEL, `/deckhand disconnect ${name}`);
  const question = () =>
    world.slack
      .ephemerals(TEAM, PEOPLE.admin)
      .findLast(({ blocks }) => JSON.stringify(blocks).includes('disconnect:confirm'));
  await world.slack.until(() => question() !== undefined, { what: 'the question about the key' });
  await ann.click({ channel: CHANNEL, ts: question()?.ts ?? '' }, { actionId: 'disconnect:confirm' });
  await expect.poll(isPaused('account')).toBe(true);

  await ann.command(QUIET_CHANNEL, '/deckhand guard add billing-api weekdays 11:00 UTC');
  await expect.poll(async () => (await schedules.list('guard')).length).toBe(3);
  await ann.command(QUIET_CHANNEL, '/deckhand roles');
  await world.slack.until(() => ann.openView()?.content.callback_id === 'roles', { what: 'the roles' });
  const roles = { admin: [PEOPLE.admin], operator: [PEOPLE.admin], billing: [PEOPLE.billing] };
  await ann.submit('roles', { ...roles, commands: ['test'] });
  await expect.poll(isPaused('channel')).toBe(true);
  await world.app.parts.slack.idle();
}
