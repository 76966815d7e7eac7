import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { MIGRATE } from '../../src/cli/migrate.ts';
import { callProgram } from '../../src/cli/program.ts';
import { SCHEMA } from '../../src/cli/schema.ts';
import { readBack, withSide } from '../../src/cli/stores.ts';
import { readVersion } from '../../src/config.ts';
import { createPushes } from '../../src/records/pushes.ts';
import { createSchedules, SCHEDULE_KINDS } from '../../src/records/schedules.ts';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { answerTo, ask } from '../support/asking.ts';
import { byLength } from '../support/length.ts';
import { PUBLIC_URL } from '../support/linking.ts';
import { emptyDatabase } from '../support/postgres.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';
import { deploy, fillStore, listFollowed, ONE_EACH, openOn, SHOPS, SHOPS_CHANNEL } from './fill-store.ts';

/** The stores that releases left, of Thursday morning. `MAKE_STORE=1 vitest run test/releases` makes this release's. */
const listStores = (kind: 'sqlite' | 'sql') =>
  globSync(`*.${kind}.gz`, { cwd: import.meta.dirname }).toSorted();
/** With every change the earliest store on SQLite, and the latest on Postgres. */
const FIXTURES = byLength(
  [...listStores('sqlite').slice(0, 1), ...listStores('sql').slice(-1)],
  [...listStores('sqlite'), ...listStores('sql')],
);
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
  expect(await callProgram(MIGRATE, ['--from', from, '--to', to], { ENCRYPTION_KEYS })).toMatchObject({
    code: 0,
  });
  const client = new pg.Client({ connectionString: to });
  await client.connect();
  await moveJobs(client, MADE_AT, 'from');
  const statements = [(await callProgram(SCHEMA, [], {})).out];
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
  '|*Storefront*> in `acme`: the last 7 days, every Monday at 09:00, Europe/Lisbon, skipped if nothing was deployed',
  '|*Storefront*> in `acme`: every day at 09:00, Europe/Lisbon, in <#C0DEPLOYS>',
  '|*Billing API*> in `acme`: failures, mentions @bea after 15 min',
  '*Recovery*\\n*Storefront*: 1 outage',
  '09:00 UTC>* in <#C0DEPLOYS>, <@U0ANN> is on it',
  '|*Storefront*> in `acme`: ',
];
const ANSWERS: ReadonlyArray<[line: string, words: string, who?: 'billing']> = [
  ['accounts', 'works  shared key `••••ey00` of ann@example.com, connected by <@U0ANN>'],
  ['whoami', 'billing in Deckhand. Linked', 'billing'],
  ['use', '*Storefront*'],
  ['me', 'You are mentioned when a deployment by *Ann Admin* fails in `acme`'],
  ['unwatch mine', 'no more direct messages about your own deployments'],
  ['audit 50', 'Add a server: acme/storefront/shop'],
];

