import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/asking.ts';
import { mountDisk } from '../support/disk.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../support/test-world.ts';

/** A store that can be made to take no writes. Undefined where no small disk can be mounted. */
async function smallDisk() {
  const folder = await temporaryFolder();
  const disk = mountDisk(folder);
  if (disk === undefined) return undefined;
  onTestFinished(disk.close);
  return {
    url: `sqlite://${folder}/deckhand.sqlite`,
    refuseWrites: () => disk.fill(),
    acceptWrites: disk.free,
  };
}

/** @param refuse what has a database take no writes, and the opposite */
async function postgres(refuse: string, accept: string) {
  const url = await freshDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const run = (sql: string): Promise<unknown> => {
    const name = new URL(url).pathname.slice(1);
    return client.query(`SET default_transaction_read_only = off; ${sql.replaceAll('$DATABASE', name)}`);
  };
  return { url, refuseWrites: () => run(refuse), acceptWrites: () => run(accept) };
}

const END_SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid();`;
const READ_ONLY = 'ALTER DATABASE $DATABASE SET default_transaction_read_only =';
const FULL = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;`;
const TABLES = ['public.keyv', 'pgboss.job_common'];
const each = (statement: (table: string) => string): string => TABLES.map(statement).join(' ');

describe.each([
  { name: 'a disk that is full', open: smallDisk },
  {
    name: 'a Postgres whose disk is full',
    open: () =>
      postgres(
        `${FULL} ${each((table) => `CREATE TRIGGER full_disk BEFORE INSERT ON ${table} EXECUTE FUNCTION full_disk();`)}`,
        each((table) => `DROP TRIGGER full_disk ON ${table};`),
      ),
  },
  {
    name: 'a Postgres that became a standby',
    open: () => postgres(`${READ_ONLY} on; ${END_SESSIONS}`, `${READ_ONLY} off; ${END_SESSIONS}`),
  },
])('$name', ({ open }) => {
  const bound = ({ slack }: TestWorld) =>
    slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('bound this channel'));

  it('is told to the person, the readiness and the metrics, and forgotten once there is room', async (context) => {
    const store = await open();
    if (store === undefined) return context.skip('a small disk can be mounted by root on Linux alone');
    const world = await openTestWorld({ env: { STORE_URL: store.url } });
    onTestFinished(() => world.stop());
    const { origin, slack } = world;
    const read = async (path: string) => {
      const answer = await fetch(`${origin}${path}`);
      return `${answer.status} ${await answer.text()}`;
    };
    await world.connect();
    await store.refuseWrites();
    await expect.poll(() => read('/readyz')).toBe('200 ready, store: does not answer');
    await expect.poll(() => read('/metrics')).toContain('deckhand_engine_up 0');
    expect(await ask(world, '/deckhand use storefront', 'admin')).toMatch(
      /cannot store anything at the moment, so nothing was done\. Try again in a minute\. Reference `\w+`/,
    );
    await store.acceptWrites();
    await expect.poll(() => read('/readyz')).toBe('200 ready');
    await expect.poll(() => read('/metrics')).toContain('deckhand_engine_up 1');
    await world.as('admin').command(CHANNEL, '/deckhand use storefront');
    await slack.until(() => bound(world).length === 1);
  });
});
