import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/core/clock.ts';
import type { Job } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/open.ts';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { openStore } from '../../src/store/open-store.ts';
import { takeOver } from '../../src/store/origin.ts';
import { createSealer } from '../../src/store/sealer.ts';
import { BACKUP } from '../../src/transfer/backup.ts';
import { itemsOf } from '../../src/transfer/items.ts';
import { MIGRATE } from '../../src/transfer/migrate.ts';
import { carryOut } from '../../src/transfer/program.ts';
import { RESTORE } from '../../src/transfer/restore.ts';
import { ROTATE_KEYS } from '../../src/transfer/rotate-keys.ts';
import { openSide } from '../../src/transfer/side.ts';
import { collect, ONCE, type TestData, untilAborted } from '../jobs/fixtures.ts';
import { DATABASES } from '../store/databases.ts';
import { mountDisk } from '../support/disk.ts';
import { freePort } from '../support/free-port.ts';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { programFile } from '../support/program.ts';
import { type Ended, runDeckhand } from '../support/run-deckhand.ts';
import { temporaryFolder, temporarySqlite } from '../support/temporary.ts';

const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const Note = z.object({ text: z.string() });
const Sealed = z.object({ sealedKey: z.string() });
const FIELD = { record: 'accounts/acme', field: 'apiKey' };

const PROGRAMS = { backup: BACKUP, restore: RESTORE, migrate: MIGRATE, 'rotate-keys': ROTATE_KEYS };
type Run = (name: keyof typeof PROGRAMS, args: string[], env?: Record<string, string>) => Promise<Ended>;

/** As a process of its own. */
const start: Run = (program, args, env) => runDeckhand({ program, args, env: { ENCRYPTION_KEYS, ...env } });
/** A start takes ten times as long as most of what is asked here. */
const run = byLength<Run>(
  (name, args, env) => carryOut(PROGRAMS[name], args, { ENCRYPTION_KEYS, ...env }),
  start,
);
const migrate = (from: string, to: string) => run('migrate', ['--from', from, '--to', to]);

function expectSentence({ code, err, out }: Ended, exitCode: number, ...words: string[]): void {
  for (const word of words) expect(err).toContain(word);
  expect(err).toMatch(/^[^\n]+\.\n$/);
  expect(out).toBe('');
  expect(code).toBe(exitCode);
}

/** Gives the id of the job that was cut off. A store with a document, one that has ended, a sealed value, a schedule, jobs that wait, and one that was cut off. */
async function furnish(url: string, notes = 1): Promise<string | undefined> {
  const { store, engine, close } = await openBackend(url, { clock: systemClock });
  for (let at = 0; at < notes; at += 1)
    await store.of('T1').collection('notes', Note).put(`n${at}`, { text: ':smile: “é” \u{1f600}' });
  await store
    .of('T1')
    .collection('notes', Note)
    .put('over', { text: 'old' }, Date.now() - 1_000);
  const sealer = createSealer(parseEncryptionKeys(ENCRYPTION_KEYS), store).of('T1');
  const sealedKey = await sealer.seal(FIELD, 'the key');
  await store.of('T1').collection('accounts', Sealed).put('acme', { sealedKey });
  await engine.schedule('T1', 'daily', {
    cron: '0 9 * * *',
    zone: 'UTC',
    queue: 'later',
    data: { workspace: 'T1', n: 9 },
  });
  await engine.send('q', { workspace: 'T1', n: 1 }, { key: 'one' });
  await engine.send('q', { workspace: 'T1', n: 2 }, { startAfter: Date.now() + 3_600_000 });
  const cut = collect(async (job: Job<TestData>) => {
    await job.save({ ...job.data, n: 4 });
    await untilAborted(job);
  });
  await engine.send('cut', { workspace: 'T1', n: 3 }, { key: 'cut' });
  engine.work('cut', cut.handler, ONCE);
  await engine.start();
  await cut.given(1);
  await engine.stop(0);
  await close();
  return cut.jobs[0]?.id;
}

/** Everything of `furnish` is here, and goes on. */
async function expectFurnished(url: string, cutId: string | undefined, notes = 1): Promise<void> {
  const { store, engine, close } = await openBackend(url, { clock: systemClock, release: '99.0.0' });
  const cut = collect();
  const q = collect();
  engine.work('cut', cut.handler, ONCE);
  engine.work('q', q.handler, ONCE);
  await engine.start();
  await Promise.all([cut.given(1), q.given(1)]);
  expect(cut.jobs[0]).toMatchObject({
    data: { workspace: 'T1', n: 4 },
    attempt: 1,
    key: 'T1 cut',
    id: cutId,
  });
  expect(Object.keys(cut.jobs[0]?.data ?? {}).sort()).toEqual(['n', 'workspace']);
  expect(q.jobs.map(({ data }) => data.n)).toEqual([1]);
  expect(await engine.send('later', { workspace: 'T1', n: 0 })).toBe(true);
  await engine.stop(1_000);
  const docs = await store.of('T1').collection('notes', Note).list();
  expect(docs).toHaveLength(notes);
  expect(docs[0]?.doc).toEqual({ text: ':smile: “é” \u{1f600}' });
  const { sealedKey } = (await store.of('T1').collection('accounts', Sealed).get('acme')) ?? {
    sealedKey: '',
  };
  const sealer = createSealer(parseEncryptionKeys(ENCRYPTION_KEYS), store).of('T1');
  expect(await sealer.open(FIELD, sealedKey)).toBe('the key');
  await close();
}

