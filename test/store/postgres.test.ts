import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { getConstructionPlans } from 'pg-boss';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Fault } from '../../src/cli/program.ts';
import { callProgram } from '../../src/cli/program.ts';
import { SCHEMA } from '../../src/cli/schema.ts';
import { startFault } from '../../src/cli/start.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { openBackend } from '../../src/open.ts';
import { explainStoreFault } from '../../src/store/database-fault.ts';
import { openStore } from '../../src/store/open-store.ts';
import { POSTGRES_SCHEMA } from '../../src/store/postgres.ts';
import type { Collection, Store } from '../../src/store/store.ts';
import { startScript } from '../support/deckhand-process.ts';
import { freePort } from '../support/free-port.ts';
import { emptyDatabase, freshDatabase } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporary.ts';

const Counter = z.object({ count: z.number() });

async function replicas(url: string, count: number): Promise<Store[]> {
  const stores = await Promise.all(
    Array.from({ length: count }, () => openStore(url, { onError: () => undefined })),
  );
  for (const store of stores) onTestFinished(() => store.close());
  return stores;
}

test('replicas that start at once on an empty database lose no update, one wins a claim, and exclusive work is alone', async () => {
  const stores = await replicas(await emptyDatabase(), 3);
  const counters = stores.map((store) => store.of('T1').collection('counters', Counter));
  expect(await countTogether(counters)).toEqual({ count: 60 });
  const won = await Promise.all(counters.map((counter, n) => counter.create('claim', { count: n })));
  expect(won.filter(Boolean)).toHaveLength(1);

  let inside = 0;
  let most = 0;
  const work = (store: Store) =>
    store.exclusive('k', async () => {
      inside += 1;
      most = Math.max(most, inside);
      await store.ping();
      inside -= 1;
    });
  await Promise.all(stores.flatMap((store) => Array.from({ length: 5 }, () => work(store))));
  expect(most).toBe(1);
});

/** What twenty updates by each of them come to. */
async function countTogether(counters: ReadonlyArray<Collection<{ count: number }>>) {
  const add = (counter: Collection<{ count: number }>) =>
    counter.update('n', (current) => ({ count: (current?.count ?? 0) + 1 }));
  await Promise.all(counters.flatMap((counter) => Array.from({ length: 20 }, () => add(counter))));
  return counters[0]?.get('n');
}

