import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { type DeckhandProcess, startDeckhand } from '../support/deckhand-process.ts';
import { freePort } from '../support/free-port.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, environment, furnish, oauthEnvironment, PEOPLE, TEAM } from '../support/test-world.ts';

describe('the tokens of the environment', () => {
  let slack: LocalSlack;
  let service: SimulatedService;
  let env: Record<string, string>;

  beforeEach(async () => {
    service = await startSimulatedService();
    slack = await startSlack();
    onTestFinished(async () => {
      await Promise.all([slack.stop(), service.stop()]);
    });
    const { botToken } = furnish(slack);
    env = environment(slack, service, botToken, await temporaryFolder());
  });

  const readyz = async ({ origin }: DeckhandProcess): Promise<string> =>
    (await fetch(`${origin}/readyz`)).text();
  const linesOf = ({ log }: DeckhandProcess, event: string) =>
    log.map((line) => JSON.parse(line)).filter((line) => line.event === event);

  it('a wrong bot token is an error in the log, and makes Deckhand unready with Slack’s word', async () => {
    const deckhand = await startDeckhand({ ...env, SLACK_BOT_TOKEN: 'xoxb-made-up' });
    await expect.poll(() => readyz(deckhand)).toBe('slack: invalid_auth');
    expect((await fetch(`${deckhand.origin}/readyz`)).status).toBe(503);
    expect((await fetch(`${deckhand.origin}/healthz`)).status).toBe(200);
    expect(linesOf(deckhand, 'slack_token_refused')).toEqual([
      expect.objectContaining({ level: 'error', kind: 'SLACK_BOT_TOKEN', reason: 'invalid_auth' }),
    ]);
    slack.deliverTo(`${deckhand.origin}/slack/events`);
    await slack.as(TEAM, PEOPLE.member).command(CHANNEL, '/deckhand doctor');
    const said = () => JSON.stringify(slack.ephemerals(TEAM, PEOPLE.member));
    await slack.until(() => said().includes('Slack refuses Deckhand’s token (`invalid_auth`)'));
  });

  it('a wrong app token is too, and does not end the process', async () => {
    const deckhand = await startDeckhand({
      ...env,
      SLACK_SIGNING_SECRET: '',
      SLACK_APP_TOKEN: 'xapp-made-up',
    });
    await expect.poll(() => readyz(deckhand)).toBe('slack: invalid_auth');
    expect(linesOf(deckhand, 'slack_token_refused')).toMatchObject([
      { level: 'error', kind: 'SLACK_APP_TOKEN', reason: 'invalid_auth' },
    ]);
    deckhand.signal('SIGTERM');
    expect(await deckhand.ended).toBe(0);
  });

  it('a right one is tried once, and said nothing about', async () => {
    const deckhand = await startDeckhand(env);
    await slack.until(() => slack.calls.some(({ method }) => method === 'auth.test'));
    expect(await readyz(deckhand)).toBe('ready');
    expect(linesOf(deckhand, 'slack_token_refused')).toEqual([]);
  });

  it('where Slack is down nothing is said against the token, and it is tried again', async () => {
    const port = await freePort();
    const deckhand = await startDeckhand({
      ...env,
      SLACK_BOT_TOKEN: 'xoxb-made-up',
      SLACK_API_URL: `http://127.0.0.1:${port}/api/`,
    });
    expect(await readyz(deckhand)).toBe('ready');
    const late = await startSlack({ port });
    onTestFinished(() => late.stop());
    await expect.poll(() => readyz(deckhand)).toBe('slack: invalid_auth');
  });

  it('there is none to try where workspaces install Deckhand', async () => {
    const port = await freePort();
    const many = oauthEnvironment(slack, `http://127.0.0.1:${port}`);
    const deckhand = await startDeckhand({ ...env, ...many, PORT: String(port) });
    expect(await readyz(deckhand)).toBe('ready');
    expect(slack.calls).toEqual([]);
  });
});
