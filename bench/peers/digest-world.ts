import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { SCOPE_NAMES } from '../../src/slack/scopes.ts';
import { sayListening } from '../support/processes.ts';

// Slack's Web API for any number of workspaces and the deployment service for any number of accounts, at their
// plainest: canned answers after a fixed time. A code of an install is the id of the workspace; so is a token's end.

export interface WorldTold {
  /** Posts in channels outside threads, by how many workspaces got one, and by how many more than one. */
  reached: number;
  twice: number;
  /** Wall clock, milliseconds since the epoch. */
  lastPostAt: number;
  /** Most calls of one account under way at once. */
  mostOfAnAccount: number;
  /** Most calls of all accounts under way at once. */
  mostOfAll: number;
}

const delayMs = Number(process.env.DELAY_MS ?? 0);
/** One workspace in ten refuses charts, so that it gets words. */
function drawsNoCharts(team: string): boolean {
  return team.endsWith('0');
}

const activity = JSON.stringify({
  events: Array.from({ length: 20 }, (_, at) => ({
    event: at % 5 === 0 ? 'deploy_failed' : 'deploy_completed',
    properties: { end_ref: 'a1b2c3d4', servers: ['web-1'] },
    project: { name: 'Storefront', permalink: 'storefront', identifier: 'storefront' },
    user: 'Ann',
    created_at: new Date(Date.now() - at * 7 * 3_600_000).toISOString(),
  })),
  stats: {
    total_deployments: 20,
    total_deployments_delta: 3,
    success_rate: 80,
    success_rate_delta: -1.5,
    avg_duration: '1m 12s',
    active_servers: 4,
  },
});
const profile = JSON.stringify({
  first_name: 'Ann',
  last_name: 'Admin',
  email_address: 'ann@example.com',
  time_zone: 'UTC',
  account: { name: 'Acme', permalink: 'acme', beta_features: false },
});
const projects = JSON.stringify([{ name: 'Storefront', permalink: 'storefront', identifier: 'storefront' }]);

let posts = new Map<string, number>();
let lastPostAt = 0;
let lastTs = 0;
const underWay = new Map<string, number>();
let allUnderWay = 0;
let most = { ofAnAccount: 0, ofAll: 0 };

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function slackAnswer(method: string, team: string, body: string): object {
  const form = new URLSearchParams(body);
  const channel = form.get('channel') ?? 'C0BENCH';
  switch (method) {
    case 'oauth.v2.access': {
      const id = form.get('code') ?? '';
      const granted = { access_token: `xoxb-${id}`, scope: SCOPE_NAMES.join(','), bot_user_id: 'U0BOT' };
      return { ok: true, ...granted, team: { id, name: id }, authed_user: { id: 'U0ANN' } };
    }
    case 'chat.postMessage':
      if (drawsNoCharts(team) && form.get('blocks')?.includes('"data_visualization"'))
        return { ok: false, error: 'invalid_blocks' };
      lastTs += 1;
      if (channel.startsWith('C') && !form.has('thread_ts')) {
        posts.set(team, (posts.get(team) ?? 0) + 1);
        lastPostAt = Date.now();
      }
      return { ok: true, channel, ts: `${1_700_000_000 + lastTs}.000100` };
    case 'conversations.open':
      return { ok: true, channel: { id: 'D0ANN' } };
    case 'users.info':
      return { ok: true, user: { id: form.get('user'), team_id: team, is_admin: true, tz: 'UTC' } };
    default:
      return { ok: true, channel, ts: form.get('ts') ?? '1.1' };
  }
}

function serviceAnswer(path: string): string {
  if (path.startsWith('/activity')) return activity;
  return path.startsWith('/profile') ? profile : projects;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '/';
  const account = /^([a-z0-9-]+)\.localhost/.exec(request.headers.host ?? '')?.[1];
  if (account !== undefined) enter(account);
  const body = await read(request);
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  const text = account === undefined ? answerOfSlack(path, request, body) : serviceAnswer(path);
  if (account !== undefined) leave(account);
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

function answerOfSlack(path: string, { headers }: IncomingMessage, body: Buffer): string {
  const team = headers.authorization?.split('xoxb-')[1] ?? '';
  return JSON.stringify(slackAnswer(path.slice('/slack/'.length), team, body.toString()));
}

function enter(account: string): void {
  const now = (underWay.get(account) ?? 0) + 1;
  underWay.set(account, now);
  allUnderWay += 1;
  most = { ofAnAccount: Math.max(most.ofAnAccount, now), ofAll: Math.max(most.ofAll, allUnderWay) };
}

function leave(account: string): void {
  underWay.set(account, (underWay.get(account) ?? 0) - 1);
  allUnderWay -= 1;
}

function tell(): WorldTold {
  const twice = [...posts.values()].filter((amount) => amount > 1).length;
  const { ofAnAccount: mostOfAnAccount, ofAll: mostOfAll } = most;
  return { reached: posts.size, twice, lastPostAt, mostOfAnAccount, mostOfAll };
}

const server = createServer((request, response) => void answer(request, response));
server.keepAliveTimeout = 60_000;
// Every address of this machine, since names under `localhost` may be either family.
server.listen(0, () => sayListening(port()));

function port(): number {
  return (server.address() as AddressInfo).port;
}

process.on('message', (message: { kind: 'tell' | 'reset' }) => {
  process.send?.(tell());
  if (message.kind !== 'reset') return;
  posts = new Map();
  most = { ofAnAccount: 0, ofAll: 0 };
});
process.on('SIGTERM', () => process.exit(0));
