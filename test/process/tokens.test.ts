import { describe, expect, onTestFinished } from 'vitest';
import { startDeckhand } from '../support/deckhand-process.ts';
import { test } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, environment, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const readyz = async ({ origin }: { origin: string }): Promise<string> =>
  (await fetch(`${origin}/readyz`)).text();
const refusals = (lines: readonly string[]) =>
  lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'slack_token_refused');

describe('the tokens of the environment', () => {
  async function open(options: Parameters<typeof openTestWorld>[0]): Promise<TestWorld> {
    const world = await openTestWorld(options);
    onTestFinished(() => world.stop());
    return world;
  }

  test('a wrong bot token is an error in the log, and /readyz says so, though Deckhand stays ready', async () => {
    const world = await open({ env: { SLACK_BOT_TOKEN: 'xoxb-made-up' } });
    await expect.poll(() => readyz(world)).toBe('ready, slack: invalid_auth');
    expect((await fetch(`${world.origin}/readyz`)).status).toBe(200);
    expect((await fetch(`${world.origin}/healthz`)).status).toBe(200);
    expect(refusals(world.logs)).toEqual([
      expect.objectContaining({ level: 'error', kind: 'SLACK_BOT_TOKEN', reason: 'invalid_auth' }),
    ]);
    await world.as('member').command(CHANNEL, '/deckhand doctor');
    const said = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member));
    await world.slack.until(() => said().includes('Slack refuses Deckhand’s token (`invalid_auth`)'));
  });

  /** A process in Socket Mode. */
  async function startSocket({ slack, service, config }: TestWorld, change: Record<string, string>) {
    const env = environment(slack, service, config.SLACK_BOT_TOKEN ?? '', await temporaryFolder());
    return startDeckhand({ ...env, SLACK_SIGNING_SECRET: '', ...change });
  }

  test('a wrong app token is too, and does not end the process', async ({ world }) => {
    const deckhand = await startSocket(world, { SLACK_APP_TOKEN: 'xapp-made-up' });
    await expect.poll(() => readyz(deckhand)).toBe('ready, slack: invalid_auth');
    expect(refusals(deckhand.log)).toMatchObject([
      { level: 'error', kind: 'SLACK_APP_TOKEN', reason: 'invalid_auth' },
    ]);
    deckhand.signal('SIGTERM');
    expect(await deckhand.ended).toBe(0);
  });

  test('the port is logged, and SIGTERM ends in order, before Slack takes the first connection', async ({
    world,
  }) => {
    const SLACK_API_URL = `http://127.0.0.1:${await freePort()}/api/`;
    const deckhand = await startSocket(world, { SLACK_API_URL, SLACK_APP_TOKEN: world.slack.appToken });
    expect((await fetch(`${deckhand.origin}/healthz`)).status).toBe(200);
    deckhand.signal('SIGTERM');
    expect(await deckhand.ended).toBe(0);
  });

  test('one that is revoked while Deckhand runs is named by /readyz, once a call met it', async ({
    world,
  }) => {
    await world.slack.until(() => world.slack.calls.some(({ method }) => method === 'auth.test'));
    world.slack.fault({ method: 'users.info', error: 'token_revoked' });
    world.slack.fault({ method: 'auth.test', error: 'token_revoked' });
    await world.as('member').command(CHANNEL, '/deckhand help');
    await expect.poll(() => readyz(world)).toBe('ready, slack: token_revoked');
    expect(refusals(world.logs)).toMatchObject([{ kind: 'SLACK_BOT_TOKEN', reason: 'token_revoked' }]);
  });

  test('where Slack is down nothing is said against the token, and it is tried again', async () => {
    const port = await freePort();
    const SLACK_API_URL = `http://127.0.0.1:${port}/api/`;
    const world = await open({ env: { SLACK_BOT_TOKEN: 'xoxb-made-up', SLACK_API_URL } });
    await world.logged('slack_unreachable');
    expect(await readyz(world)).toBe('ready, slack: not reached yet');
    const late = await startSlack({ port });
    onTestFinished(() => late.stop());
    await expect.poll(() => readyz(world)).toBe('ready, slack: invalid_auth');
  });
});
