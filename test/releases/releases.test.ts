import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { MIGRATE } from '../../src/cli/migrate.ts';
import { runProgram } from '../../src/cli/program.ts';
import { SCHEMA } from '../../src/cli/schema.ts';
import { readBack, withSide } from '../../src/cli/stores.ts';
import { readVersion } from '../../src/config.ts';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { ask } from '../support/asking.ts';
import { openBrowser } from '../support/installing.ts';
import { CLIENT, linkButton, openLinkBrowser, PUBLIC_URL, SECRET } from '../support/linking.ts';
import { emptyDatabase } from '../support/postgres.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

/** The stores that releases left, of Thursday morning. `MAKE_STORE=1 vitest run test/releases` makes this release's. */
const FIXTURES = globSync('*.gz', { cwd: import.meta.dirname });
const MADE_AT = '2026-11-26T09:00:00Z';
/** A minute after a digest was due. */
const NEXT_MORNING = '2026-11-27T07:31:00Z';
const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const fileOf = (url: string) => url.slice('sqlite://'.length);

/** Sets the wall clock, so that records expire in the same way in all years. */
function setClock(time: string): void {
  const { now } = Date;
  const ahead = Date.parse(time) - now();
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead);
}

/** One schedule of each kind stays. */
const LINES = [
  'me Ann Admin',
  'use storefront',
  'accounts default acme',
  'digest add weekly:mon 09:00 Europe/Lisbon last_7_days --skip-quiet',
  'digest add weekdays 07:30 UTC today',
  'guard add storefront daily 09:00 Europe/Lisbon',
  'watch storefront failures --server web-1 --hours 9-18',
  'unwatch storefront',
  'watch billing-api failures',
  'watch mine',
  'invoices notify here',
  'watch storefront all',
];

/** Opens Deckhand on a store, with the projects that its records name. */
async function openOn(url: string): Promise<TestWorld> {
  const world = await openTestWorld({
    env: {
      STORE_URL: url,
      NOTICE_INTERVAL_MS: '40',
      PUBLIC_URL,
      SERVICE_OAUTH_CLIENT_ID: CLIENT.id,
      SERVICE_OAUTH_CLIENT_SECRET: SECRET,
    },
    oauth: { oauthClients: [CLIENT] },
    projects: ['Storefront', 'Billing API'].map((name) => ({
      name,
      identifier: `project-of-${name}`,
      servers: [{ name: 'web-1' }],
    })),
    speed: 1,
  });
  for (const user of world.service.world.state.accounts.get(ACCOUNT)?.users ?? []) user.billing = true;
  world.slack.invite(TEAM, CHANNEL, 'bot');
  return world;
}

function deploy({ service }: TestWorld, project: string, succeeded: boolean): void {
  service.world.addDeployment({ account: ACCOUNT, project, succeeded, endedAt: Date.now() });
}

/** Does what people do, until every collection has a document. */
async function fillStore(url: string): Promise<void> {
  const first = await openOn(url);
  first.slack.uninstall(TEAM);
  await first.logged('"event":"uninstalled"');
  await first.stop();

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
  deploy(world, 'billing-api', false);
  await sees('deployments are failing since');
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
  const browser = openLinkBrowser(world);
  const { location } = await browser.go(await linkButton(world, 'billing'));
  await browser.open(await browser.decide(location, 'approve'));
  await browser.go(await linkButton(world));
  await linkButton(world, 'admin');
  // This run goes on in the next release.
  await changes(() => press('test:again'));
  await world.stop();

  const many = await openTestWorld({ env: { STORE_URL: url }, byOauth: true });
  await openBrowser(many).install(TEAM, PEOPLE.admin);
  await many.stop();
}