test('a lock is held for as long as its work takes, and some seconds after its process was killed', async () => {
  const url = await freshDatabase();
  const holder = await startScript(holding(url));
  const [store] = await replicas(url, 1);
  let isTaken = false;
  const taken = store?.exclusive('k', async () => {
    isTaken = true;
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const leaseEnds = async () => (await client.query('SELECT until FROM deckhand_leases')).rows[0]?.until;
  const first = await leaseEnds();
  await expect.poll(leaseEnds, { message: 'the lease to be renewed' }).not.toEqual(first);
  expect(isTaken).toBe(false);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await client.query("UPDATE deckhand_leases SET until = until - interval '6 seconds'");
  await taken;
});

const OPEN_STORE = join(import.meta.dirname, '..', '..', 'src', 'store', 'open-store.ts');

/** A script that holds the lock. */
const holding = (url: string) => `import { openStore } from ${JSON.stringify(OPEN_STORE)};
  const store = await openStore(${JSON.stringify(url)});
  await store.exclusive('k', () => { console.log('held'); return new Promise(() => setInterval(() => 0, 1000)); });`;

describe('a user who may create nothing', () => {
  const GRANTS = [
    'GRANT SELECT, INSERT, UPDATE, DELETE ON public.keyv, public.deckhand_leases TO $USER;',
    'GRANT USAGE ON SCHEMA pgboss TO $USER;',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgboss TO $USER;',
  ];
  const MADE = [POSTGRES_SCHEMA, getConstructionPlans(), ...GRANTS];

  /** How a start on this database ends; undefined if it goes well. */
  async function startAs(url: string): Promise<Fault | undefined> {
    try {
      const { engine, close } = await openBackend(url, { clock: systemClock });
      await engine.start().finally(() => engine.stop(0).then(close));
      return undefined;
    } catch (error) {
      return startFault(error, url);
    }
  }

  /** The address of a database with these statements, for a user of its own. */
  async function asUser(...statements: string[]): Promise<{ url: string; user: string }> {
    const url = await emptyDatabase();
    const user = `app_${randomUUID().slice(0, 8)}`;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const each of [`CREATE ROLE ${user} LOGIN`, ...statements])
      await client.query(each.replace('$USER', user));
    await client.end();
    const own = new URL(url);
    own.username = user;
    return { url: own.href, user };
  }

  test('needs no other rights than the documentation lists, once its owner has run what deckhand schema prints', async () => {
    const { out: schema } = await callProgram(SCHEMA, [], {});
    // After an upgrade it is run again.
    const { url } = await asUser(schema, schema, ...GRANTS);
    const { store, engine, close } = await openBackend(url, { clock: systemClock });
    const counters = store.of('T1').collection('counters', Counter);
    await counters.put('n', { count: 1 });
    await counters.update('n', () => ({ count: 2 }));
    expect(await counters.list()).toEqual([{ id: 'n', doc: { count: 2 } }]);
    await store.erase('T1');
    expect(await counters.get('n')).toBeUndefined();
    await engine.start();
    await engine.send('T1', { queue: 'q', schema: Counter }, { count: 1 });
    expect((await engine.stats()).q?.waiting).toBe(1);
    await engine.stop(0);
    await close();
    const docs = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    for (const grant of GRANTS) expect(docs).toContain(grant.replace('$USER', 'deckhand'));
  });

  test.each([
    ['the tables', [], 'may not create tables', 'permission denied for schema public. Have their owner run'],
    ['the schema', ['DROP SCHEMA public'], 'schema "public" does not exist'],
    [
      'a right',
      [
        POSTGRES_SCHEMA,
        'GRANT SELECT ON public.keyv TO $USER',
        'GRANT ALL ON public.deckhand_leases TO $USER',
      ],
      'INSERT on keyv is not granted. Have its owner grant it',
    ],
    [
      'INSERT on jobs',
      [...MADE, 'REVOKE INSERT ON pgboss.job_common FROM $USER'],
      'INSERT on pgboss.job_common is not granted',
    ],
    [
      'the use of a schema',
      [...MADE, 'REVOKE USAGE ON SCHEMA pgboss FROM $USER'],
      'permission denied for schema pgboss. Have its owner grant it',
    ],
  ])('is told in one sentence what is missing: %s', async (_, statements, ...words) => {
    const { url } = await asUser(...statements);
    const fault = await startAs(url);
    expect(fault).toMatchObject({ exitCode: 78 });
    for (const each of words) expect(fault?.sentence).toContain(each);
  });
});

test.each([
  [
    'in LATIN1',
    "ENCODING 'LATIN1'",
    'on',
    'in LATIN1, which lacks letters that people use. Create one with ENCODING',
  ],
  ['in LATIN9', "ENCODING 'LATIN9'", 'on', 'is encoded in LATIN9'],
  ['with other strings', '', 'off', 'has standard_conforming_strings off. Switch it on'],
])('a database %s is refused at the start', async (_, encoding, strings, sentence) => {
  const url = await oddDatabase(encoding, strings);
  await expect(openStore(url)).rejects.toMatchObject({
    message: expect.stringContaining(sentence),
    isTemporary: false,
  });
});

test('a database that converts nothing keeps every letter', async () => {
  const [store] = await replicas(await oddDatabase("ENCODING 'SQL_ASCII'", 'on'), 1);
  const names = store?.of('T1').collection('names', z.object({ name: z.string() }));
  await names?.put('Łukasz', { name: '🚀 Łukasz' });
  expect(await names?.list()).toEqual([{ id: 'Łukasz', doc: { name: '🚀 Łukasz' } }]);
});

async function oddDatabase(encoding: string, strings: string): Promise<string> {
  const url = new URL(await emptyDatabase());
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  url.pathname = `odd_${randomUUID().slice(0, 8)}`;
  const name = url.pathname.slice(1);
  await client.query(`CREATE DATABASE ${name} ${encoding} TEMPLATE template0`);
  await client.query(`ALTER DATABASE ${name} SET standard_conforming_strings = ${strings}`);
  await client.end();
  return url.href;
}

test('TLS that the server does not offer is said once, and as a fault of the configuration', async () => {
  const url = new URL(await emptyDatabase());
  url.searchParams.set('sslmode', 'require');
  await expect(openStore(url.href)).rejects.toMatchObject({
    message: `Postgres at ${url.host} offers no TLS. Switch it on there, or take sslmode out of STORE_URL.`,
    isTemporary: false,
  });
});

test('a database that can only be read, such as a standby, is a fault of the configuration', async () => {
  const url = new URL(await freshDatabase());
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const [store] = await replicas(url.href, 1);
  const fault = await store?.ping().catch((error: unknown) => explainStoreFault(url.href, error));
  expect(fault).toMatchObject({ message: expect.stringContaining('can only be read'), isTemporary: false });
});

/** A pooler in transaction mode before the database; undefined where there is none on this machine. */
async function pooled(url: string): Promise<string | undefined> {
  const program = '/usr/sbin/pgbouncer';
  if (!existsSync(program)) return undefined;
  const { port, pathname, username } = new URL(url);
  const listen = await freePort();
  const file = join(await temporaryFolder(), 'pgbouncer.ini');
  const lines = [
    `[databases]\n${pathname.slice(1)} = host=127.0.0.1 port=${port} user=${username}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${listen}`,
    'auth_type = any\npool_mode = transaction\ndefault_pool_size = 3\nunix_socket_dir =\nlogfile =',
    'ignore_startup_parameters = extra_float_digits,statement_timeout',
  ];
  await writeFile(file, lines.join('\n'));
  const child = spawn(program, process.getuid?.() === 0 ? ['-u', 'nobody', file] : [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface(child.stderr)) if (line.includes('process up')) break;
  const through = new URL(url);
  through.port = String(listen);
  return through.href;
}

test('behind a pooler that gives each transaction another session, locks are held and freed', async (context) => {
  const url = await pooled(await freshDatabase());
  if (url === undefined) return context.skip('PgBouncer is not installed here');
  const stores = await replicas(url, 2);
  const counters = stores.map((store) => store.of('T1').collection('counters', Counter));
  expect(await countTogether(counters)).toEqual({ count: 40 });
  const inner = () => stores[0]?.exclusive('inner', async () => 'free') ?? Promise.reject();
  expect(await stores[1]?.exclusive('outer', inner)).toBe('free');
});