const PAIRS = [
  { from: 'sqlite', to: 'postgres', source: temporarySqlite, target: freshDatabase, act: start },
  { from: 'postgres', to: 'sqlite', source: freshDatabase, target: temporarySqlite, act: run },
];

describe.each(PAIRS)('from $from to $to', ({ source, target, act }) => {
  test('a backup that was restored goes on where the store was', async () => {
    const [from, to] = [await source(), await target()];
    const file = join(await temporaryFolder(), 'backup');
    const cutId = await furnish(from);

    expect(await act('backup', [file], { STORE_URL: from })).toMatchObject({ code: 0, err: '' });
    const { mode } = await stat(file);
    expect(mode & 0o777).toBe(0o600);
    expect(gunzipSync(await readFile(file)).toString()).not.toContain('the key');
    const restored = await act('restore', [file], { STORE_URL: to });

    expect(restored).toMatchObject({ code: 0, err: '' });
    expect(restored.out).toContain('1 schedule and 3 jobs; sealed values opened there: 1.');
    await expectFurnished(to, cutId);
  });

  test('what was moved goes on there, and no longer starts where it was', async () => {
    const [from, to] = [await source(), await target()];
    const cutId = await furnish(from);

    expect(await act('migrate', ['--from', from, '--to', to])).toMatchObject({ code: 0, err: '' });

    await expectFurnished(to, cutId);
    const old = await openStore(from);
    onTestFinished(() => old.close());
    await expect(takeOver(old, '99.0.0')).rejects.toThrow('This store was moved to');
  });
});

test('a backup is taken while a Deckhand runs on the store', async () => {
  const url = await temporarySqlite();
  await furnish(url);
  const running = await openBackend(url, { clock: systemClock });
  onTestFinished(running.close);
  const file = join(await temporaryFolder(), 'backup');

  expect(await run('backup', [file], { STORE_URL: url })).toMatchObject({ code: 0, err: '' });
  await running.store.of('T1').collection('notes', Note).put('later', { text: 'goes on' });
  expectSentence(await migrate(url, await temporarySqlite()), 75, 'in use by another Deckhand');
});

test('a Postgres store is not moved while a Deckhand runs on it', async () => {
  const url = await freshDatabase();
  const running = await openBackend(url, { clock: systemClock });
  onTestFinished(running.close);
  expectSentence(await migrate(url, await temporarySqlite()), 75, 'A Deckhand runs on postgres://127.0.0.1');
});

/** As a restart of Postgres ends them. */
async function endSessions(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
}

