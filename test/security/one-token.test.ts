import { describe, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { test } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { rawJob } from '../support/raw-job.ts';
import { sendClick, sendCommand, sendEvent, sendForm, sendPayload, sendSigned } from '../support/signed.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const FAR = 'T0FAR';
const MALLORY = 'U0MALLORY';
const SENTENCE = 'Deckhand belongs to another workspace here, so nothing was done.';
/** A person of another company, an admin there, whose payload names their own team. */
const PERSON = { team: { id: FAR }, user: { id: MALLORY, team_id: FAR } };

const command = (world: TestWorld, text: string, more: Record<string, string> = {}) =>
  sendCommand(world, text, { team_id: FAR, user_id: MALLORY, ...more });

/** Called once more, so that the one call of the start is over. */
async function settled({ slack }: TestWorld): Promise<number> {
  await slack.until(() => slack.calls.some(({ method }) => method === 'auth.test'));
  return slack.calls.length;
}

describe('with one token the installation is what Slack says the token is of', () => {
  test.override({ worldOptions: { env: { MCP: 'on' } } });

  test('requests of another workspace get one sentence if any, and do nothing', async ({ world }) => {
    const before = await settled(world);
    for (const text of ['roles', 'connect acme', 'test storefront']) {
      expect(await command(world, text)).toEqual({ status: 200, text: SENTENCE });
      const ofOrganisation = { enterprise_id: 'E0FAR', is_enterprise_install: 'true', team_id: TEAM };
      expect((await command(world, text, ofOrganisation)).text).toBe(SENTENCE);
    }
    const event = { type: 'app_mention', user: MALLORY, text: '<@U0BOT> test', channel: CHANNEL, ts: '1.1' };
    const from = { team_id: FAR, authorizations: [{ team_id: FAR, is_enterprise_install: false }] };
    const shortcut = { type: 'shortcut', callback_id: 'test_project', trigger_id: 'far-shortcut' };
    const menu = { type: 'block_suggestion', action_id: 'projects:choose', block_id: 'b', value: '' };
    expect((await sendClick(world, 'connect:open', {}, PERSON)).status).toBe(200);
    expect((await sendPayload(world, { ...shortcut, ...PERSON })).status).toBe(200);
    expect((await sendPayload(world, { ...menu, ...PERSON })).text).toBe('{"options":[]}');
    expect((await sendEvent(world, event, from)).status).toBe(200);
    for (const about of [{}, { app_installed_team_id: 'E0HOUSE', team_id: TEAM }])
      expect((await sendForm(world, 'connect', about, PERSON)).text).toContain(SENTENCE);
    const _meta = { slack: { user_id: MALLORY, team_id: FAR, channel_id: CHANNEL } };
    const params = { name: 'projects', arguments: {}, _meta };
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const options = { type: 'application/json', path: '/mcp' };
    expect((await sendSigned(world, call, options)).text).toContain(SENTENCE);

    const { app, service, slack } = world;
    expect(await app.parts.store.of(FAR).collection('audit', z.unknown()).list()).toEqual([]);
    expect(service.requests.all).toEqual([]);
    expect(slack.calls.slice(before).map(({ method }) => method)).toEqual([]);
  });

  test('a job that an older release stored for another workspace is dropped', async ({ world }) => {
    const { engine, slack } = world.app.parts;
    await settled(world);
    await engine.send(FAR, rawJob('requests'), {
      kind: 'command',
      invocation: { user: MALLORY, channel: CHANNEL, requestId: 'old' },
      text: 'me Mallory',
    });
    await expect.poll(async () => (await engine.stats()).requests).toMatchObject({ waiting: 0, running: 0 });
    await expect(slack.of(FAR).call('users.info', { user: MALLORY })).rejects.toThrow('not_installed');
  });
});

test('until Slack has named the installation nothing is guessed', async () => {
  const port = await freePort();
  const SLACK_API_URL = `http://127.0.0.1:${port}/api/`;
  const world = await openTestWorld({ env: { SLACK_API_URL } });
  onTestFinished(() => world.stop());
  const ours = { team_id: TEAM, user_id: PEOPLE.member };
  expect((await command(world, 'me Ben', ours)).text).toContain('Deckhand cannot reach Slack yet');
  const opened = { type: 'app_home_opened', user: PEOPLE.member, tab: 'home' };
  // Slack sends it again.
  expect((await sendEvent(world, opened)).status).toBe(500);
});
