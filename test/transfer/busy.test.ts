import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { carryOut } from '../../src/program.ts';
import { MIGRATE } from '../../src/transfer/migrate.ts';
import { setDatabaseClock } from '../process/database-clock.ts';
import { createMachineClock } from '../process/machine-clock.ts';
import { freePort } from '../support/free-port.ts';
import { openBrowser } from '../support/installing.ts';
import { byLength } from '../support/length.ts';
import { emptyDatabase } from '../support/postgres.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { environment, oauthEnvironment } from '../support/test-world.ts';

const HOUR = 3_600_000;
/** A minute and some more: of each digest at least one occurrence falls due while nothing runs. */
const DOWN_MS = 75_000;
/** The progress alone, where all is well. */
const REPLIES = 1;

interface Team {
  id: string;
  admin: string;
  /** A run goes on in this one, digests are posted to the other. */
  runs: string;
  digests: string;
  account: string;
}

const TEAMS: readonly Team[] = Array.from({ length: byLength(2, 5) }, (_, at) => ({
  id: `T0TEAM${at}`,
  admin: `U0ANN${at}`,
  runs: `C0RUNS${at}`,
  digests: `C0NEWS${at}`,
  account: `team-${at}`,
}));

function apiKeyOf(account: string): string {
  return account.padEnd(40, '0');
}

function furnishTeam(
  { id, admin, runs, digests, account }: Team,
  slack: LocalSlack,
  service: SimulatedService,
): void {
  const channel = (id: string) => ({ id, name: id.toLowerCase(), members: [admin] });
  slack.addWorkspace({
    id,
    name: id,
    installed: false,
    users: [{ id: admin, name: admin.toLowerCase(), is_admin: true }],
    channels: [channel(runs), channel(digests)],
  });
  service.world.addAccount({
    name: account,
    users: [{ email: `${account}@example.com`, apiKey: apiKeyOf(account), role: 'admin' }],
    projects: [{ name: 'Shop', permalink: 'shop', servers: [{ name: 'web-1' }, { name: 'web-2' }] }],
  });
  service.world.addDeployment({ account, project: 'shop', endedAt: Date.now(), succeeded: true });
  service.world.setRunOutcome({ account, project: 'shop', durationMs: 10 * HOUR });
}

/** Installs, connects, sets up two digests and starts a run that goes on. */
async function settle(
  { id, admin, runs, digests, account }: Team,
  slack: LocalSlack,
  origin: string,
): Promise<void> {
  expect((await openBrowser({ slack, origin }).install(id, admin)).status).toBe(200);
  for (const channel of [runs, digests]) slack.invite(id, channel, 'bot');
  const ann = slack.as(id, admin);
  await ann.command(runs, `/deckhand connect ${account}`);
  await slack.until(() => ann.openView()?.content.callback_id === 'connect');
  const key = { account, email: `${account}@example.com`, api_key: apiKeyOf(account) };
  expect(await ann.submit('connect', key)).toMatchObject({ outcome: 'ok' });
  await slack.until(() => slack.ephemerals(id, admin).some(({ text }) => text.includes('Connected *')));
  for (const range of ['today', '7d'])
    await ann.command(digests, `/deckhand digest add cron:"* * * * *" UTC ${range}`);
  const setUp = () => slack.messages(id, digests).filter(({ text }) => text.includes('set up the digest'));
  await slack.until(() => setUp().length === 2, { what: `the digests of ${id}` });
  await ann.command(runs, '/deckhand test shop');
  const replies = () => slack.messages(id, runs).flatMap(({ ts }) => slack.thread(id, runs, ts));
  await slack.until(() => replies().length === 1, { what: `the run of ${id}` });
}

test('a busy installation moves from SQLite to Postgres: nothing is lost or posted twice', async () => {
  const service = await startSimulatedService({ speed: 20 });
  onTestFinished(() => service.stop());
  const slack = await startSlack();
  onTestFinished(() => slack.stop());
  for (const team of TEAMS) furnishTeam(team, slack, service);
  const folder = await temporaryFolder();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const clock = createMachineClock(join(folder, 'clock'));
  const usual = environment(slack, service, '', folder);
  const { STORE_URL: from = '', ENCRYPTION_KEYS = '' } = usual;
  const env = {
    ...usual,
    ...oauthEnvironment(slack, origin),
    PORT: String(port),
    POLL_INTERVAL_MS: '200',
    LOG_LEVEL: 'info',
    ...clock.env,
  };
  const to = await emptyDatabase();
  const old = createProduct(env, () => undefined);
  onTestFinished(() => old.kill());
  slack.deliverTo(`${origin}/slack/events`);
  await old.start();
  await Promise.all(TEAMS.map((team) => settle(team, slack, origin)));

  const migrate = () => carryOut(MIGRATE, ['--from', from, '--to', to], { ENCRYPTION_KEYS });
  expect(await migrate(), 'while Deckhand runs').toMatchObject({
    code: 75,
    err: expect.stringContaining('in use'),
  });
  await old.kill();
  const posts = () => TEAMS.flatMap(({ id, digests }) => slack.messages(id, digests));
  const before = posts().length;
  const moved = await migrate();
  expect(moved.err).toBe('');
  // Each team's bot token and API key.
  expect(moved.out).toContain(`sealed values opened there: ${3 * TEAMS.length}.`);

  clock.set(DOWN_MS);
  await setDatabaseClock(to, DOWN_MS);
  const lines: string[] = [];
  const fresh = createProduct({ ...env, STORE_URL: to }, (line) => lines.push(line));
  onTestFinished(() => fresh.kill());
  await fresh.start();
  service.clock.advance(10 * HOUR);

  const roots = () =>
    TEAMS.flatMap(({ id, runs }) => slack.messages(id, runs).map((root) => ({ id, runs, ...root })));
  await slack.until(() => roots().every(({ text }) => text.includes('all 2 servers are reachable')), {
    what: 'all runs to end',
  });
  await slack.until(() => posts().length >= before + 2 * TEAMS.length, { what: 'the digests that fell due' });
  const threadsNow = () =>
    roots().map(({ id, runs, ts }) => slack.thread(id, runs, ts).map(({ text }) => text));
  await slack.until(() => threadsNow().every(([progress]) => progress?.includes('The test took')), {
    what: 'all replies',
  });
  const threads = threadsNow();
  expect(threads.map((replies) => replies.length)).toEqual(TEAMS.map(() => REPLIES));
  for (const replies of threads) expect(new Set(replies).size).toBe(REPLIES);
  const names = posts().flatMap(({ client_msg_id: name }) => name ?? []);
  expect(new Set(names).size, 'a digest is posted twice').toBe(names.length);
  expect(lines.filter((line) => /unreadable|"level":50/.test(line))).toEqual([]);
}, 180_000);
