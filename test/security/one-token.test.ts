import { describe, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { test } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { rawJob } from '../support/raw-job.ts';
import { sendJson, sendPayload, sendSigned } from '../support/signed.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const FAR = 'T0FAR';
const MALLORY = 'U0MALLORY';
const SENTENCE = 'Deckhand belongs to another workspace here, so nothing was done.';
let serial = 0;

/** A person of another company, an admin there, whose payload names their own team. */
const person = () => {
  serial += 1;
  return { team: { id: FAR }, user: { id: MALLORY, team_id: FAR }, trigger_id: `far-${serial}` };
};

function command(world: TestWorld, text: string, more: Record<string, string> = {}) {
  serial += 1;
  const place = { channel_id: CHANNEL, response_url: `${world.slack.origin}/response/far` };
  const who = { team_id: FAR, user_id: MALLORY, trigger_id: `far-${serial}` };
  const fields = { command: '/deckhand', text, ...place, ...who, ...more };
  return sendSigned(world, new URLSearchParams(fields).toString());
}

const form = (callback_id: string, about: object = {}) => ({
  type: 'view_submission',
  ...person(),
  view: { id: `V${serial}`, hash: 'h', type: 'modal', callback_id, blocks: [], state: {}, ...about },
});

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
    const button = { type: 'button', action_id: 'connect:open', block_id: 'b', value: '{}', action_ts: '1' };
    const click = { type: 'block_actions', channel: { id: CHANNEL }, actions: [button] };
    const shortcut = { type: 'shortcut', callback_id: 'test_project' };
    const menu = { type: 'block_suggestion', action_id: 'projects:choose', block_id: 'b', value: '' };
    const event = {
      type: 'event_callback',
      event_id: 'Ev0FAR',
      team_id: FAR,
      authorizations: [{ team_id: FAR, is_enterprise_install: false }],
      event: { type: 'app_mention', user: MALLORY, text: '<@U0BOT> test', channel: CHANNEL, ts: '1.1' },
    };
    for (const payload of [click, shortcut])
      expect((await sendPayload(world, { ...payload, ...person() })).status).toBe(200);
    expect((await sendPayload(world, { ...menu, ...person() })).text).toBe('{"options":[]}');
    expect((await sendJson(world, event)).status).toBe(200);
    for (const about of [{}, { app_installed_team_id: 'E0HOUSE', team_id: TEAM }])
      expect((await sendPayload(world, form('connect', about))).text).toContain(SENTENCE);
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
  const event = { type: 'event_callback', event_id: 'Ev1', team_id: TEAM };
  const body = { ...event, event: { type: 'app_home_opened', user: PEOPLE.member, tab: 'home' } };
  // Slack sends it again.
  expect((await sendJson(world, body)).status).toBe(500);
});
