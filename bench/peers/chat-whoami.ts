import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { createSlackAdapter } from '@chat-adapter/slack';
import { createMemoryState } from '@chat-adapter/state-memory';
import { getRequestListener } from '@hono/node-server';
import { type Adapter, Chat } from 'chat';
import { sayListening } from '../support/processes.ts';

// The same command in another framework, by its guide: it verifies, acknowledges and calls the handler. It has no way
// to answer by `response_url`, so the handler does that with fetch, as the one by hand does.
const bot = new Chat({
  userName: 'deckhand',
  logger: 'silent',
  state: createMemoryState(),
  adapters: {
    slack: createSlackAdapter({
      signingSecret: process.env.SLACK_SIGNING_SECRET ?? '',
      botToken: 'xoxb-bench',
      apiUrl: process.env.SLACK_API_URL ?? '',
      // Its own types were written without exactOptionalPropertyTypes.
    }) as Adapter,
  },
});

interface Profile {
  first_name: string;
  email_address: string;
  account: { name: string };
}

bot.onSlashCommand(async ({ raw }) => {
  const answer = await fetch(`${process.env.SERVICE_URL}/profile`, {
    headers: { authorization: `Basic ${btoa('ann@example.com:key')}`, accept: 'application/json' },
  });
  const profile = (await answer.json()) as Profile;
  const text = `${profile.first_name} <${profile.email_address}> in ${profile.account.name}`;
  const { response_url: url } = raw as { response_url: string };
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }] }),
  });
});
await bot.initialize();

const receive = bot.webhooks.slack;
if (receive === undefined) throw new TypeError('the adapter takes no requests');
const server = createServer(
  getRequestListener((request) =>
    receive(request, { waitUntil: (work) => void work.catch(() => process.exit(1)) }),
  ),
);
server.listen(0, '127.0.0.1', () => sayListening((server.address() as AddressInfo).port));
process.on('SIGTERM', () => process.exit(0));