/** Each kind, cadence, option and state of a schedule, in the order of their set-up. */
const PAUSED = (cause: string) => ({ state: { kind: 'paused', cause } });
const MENTION = { mention: PEOPLE.billing, name: 'bea' };
const SCHEDULES = [
  { kind: 'digest', cadence: { kind: 'weekly', day: 'mon', time: '09:00' }, skipQuiet: true },
  { kind: 'digest', cadence: { kind: 'weekdays', time: '07:30' }, range: 'today', state: { kind: 'active' } },
  { kind: 'digest', cadence: { kind: 'daily', time: '06:15' }, range: 'this_week', ...PAUSED('person') },
  { kind: 'digest', cadence: { kind: 'cron', cron: '0 5 1 * *' }, snoozedUntil: expect.any(Number) },
  { kind: 'digest', account: 'second', ...PAUSED('account') },
  { kind: 'guard', cadence: { kind: 'daily' }, project: { name: 'Storefront' } },
  { kind: 'guard', cadence: { kind: 'hourly' }, escalation: { ...MENTION, after: 5 } },
  { kind: 'guard', cadence: { kind: 'weekdays' }, channel: 'C0BILLING', ...PAUSED('channel') },
  { kind: 'watch', mode: 'failures', escalation: { ...MENTION, after: 15 } },
  { kind: 'watch', mode: 'transitions', hours: { from: '22:00', to: '06:00' } },
  { kind: 'watch', server: { name: 'web-1' }, hours: { from: '09:00', to: '18:00', zone: 'Europe/Lisbon' } },
  { kind: 'watch', mode: 'all', project: { name: 'Storefront' } },
  { kind: 'watch', person: PEOPLE.admin, mutedUntil: expect.any(Number) },
  { kind: 'invoices', account: ACCOUNT },
];
/** What 1.1.0 brought, in a channel of its own. */
const SHOP = { channel: SHOPS_CHANNEL, project: { name: 'Shop 1' } };
const SHOP_SCHEDULES = [
  { kind: 'digest', ...SHOP, cadence: { kind: 'weekly' }, range: 'since_last' },
  { kind: 'guard', ...SHOP, cadence: { kind: 'hourly' } },
  { kind: 'watch', ...SHOP, mode: 'failures' },
  { kind: 'watch', channel: SHOPS_CHANNEL, pattern: 'shop-*', server: { names: ['web-*'] } },
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

/** The outage, the quiet and the ledger of 1.1.0 go on. */
async function expectShops(world: TestWorld): Promise<void> {
  const askThere = (line: string) =>
    answerTo(world, 'admin', () => world.as('admin').command(SHOPS_CHANNEL, `/deckhand ${line}`));
  expect(await askThere('failing')).toContain('5 projects of acme');
  expect(await askThere('quiet')).toContain('Shop 6');
  expect(await askThere('history shop-1')).toContain('deploy failed');
  for (const name of SHOPS) deploy(world, name.toLowerCase().replace(' ', '-'), true);
  await expect.poll(() => askThere('failing')).toContain('Nothing followed here is failing');
}

test.each(FIXTURES)('what people set up is there, and goes on, in the store %s', async (fixture) => {
  setClock(NEXT_MORNING);
  const url = await restore(fixture);
  const hasShops = !fixture.startsWith('1.0.');
  const all = [...SCHEDULES, ...(hasShops ? SHOP_SCHEDULES : [])];
  const followed = await withSide(url, 'read', async (side) => {
    expect(await readBack(side, parseEncryptionKeys(ENCRYPTION_KEYS))).toMatchObject({ shut: [] });
    const store = side.store.of(TEAM);
    expect(await createSchedules(store).all()).toMatchObject(
      SCHEDULE_KINDS.flatMap((kind) => all.filter((one) => one.kind === kind)),
    );
    expect(await createPushes(store).list()).toMatchObject([{ state: 'on', publicUrl: PUBLIC_URL }]);
    return listFollowed(store);
  });
  const world = await openOn(url);
  onTestFinished(() => world.stop());
  for (const [line, words, who = 'admin'] of ANSWERS)
    expect(await ask(world, `/deckhand ${line}`, who)).toContain(words);
  expect(await ask(world, '/deckhand doctor')).not.toContain('cannot be read');
  // No call of the service came to 1.0.0.
  const calls = hasShops
    ? 'The service tells of deployments within seconds'
    : 'Calls of the service do not arrive';
  expect(await ask(world, '/deckhand watch list', 'admin')).toContain(calls);
  if (hasShops) await expectShops(world);
  // A run and a server that were followed go on in the messages that the release posted, which this Slack lacks.
  const isEdited = (message: string) => () =>
    world.slack.calls.some(({ method, args }) => method === 'chat.update' && args.ts === message);
  expect(followed).toEqual(ONE_EACH);
  for (const message of [...followed.runs, ...followed.servers])
    await world.slack.until(isEdited(message), { what: 'an edit of a followed message' });
  // This service knows neither, so both end.
  await expect.poll(() => listFollowed(world.app.parts.store.of(TEAM))).toEqual({ runs: [], servers: [] });
  await world.as('billing').openHome();
  const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.billing)?.content);
  for (const words of ON_HOME) await expect.poll(home).toContain(words);

  const posted = (words: string) => () =>
    world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes(words));
  const late = /^Deployment digest, today\. Late: this was due [^.]*\. Storefront/;
  const isDigest = () => world.slack.messages(TEAM, CHANNEL).some(({ text }) => late.test(text));
  await world.slack.until(isDigest, { what: 'the digest' });
  deploy(world, 'billing-api', true);
  const noFailure = /Nothing followed here is failing|No failure is open here/;
  await expect.poll(() => ask(world, '/deckhand failing')).toMatch(noFailure);
  deploy(world, 'storefront', true);
  await world.slack.until(posted('1 deployment succeeded in acme. Storefront: '), { what: 'the event' });
});
