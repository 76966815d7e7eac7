import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { emptyDatabase, freshDatabase } from '../support/postgres.ts';

const Counter = z.object({ count: z.number() });

async function replicas(url: string, count: number): Promise<Store[]> {
  const stores = await Promise.all(
    Array.from({ length: count }, () => openStore(url, { onError: () => undefined })),
  );
  for (const store of stores) onTestFinished(() => store.close());
  return stores;
}

test('replicas that start at once on an empty database all come up', async () => {
  const stores = await replicas(await emptyDatabase(), 3);

  await Promise.all(stores.map((store) => store.ping()));
});

test('no update is lost between replicas, and a claim is won by one', async () => {
  const stores = await replicas(await freshDatabase(), 3);
  const counters = stores.map((store) => store.of('T1').collection('counters', Counter));

  await Promise.all(
    counters.flatMap((counter) =>
      Array.from({ length: 20 }, () =>
        counter.update('n', (current) => ({ count: (current?.count ?? 0) + 1 })),
      ),
    ),
  );
  const won = await Promise.all(counters.map((counter, n) => counter.create('claim', { count: n })));

  expect(await counters[0]?.get('n')).toEqual({ count: 60 });
  expect(won.filter(Boolean)).toHaveLength(1);
});

test('of what replicas create at once each is created once, and what cannot be stored costs itself alone', async () => {
  const stores = await replicas(await freshDatabase(), 2);
  const [first, second] = stores.map((store) => store.of('T1').collection('claims', Counter));
  if (first === undefined || second === undefined) throw new Error('two replicas are needed');
  const ids = Array.from({ length: 50 }, (_, at) => `claim ${at}`);
  const create = (claims: typeof first, id: string) => claims.create(id, { count: 1 });

  const refused = expect(create(first, 'no text \0')).rejects.toThrow();
  const won = await Promise.all([
    ...ids.map((id) => create(first, id)),
    ...ids.map((id) => create(first, id)),
    ...ids.toReversed().map((id) => create(second, id)),
  ]);

  await refused;
  expect(won.filter(Boolean)).toHaveLength(ids.length);
  expect(await first.list()).toHaveLength(ids.length);
});

test('exclusive work is alone among replicas, and another replica takes over from a dead one', async () => {
  const url = await freshDatabase();
  const stores = await replicas(url, 3);
  let inside = 0;
  let most = 0;
  await Promise.all(
    stores.flatMap((store) =>
      Array.from({ length: 5 }, () =>
        store.exclusive('k', async () => {
          inside += 1;
          most = Math.max(most, inside);
          await store.ping();
          inside -= 1;
        }),
      ),
    ),
  );
  expect(most).toBe(1);

  const held = Promise.withResolvers<void>();
  const stuck = stores[0]?.exclusive('k', () => {
    held.resolve();
    return new Promise<void>((resolve) => onTestFinished(() => resolve()));
  });
  void stuck?.catch(() => undefined);
  await held.promise;
  await endSessions(url, 'deckhand locks');
  expect(await stores[1]?.exclusive('k', async () => 'taken over')).toBe('taken over');
});

test('a session that ends while a lock is asked for is followed by another', async () => {
  const url = await freshDatabase();
  const [store] = await replicas(url, 1);
  for (let round = 0; round < 20; round += 1) {
    let isOver = false;
    const ended = endSessions(url, 'deckhand locks').then(() => {
      isOver = true;
    });
    while (!isOver) expect(await store?.exclusive('k', async () => 'done')).toBe('done');
    await ended;
  }
});

test('a session that is cut while it opens is followed by one other', async () => {
  const way = await cutting(await freshDatabase());
  const [store] = await replicas(way.url, 1);
  await endSessions(way.url, 'deckhand locks');
  way.cutNext(1);
  expect(await store?.exclusive('k', async () => 'done')).toBe('done');
});

test('a database that cuts every session is not asked without end', async () => {
  const way = await cutting(await freshDatabase());
  const [store] = await replicas(way.url, 1);
  await endSessions(way.url, 'deckhand locks');
  way.cutNext(Number.POSITIVE_INFINITY);
  await expect(store?.exclusive('k', async () => 'done')).rejects.toThrow();
});

test('more locks than connections can be held, also nested', async () => {
  const [store] = await replicas(await freshDatabase(), 1);
  const nested = Array.from({ length: 40 }, (_, n) =>
    store?.exclusive(`outer ${n}`, () => store.exclusive(`inner ${n}`, () => store.ping())),
  );
  await Promise.all(nested);
});

test('lost connections end neither the process nor the store', async () => {
  const url = await freshDatabase();
  const [store] = await replicas(url, 1);
  await store?.of('T1').collection('counters', Counter).put('n', { count: 1 });

  await endSessions(url, 'deckhand store');

  await expect
    .poll(() =>
      store
        ?.of('T1')
        .collection('counters', Counter)
        .get('n')
        .catch(() => 'failed'),
    )
    .toEqual({ count: 1 });
});

test('a database that cannot be reached is told without its password', async () => {
  const opening = openStore('postgres://deckhand:hunter2@127.0.0.1:1/deckhand');

  await expect(opening).rejects.toThrow('Postgres does not answer at 127.0.0.1:1.');
  await expect(opening).rejects.not.toThrow('hunter2');
});

/** What a restart of the database or a cut network does to open connections. */
async function endSessions(url: string, application: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
    [application],
  );
  await client.end();
}

/** A way to the database on which the next connections are reset as soon as they say something. */
async function cutting(url: string): Promise<{ url: string; cutNext(count: number): void }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let left = 0;
  const server = createServer((near) => {
    sockets.add(near.on('error', () => undefined));
    if (left > 0) {
      left -= 1;
      near.once('data', () => near.resetAndDestroy());
      return;
    }
    const far = connect(Number(port || 5432), hostname).on('error', () => near.destroy());
    sockets.add(far);
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const through = new URL(url);
  through.host = `127.0.0.1:${address.port}`;
  return { url: through.href, cutNext: (count) => (left = count) };
}
