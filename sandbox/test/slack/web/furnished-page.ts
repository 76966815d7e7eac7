import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployMessages, type Fixture } from './fixture-messages.ts';
import { homeView } from './fixture-views.ts';
import { channels, workspace } from './fixture-workspace.ts';
import { hostPage, type PageHost } from './page-host.ts';

const chart = join(import.meta.dirname, 'chart.png');

/** The page with the fixtures' company in it. */
export async function hostFurnishedPage(messages: readonly Fixture[] = deployMessages): Promise<PageHost> {
  const host = await hostPage();
  host.answer('workspace', workspace);
  host.answer('messages', { messages });
  host.answer('views', { views: [] });
  host.answer('home', { view: homeView });
  host.answer('deliveries', { deliveries });
  host.answer('calls', { calls });
  host.addFile('F0CHART001', 'image/png', readFileSync(chart));
  return host;
}

const from = 1_772_444_000_000;

const deliveries = [
  {
    id: '1',
    at: from,
    kind: 'command',
    name: '/deckhand',
    status: 200,
    ack_ms: 14.2,
    attempt: 1,
    payload: { command: '/deckhand', text: 'test storefront', channel_id: channels.deploys },
  },
  {
    id: '2',
    at: from + 4000,
    kind: 'block_actions',
    name: 'again',
    status: 200,
    ack_ms: 2105,
    attempt: 1,
    payload: { type: 'block_actions' },
  },
  {
    id: '3',
    at: from + 9000,
    kind: 'event',
    name: 'app_home_opened',
    status: null,
    ack_ms: null,
    attempt: 2,
    error: 'no answer within 3 s',
    payload: { type: 'app_home_opened' },
  },
];

const calls = [
  {
    id: '1',
    at: from + 200,
    method: 'chat.postMessage',
    status: 200,
    ok: true,
    ms: 3,
    args: { channel: channels.deploys, text: 'Test access of Storefront' },
  },
  {
    id: '2',
    at: from + 2800,
    method: 'chat.update',
    status: 429,
    ok: false,
    error: 'ratelimited',
    ms: 1,
    args: {},
  },
];
