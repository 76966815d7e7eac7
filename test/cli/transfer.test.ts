import { readdirSync, statSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { BACKUP, RESTORE } from '../../src/cli/backup.ts';
import { MIGRATE } from '../../src/cli/migrate.ts';
import { callProgram } from '../../src/cli/program.ts';
import { ROTATE_KEYS } from '../../src/cli/rotate-keys.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { openBackend } from '../../src/open.ts';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { openStore, recordFormat, STORE_FORMAT } from '../../src/store/open-store.ts';
import { createSealer } from '../../src/store/sealer.ts';
import { collect, ONCE, Q, send, untilAborted } from '../jobs/fixtures.ts';
import { mountDisk } from '../support/disk.ts';
import { freePort } from '../support/free-port.ts';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { type Ended, runDeckhand } from '../support/run-deckhand.ts';
import { temporaryFolder, temporarySqlite } from '../support/temporary.ts';

const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const Note = z.object({ text: z.string() });
const CUT = { ...Q, queue: 'cut' };
const Sealed = z.object({ sealedKey: z.string() });
const FIELD = { record: 'accounts/acme', field: 'apiKey' };

const PROGRAMS = { backup: BACKUP, restore: RESTORE, migrate: MIGRATE, 'rotate-keys': ROTATE_KEYS };
type Run = (name: keyof typeof PROGRAMS, args: string[], env?: Record<string, string>) => Promise<Ended>;

/** As a process of its own. */
const start: Run = (program, args, env) =>
  runDeckhand({ args: [program, ...args], env: { ENCRYPTION_KEYS, ...env } });
/** A start takes ten times as long as most of what is asked here. */
const run = byLength<Run>(
  (name, args, env) => callProgram(PROGRAMS[name], args, { ENCRYPTION_KEYS, ...env }),
  start,
);
const migrate = (from: string, to: string) => run('migrate', ['--from', from, '--to', to]);

function expectSentence({ code, err, out }: Ended, exitCode: number, ...words: string[]): void {
  for (const word of words) expect(err).toContain(word);
  expect(err).toMatch(/^[^\n]+\.\n$/);
  expect(out).toBe('');
  expect(code).toBe(exitCode);
}

/** A store with a document, one that has ended, a sealed value, jobs that wait, and one that was cut off. */
async function furnish(url: string, notes = 1): Promise<void> {
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
  await send(engine, 1, { key: 'one' });
  await send(engine, 2, { at: Date.now() + 3_600_000 });
  const cut = collect(untilAborted);
  await engine.send('T1', CUT, { n: 4 }, { key: 'cut' });
  engine.work(CUT, { handle: cut.handle, options: ONCE });
  await engine.start();
  await cut.given(1);
  await engine.stop(0);
  await close();
}

/** Everything of `furnish` is here, and goes on. */
async function expectFurnished(url: string, notes = 1): Promise<void> {
  const { store, engine, close } = await openBackend(url, { clock: systemClock, release: '99.0.0' });
  const cut = collect();
  const q = collect();
  engine.work(CUT, { handle: cut.handle, options: ONCE });
  engine.work(Q, { handle: q.handle, options: ONCE });
  await engine.start();
  await Promise.all([cut.given(1), q.given(1)]);
  expect(cut.jobs[0]).toMatchObject({ data: { n: 4 }, key: 'cut' });
  expect(q.jobs.map(({ data }) => data.n)).toEqual([1]);
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

test.each(PAIRS)(
  'what was moved from $from to $to goes on there, and is not moved there again',
  async ({ source, target, act }) => {
    const [from, to] = [await source(), await target()];
    await furnish(from);

    expect(await act('migrate', ['--from', from, '--to', to])).toMatchObject({ code: 0, err: '' });

    // As after an interruption: a part of it may be there.
    expectSentence(await run('migrate', ['--from', from, '--to', to]), 78, 'is not empty');

    await expectFurnished(to);
  },
);

test.each([0, 0o777])(
  'a backup that was restored goes on where the store was, and its owner alone may read either file with the umask %i',
  async (umask) => {
    const from = await temporarySqlite();
    const folder = join(await temporaryFolder(), 'new');
    const [file, target] = [join(folder, 'backup'), join(folder, 'deeper', 'deckhand.sqlite')];
    await furnish(from);
    await mkdir(folder, { mode: 0o700 });
    const usual = process.umask(umask);
    onTestFinished(() => void process.umask(usual));

    expect(await run('backup', [file], { STORE_URL: from })).toMatchObject({ code: 0, err: '' });
    expect(await readFile(file, 'latin1')).not.toContain('the key');
    const restored = await run('restore', [file], { STORE_URL: `sqlite://${target}` });

    expect(restored).toMatchObject({ code: 0, err: '' });
    expect(restored.out).toContain('3 jobs; sealed values opened there: 1.');
    for (const path of [file, target]) {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    }
    expect((await readdir(folder)).sort()).toEqual(['backup', 'deeper']);
    expect(await readdir(dirname(target))).toEqual(['deckhand.sqlite']);
    await expectFurnished(`sqlite://${target}`);
  },
);

test.each(['-wal', '-journal'])('a copied file is restored with what its %s holds', async (ending) => {
  const url = await temporarySqlite();
  await furnish(url, 500);
  const source = url.slice('sqlite://'.length);
  const database = new DatabaseSync(source);
  onTestFinished(() => database.close());
  // Nothing of the change is in the file itself, or the whole of it, to be rolled back.
  const [mode, begin] =
    ending === '-wal' ? ['WAL', 'BEGIN'] : ['DELETE', 'PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN'];
  database.exec(`PRAGMA journal_mode = ${mode}; ${begin}`);
  database.exec(`UPDATE keyv SET value = value || '  '`);
  if (ending === '-wal') database.exec('COMMIT');
  const copy = join(await temporaryFolder(), 'copy');
  for (const each of ['', ending]) await copyFile(source + each, copy + each);
  const target = await temporarySqlite();

  expect(await run('restore', [copy], { STORE_URL: target })).toMatchObject({ code: 0, err: '' });

  const restored = new DatabaseSync(target.slice('sqlite://'.length));
  onTestFinished(() => restored.close());
  const changed = restored.prepare("SELECT count(*) AS changed FROM keyv WHERE value LIKE '%  '").get();
  expect(Number(changed?.changed) > 0).toBe(ending === '-wal');
});

/** A network disk on which every file has the mode 0644, and which refuses any other. */
const STUBBORN = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { open } from 'node:fs/promises';
  import { syncBuiltinESMExports } from 'node:module';
  const handle = await open(process.execPath);
  const refuse = () => { throw Object.assign(new Error('EPERM: operation not permitted, chmod'), { code: 'EPERM' }); };
  Object.getPrototypeOf(handle).chmod = async () => refuse();
  await handle.close();
  const { stat } = fs.promises;
  fs.promises.stat = async (...args) => Object.assign(await stat(...args), { mode: 0o100644 });
  fs.chmodSync = refuse;
  syncBuiltinESMExports();
`)}`;

test('a backup onto a disk that refuses modes is taken, and says so', async () => {
  const url = await temporarySqlite();
  await furnish(url);
  const file = join(await temporaryFolder(), 'backup');
  const env = { STORE_URL: url, ENCRYPTION_KEYS, NODE_OPTIONS: `--import=${STUBBORN}` };
  expect(await runDeckhand({ args: ['backup', file], env })).toEqual({
    code: 0,
    err: '',
    out: `${file} holds the store. Its disk keeps no modes, so see to it that nobody else can read the file.\n`,
  });
  const target = await temporarySqlite();
  expect(await runDeckhand({ args: ['restore', file], env: { ...env, STORE_URL: target } })).toMatchObject({
    code: 0,
  });
});

test('a restored file is its owner’s alone from its first byte, whatever the mode of the backup', async () => {
  const url = await temporarySqlite();
  await furnish(url, 2_000);
  const [file, folder] = [join(await temporaryFolder(), 'backup'), await temporaryFolder()];
  const usual = process.umask(0);
  onTestFinished(() => void process.umask(usual));
  const modes = new Set<number>();
  let isDone = false;
  const observe = (): void => {
    for (const name of readdirSync(folder)) {
      // Files of SQLite's own come and go.
      const file = statSync(join(folder, name), { throwIfNoEntry: false });
      if (file !== undefined) modes.add(file.mode & 0o777);
    }
    if (!isDone) setImmediate(observe);
  };
  await run('backup', [file], { STORE_URL: url });
  await chmod(file, 0o666);
  observe();
  await run('restore', [file], { STORE_URL: `sqlite://${folder}/deckhand.sqlite` });
  isDone = true;
  expect([...modes]).toEqual([0o600]);
});

test('nothing is moved into a store that has a job alone, or while a Deckhand runs on the old one, but a backup is taken', async () => {
  const [from, to] = [await temporarySqlite(), await freshDatabase()];
  await furnish(from);
  const running = await openBackend(from, { clock: systemClock });
  const file = join(await temporaryFolder(), 'backup');
  expect(await run('backup', [file], { STORE_URL: from })).toMatchObject({ code: 0, err: '' });
  await running.store.of('T1').collection('notes', Note).put('later', { text: 'goes on' });
  expectSentence(await migrate(from, await temporarySqlite()), 75, 'in use by another Deckhand');
  await running.close();
  // However its operator names its connections.
  const named = `${to}?application_name=mine&options=-c%20application_name%3Dmine`;
  const { engine, close } = await openBackend(named, { clock: systemClock });
  await send(engine, 1, { at: Date.now() + 3_600_000 });
  expectSentence(await migrate(to, await temporarySqlite()), 75, 'A Deckhand runs on postgres://127.0.0.1');
  await close();
  expectSentence(await migrate(from, to), 78, 'is not empty');
});

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
    expectSentence(await run('restore', [file], { STORE_URL: url }), 78, 'is there already');
    expectSentence(await run('backup', [file], { STORE_URL: url }), 78, 'is there already');
    expectSentence(await run('backup', ['/proc/backup'], { STORE_URL: url }), 78, '/proc/backup');
    // Its disk may not be mounted.
    const missing = join(dirname(file), 'disk', 'deckhand');
    expectSentence(await run('backup', [join(missing, 'b')], { STORE_URL: url }), 78, missing, 'mount');
    expect(await readdir(dirname(file))).toEqual(['backup']);
    const absent = await run('backup', [`${file}2`], { STORE_URL: fresh });
    expectSentence(absent, 78, 'There is no', 'Start Deckhand once to make it, or correct STORE_URL');
    expectSentence(await run('restore', [`${file}2`], { STORE_URL: fresh }), 78, `${file}2`, 'ENOENT');
    const otherKey = `k1:${Buffer.alloc(32, 8).toString('base64')}`;
    const wrong = await run('restore', [file], { STORE_URL: fresh, ENCRYPTION_KEYS: otherKey });
    expectSentence(wrong, 78, 'another key under the id k1');
    // Nothing of it stayed.
    expect(await run('restore', [file], { STORE_URL: fresh })).toMatchObject({ code: 0, err: '' });
    // SQLite would take it for the new file's.
    const former = await temporarySqlite();
    const log = `${former.slice('sqlite://'.length)}-wal`;
    await writeFile(log, 'old');
    expectSentence(await run('restore', [file], { STORE_URL: former }), 78, `${log} is there already`);
    // Postgres has programs of its own.
    const postgres = { STORE_URL: `postgres://postgres@127.0.0.1:${await freePort()}/deckhand` };
    expectSentence(await run('backup', [`${file}2`], postgres), 78, 'pg_dump');
    expectSentence(await run('restore', [file], postgres), 78, 'pg_restore');
  });

  test('with a backup that is cut off, of a newer release, or none', async () => {
    const { url, file } = await backedUp();
    const bytes = await readFile(file);
    const newer = await openStore(url);
    await recordFormat(newer, '99.0.0', STORE_FORMAT + 1);
    await newer.close();
    const [cut, letter, other, later] = ['cut', 'letter', 'other', 'later'].map((name) => `${file}-${name}`);
    await writeFile(cut ?? '', bytes.subarray(0, bytes.length / 2));
    await writeFile(letter ?? '', 'a letter');
    const database = new DatabaseSync(other ?? '');
    database.exec('CREATE TABLE letters (text TEXT)');
    database.close();
    await run('backup', [later ?? ''], { STORE_URL: url });
    for (const [variant, says] of [
      [cut, 'is not a backup of Deckhand, or it is damaged'],
      [letter, 'is not a backup of Deckhand'],
      [other, 'is not a backup of Deckhand'],
      [later, 'was written by Deckhand 99.0.0, and this is'],
    ])
      expectSentence(
        await run('restore', [variant ?? ''], { STORE_URL: await temporarySqlite() }),
        78,
        says ?? '',
      );
  });

  test('with a sealed value that does not open, and nothing is put in place', async () => {
    const { file } = await backedUp();
    const database = new DatabaseSync(file);
    const moved = "replace(value, 'v1.', 'v1.A')";
    database.exec(`UPDATE keyv SET value = ${moved} WHERE key LIKE 'T1/accounts/%'`);
    database.close();
    const url = await temporarySqlite();
    const restored = await run('restore', [file], { STORE_URL: url });
    expectSentence(restored, 78, '1 sealed value', 'T1 accounts/acme');
    expect(await readdir(dirname(url.slice('sqlite://'.length)))).toEqual([]);
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
    const target = { STORE_URL: `sqlite://${folder}/deckhand.sqlite` };
    expectSentence(await run('restore', [file], target), 75, full);
    disk.free();
    expect(await run('restore', [file], target)).toMatchObject({ code: 0, err: '' });
  });

  test('with what was typed', async () => {
    expectSentence(await run('backup', ['--nonsense']), 64, "'--nonsense'", 'deckhand backup --help');
    for (const name of ['restore', 'migrate'] as const) expectSentence(await run(name, []), 64, 'Give ');
    expectSentence(await run('rotate-keys', ['now']), 64, 'Unknown ');
    const absent = await migrate(await temporarySqlite(), await temporarySqlite());
    expectSentence(absent, 78, 'There is no', 'Give --from the file of a store');
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