/** @throws Error if a collection has no document */
function packSqlite(file: string): Buffer {
  const database = new DatabaseSync(file);
  const keys = database.prepare('SELECT key FROM keyv').all();
  database.exec('VACUUM; PRAGMA journal_mode = DELETE');
  database.close();
  const sources = globSync('src/**/*.ts').map((path) => readFileSync(path, 'utf8'));
  const names = sources.flatMap((text) =>
    [...text.matchAll(/collection\('([\w-]+)'/g)].map(([, name]) => name),
  );
  // The mark of an uninstall goes after some minutes.
  expect(names.filter((name) => !keys.some(({ key }) => String(key).split('/')[1] === name))).toEqual([
    'uninstalled',
  ]);
  return readFileSync(file);
}

/** The statements that make the same store on Postgres. */
async function dumpPostgres(from: string): Promise<string> {
  const to = await emptyDatabase();
  expect(await runProgram(MIGRATE, ['--from', from, '--to', to], { ENCRYPTION_KEYS })).toMatchObject({
    code: 0,
  });
  const client = new pg.Client({ connectionString: to });
  await client.connect();
  await moveJobs(client, MADE_AT, 'from');
  const statements = [(await runProgram(SCHEMA, [], {})).out];
  for (const table of ['public.keyv', 'pgboss.queue', 'pgboss.job']) {
    const { rows } = await client.query(`SELECT json_agg(t)::text AS text FROM ${table} t`);
    const text = client.escapeLiteral(rows[0].text);
    statements.push(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${text});\n`);
  }
  await client.end();
  return statements.join('');
}

test.runIf(process.env.MAKE_STORE === '1')('the store of this release is made', async () => {
  setClock(MADE_AT);
  const url = await temporarySqlite();
  await fillStore(url);
  const name = join(import.meta.dirname, readVersion());
  writeFileSync(`${name}.sql.gz`, gzipSync(await dumpPostgres(url), { level: 9 }));
  writeFileSync(`${name}.sqlite.gz`, gzipSync(packSqlite(fileOf(url)), { level: 9 }));
});

const ON_HOME = [
  '*Storefront* in `acme`: the last 7 days, every Monday at 09:00, Europe/Lisbon, skipped if nothing was deployed',
  '*Storefront* in `acme`: every day at 09:00, Europe/Lisbon, in <#C0DEPLOYS>',
  '*Billing API* in `acme`: failures, in <#C0DEPLOYS>',
  '*Invoice notices* of `acme`',
  '09:00 UTC>* in <#C0DEPLOYS>, <@U0ANN> is on it',
  '*Storefront* in `acme`: ',
];
const ANSWERS: ReadonlyArray<[line: string, words: string, who?: 'billing']> = [
  ['accounts', 'works  shared key `••••ey00` of ann@example.com, connected by <@U0ANN>'],
  ['whoami', 'billing in Deckhand. Linked', 'billing'],
  ['use', '*Storefront*'],
  ['me', 'You are mentioned when `acme` says *Ann Admin*'],
  // Its PUBLIC_URL was another one.
  ['watch list', 'The service calls an old address of Deckhand'],
  ['unwatch mine', 'no more direct messages about your own deployments'],
  ['audit 50', '`server add` `acme/storefront/shop`'],
];

/** Moves the times of jobs to or from Postgres's own clock, which nothing can set. */
async function moveJobs(client: pg.Client, time: string, direction: 'to' | 'from'): Promise<void> {
  const shift = `${direction === 'to' ? '+' : '-'} (now() - to_timestamp(${Date.parse(time) / 1000}))`;
  const moved = ['created_on', 'start_after', 'keep_until'].map((column) => `${column} = ${column} ${shift}`);
  await client.query(`UPDATE pgboss.job SET ${moved}`);
}

/** Makes the database of a fixture. */
async function restore(fixture: string): Promise<string> {
  const bytes = gunzipSync(readFileSync(join(import.meta.dirname, fixture)));
  if (fixture.endsWith('.sqlite.gz')) {
    const url = await temporarySqlite();
    writeFileSync(fileOf(url), bytes);
    return url;
  }
  const url = await emptyDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(bytes.toString());
  await moveJobs(client, NEXT_MORNING, 'to');
  await client.end();
  return url;
}

test.each(FIXTURES)('what people set up is there, and goes on, in the store %s', async (fixture) => {
  setClock(NEXT_MORNING);
  const url = await restore(fixture);
  const { shut } = await withSide(url, 'read', (side) =>
    readBack(side, parseEncryptionKeys(ENCRYPTION_KEYS)),
  );
  expect(shut).toEqual([]);
  const world = await openOn(url);
  onTestFinished(() => world.stop());
  for (const [line, words, who = 'admin'] of ANSWERS)
    expect(await ask(world, `/deckhand ${line}`, who)).toContain(words);
  expect(await ask(world, '/deckhand doctor')).not.toContain('cannot be read');
  // A run and a server that were followed go on in the messages that the release posted, which this Slack lacks.
  const isSent = (method: string, place: string, words: RegExp) => () =>
    world.slack.calls.some(
      (call) => call.method === method && place in call.args && words.test(`${call.args.text}`),
    );
  await world.slack.until(isSent('chat.postMessage', 'thread_ts', / Started /), {
    what: 'a reply to the run',
  });
  await world.slack.until(isSent('chat.update', 'ts', /^Server \*shop\*/), { what: 'an edit of the server' });
  await world.as('billing').openHome();
  const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.billing)?.content);
  for (const words of ON_HOME) await expect.poll(home).toContain(words);

  const posted = (words: string) => () =>
    world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes(words));
  await world.slack.until(posted('Deployment digest, today. *Storefront*'), { what: 'the digest' });
  deploy(world, 'billing-api', true);
  await expect.poll(() => ask(world, '/deckhand failing')).toContain('Nothing followed here is failing');
  deploy(world, 'storefront', true);
  await world.slack.until(posted('*Storefront*  deploy completed'), { what: 'the event' });
});
