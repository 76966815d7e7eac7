import { WebClient } from '@slack/web-api';
import { createEmulator } from 'emulate';
import { freePort } from '../../../test/support/free-port.ts';
import { startLocalSlack } from '../../slack/server.ts';

/** What the same assertions need of a Slack, whoever wrote it. */
export interface SlackUnderTest {
  apiUrl: string;
  clientId: string;
  clientSecret: string;
  /** Goes through the authorize page as a person; the answer is where the browser is sent. */
  allow(query: URLSearchParams): Promise<URL>;
  /** A fresh trigger_id for that person, from inside a view where one is named. */
  trigger(userId: string, viewId?: string): Promise<string>;
  stop(): Promise<void>;
}

export const REDIRECT = 'https://deckhand.example/slack/oauth_redirect';
export const SCOPES =
  'chat:write,users:read,files:write,files:read,im:write,channels:read,channels:join,channels:history,team:read';

/** Ours, with a workspace in which the app is not installed yet. */
export async function startOurs(): Promise<SlackUnderTest> {
  const slack = await startLocalSlack({ app: { redirectUrls: [REDIRECT] } });
  slack.addWorkspace({
    id: 'T0ACME',
    name: 'Acme',
    installed: false,
    users: [{ id: 'U0ANNA', name: 'anna', real_name: 'Anna Admin' }],
    channels: [
      { name: 'deploys', bot_is_member: false },
      { name: 'other', bot_is_member: false },
    ],
  });
  return {
    apiUrl: slack.apiUrl,
    clientId: slack.app.clientId,
    clientSecret: slack.app.clientSecret,
    allow: async (query) => {
      const form = new URLSearchParams([...query, ['who', 'T0ACME U0ANNA'], ['decision', 'allow']]);
      return redirectOf(slack.authorizeUrl, form);
    },
    trigger: async (userId, viewId) => {
      const person = slack.as('T0ACME', userId);
      // Nobody listens; the trigger is made nevertheless.
      if (viewId) await person.click({ viewId }, { actionId: 'more' });
      else await person.command('deploys', '/deckhand');
      return String(slack.deliveries.at(-1)?.payload.trigger_id);
    },
    stop: slack.stop,
  };
}

/** Somebody else's, seeded alike. */
export async function startTheirs(): Promise<SlackUnderTest> {
  const clientId = '1234.5678';
  const clientSecret = 'not-a-real-secret';
  const registered = { client_id: clientId, client_secret: clientSecret };
  const emulator = await createEmulator({
    service: 'slack',
    port: await freePort(),
    seed: {
      tokens: { 'xoxb-any': { login: 'admin', scopes: ['users:read'] } },
      slack: {
        team: { name: 'Acme', domain: 'acme' },
        users: [{ name: 'anna', real_name: 'Anna Admin', email: 'anna@example.com' }],
        channels: [{ name: 'deploys' }, { name: 'other' }],
        oauth_apps: [
          { ...registered, name: 'Deckhand', redirect_uris: [REDIRECT], scopes: SCOPES.split(',') },
        ],
        strict_scopes: true,
      },
    },
  });
  const post = async (method: string, body: Record<string, string>) => {
    const headers = { authorization: 'Bearer xoxb-any' };
    const init = { method: 'POST', headers, body: new URLSearchParams(body) };
    return (await (await fetch(`${emulator.url}/api/${method}`, init)).json()) as Record<string, unknown>;
  };
  return {
    apiUrl: `${emulator.url}/api/`,
    clientId,
    clientSecret,
    allow: async (query) => {
      const { members } = (await post('users.list', {})) as { members: { id: string; name: string }[] };
      const anna = members.find((one) => one.name === 'anna')?.id ?? '';
      const form = new URLSearchParams([...query, ['user_id', anna]]);
      return redirectOf(`${emulator.url}/oauth/v2/authorize/callback`, form);
    },
    trigger: async (user_id, view_id) => {
      const made = await post('views.generateTriggerId', { user_id, ...(view_id ? { view_id } : {}) });
      return String(made.trigger_id);
    },
    stop: () => emulator.close(),
  };
}

/** The code that a person's consent brings. */
export async function codeOf({ allow, clientId: client_id }: SlackUnderTest): Promise<string> {
  const query = { client_id, scope: SCOPES, state: 'kept', redirect_uri: REDIRECT };
  const back = await allow(new URLSearchParams(query));
  if (!back.href.startsWith(REDIRECT) || back.searchParams.get('state') !== 'kept')
    throw new Error(back.href);
  return back.searchParams.get('code') ?? '';
}

export function exchange({ clientId, clientSecret, apiUrl }: SlackUnderTest, args: object) {
  const given = { client_id: clientId, client_secret: clientSecret, redirect_uri: REDIRECT, ...args };
  return new WebClient(undefined, { slackApiUrl: apiUrl }).oauth.v2.access(given);
}

/** Installs the app by OAuth, and lets it join #deploys. */
export async function install(slack: SlackUnderTest) {
  const {
    access_token: token = '',
    authed_user,
    team,
  } = await exchange(slack, { code: await codeOf(slack) });
  const client = new WebClient(token, { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 } });
  const { channels = [] } = await client.conversations.list({});
  const channel = channels.find(({ name }) => name === 'deploys')?.id ?? '';
  await client.conversations.join({ channel });
  return { token, client, channel, user: authed_user?.id ?? '', team: team?.id ?? '' };
}

async function redirectOf(address: string, form: URLSearchParams): Promise<URL> {
  const response = await fetch(address, { method: 'POST', body: form, redirect: 'manual' });
  return new URL(response.headers.get('location') ?? '');
}