describe('one sentence says what is wrong', () => {
  async function backedUp(): Promise<{ url: string; file: string }> {
    const url = await temporarySqlite();
    await furnish(url);
    const file = join(await temporaryFolder(), 'backup');
    await run('backup', [file], { STORE_URL: url });
    return { url, file };
  }

  test('with the store, the file and the keys', async () => {
    const { url, file } = await backedUp();
    const fresh = await temporarySqlite();
    expectSentence(await run('restore', [file], { STORE_URL: url }), 78, 'is not empty');
    expectSentence(await run('backup', [file], { STORE_URL: url }), 78, 'is there already');
    expectSentence(await run('backup', ['/proc/backup'], { STORE_URL: url }), 78, '/proc/backup');
    expectSentence(await run('backup', [`${file}2`], { STORE_URL: fresh }), 78, 'There is no');
    expectSentence(await run('restore', [`${file}2`], { STORE_URL: fresh }), 78, `${file}2`, 'ENOENT');
    const otherKey = `k1:${Buffer.alloc(32, 8).toString('base64')}`;
    const wrong = await run('restore', [file], { STORE_URL: fresh, ENCRYPTION_KEYS: otherKey });
    expectSentence(wrong, 78, 'does not open with the key k1');
    // Nothing of it stayed.
    expect(await run('restore', [file], { STORE_URL: fresh })).toMatchObject({ code: 0, err: '' });
  });

  test('with a backup that is cut off, changed, of a newer release, or none', async () => {
    const { file } = await backedUp();
    const bytes = await readFile(file);
    const lines = gunzipSync(bytes).toString().split('\n');
    const newer = lines[0]?.replace(/"release":"[^"]+"/, '"release":"9.0.0"') ?? '';
    const variants: Array<[bytes: Buffer, says: string]> = [
      [bytes.subarray(0, bytes.length / 2), 'is damaged, or a part of a backup'],
      [gzipSync(lines.toSpliced(2, 1).join('\n')), 'is damaged, or a part of a backup'],
      [gzipSync([newer, ...lines.slice(1)].join('\n')), 'was written by Deckhand 9.0.0, and this is'],
      [Buffer.from('a letter'), 'is no backup of Deckhand'],
      [gzipSync('{"a":1}\n'), 'is no backup of Deckhand'],
    ];
    for (const [variant, says] of variants) {
      await writeFile(file, variant);
      expectSentence(await run('restore', [file], { STORE_URL: await temporarySqlite() }), 78, says);
    }
  });

  test('with a disk that fills up, by the file that has no room', async (context) => {
    const { url, file } = await backedUp();
    const folder = await temporaryFolder();
    const disk = mountDisk(folder);
    if (disk === undefined) return context.skip('a small disk can be mounted by root on Linux alone');
    onTestFinished(disk.close);
    disk.fill();
    const full = `The disk of ${folder}`;
    expectSentence(await run('backup', [join(folder, 'backup')], { STORE_URL: url }), 75, full);
    disk.free();
    // Enough to open the store, and not to fill it.
    disk.fill(120_000);
    const target = { STORE_URL: `sqlite://${folder}/deckhand.sqlite` };
    expectSentence(await run('restore', [file], target), 75, full);
    disk.free();
    expect(await run('restore', [file], target)).toMatchObject({ code: 0, err: '' });
  });

  test('with a Postgres that goes away in the middle, by its address', async () => {
    const url = await freshDatabase();
    await furnish(url);
    const side = await openSide(url, { mode: 'read', alone: false });
    onTestFinished(() => side.close());
    const items = itemsOf(side);
    await items.next();
    await endSessions(url);
    const failed = async () => {
      for await (const _ of items);
    };
    await expect(failed()).rejects.toMatchObject({
      message: `Postgres at ${new URL(url).host} is shutting down. Wait until it is up again.`,
      isTemporary: true,
    });
  });

  test('with what was typed', async () => {
    expectSentence(await run('backup', ['--nonsense']), 64, "'--nonsense'", 'npm run backup -- --help');
    for (const name of ['restore', 'migrate', 'rotate-keys'] as const) {
      expectSentence(await run(name, name === 'rotate-keys' ? ['now'] : []), 64, 'Give ');
      expect(await run(name, ['--help'])).toMatchObject({
        code: 0,
        out: expect.stringContaining(`npm run ${name}`),
      });
    }
    expectSentence(await migrate(await temporarySqlite(), await temporarySqlite()), 78, 'There is no');
  });

  test('with the store whose keys are to be rotated', async () => {
    expectSentence(await run('rotate-keys', [], { STORE_URL: await temporarySqlite() }), 78, 'There is no');
    const down = `postgres://postgres@127.0.0.1:${await freePort()}/deckhand`;
    expectSentence(await run('rotate-keys', [], { STORE_URL: down }), 75, '127.0.0.1');
    const { url } = await backedUp();
    const other = { STORE_URL: url, ENCRYPTION_KEYS: `k2:${Buffer.alloc(32, 8).toString('base64')}` };
    expectSentence(await run('rotate-keys', [], other), 78, 'lacks');
    expectSentence(await run('rotate-keys', [], { STORE_URL: url, ENCRYPTION_KEYS: 'k1' }), 78, 'no id');
    const unset = { STORE_URL: url, ENCRYPTION_KEYS: '' };
    expectSentence(await run('rotate-keys', [], unset), 78, 'ENCRYPTION_KEYS is not set');
  });
});

describe.each(DATABASES)('a move to $name', ({ fresh }) => {
  test('that is killed at any point can be repeated, until everything is there once', async () => {
    const notes = 2_000;
    const [from, to] = [await temporarySqlite(), await fresh()];
    const cutId = await furnish(from, notes);
    const entry = await programFile('migrate');
    const begin = () =>
      spawn(process.execPath, [entry, '--from', from, '--to', to], {
        env: { ENCRYPTION_KEYS, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' },
        stdio: 'ignore',
      });
    const startedAt = Date.now();
    // As long as one takes that is left alone, on a store of its own.
    expect(await start('backup', [join(await temporaryFolder(), 'b')], { STORE_URL: from })).toMatchObject({
      code: 0,
    });
    const usualMs = (Date.now() - startedAt) * 2;
    const kills = byLength(1, 40);
    for (let at = 1; at <= kills; at += 1) {
      const child = begin();
      const ended = once(child, 'exit');
      await Promise.race([wait(100 + (usualMs * at) / (kills + 1)), ended]);
      child.kill('SIGKILL');
      await ended;
    }

    const last = await migrate(from, to);

    expect(last).toMatchObject({ code: 0, err: '' });
    await expectFurnished(to, cutId, notes);
  }, 120_000);
});
