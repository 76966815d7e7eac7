import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { sayListening } from '../support/processes.ts';
import { createRuns } from './world-runs.ts';

// Slack's Web API and the deployment service at their plainest: canned answers after a fixed time. What is simulated
// faithfully in `sandbox/` would be measured along; this is not.
const delayMs = Number(process.env.DELAY_MS ?? 0);

const activity = {
  events: Array.from({ length: 100 }, (_, at) => ({
    event: at % 5 === 0 ? 'deployment_failed' : 'deployment_completed',
    properties: { end_ref: 'a1b2c3d4', servers: ['web-1'] },
    project: { name: 'Storefront', permalink: 'storefront', identifier: 'storefront' },
    user: 'Ann',
    created_at: new Date(Date.now() - at * 3_000_000).toISOString(),
  })),
  stats: {
    total_deployments: 100,
    total_deployments_delta: 3,
    success_rate: 80,
    success_rate_delta: -1.5,
    avg_duration: '1m 12s',
    active_servers: 4,
  },
};
const profile = {
  first_name: 'Ann',
  last_name: 'Admin',
  email_address: 'ann@example.com',
  time_zone: 'UTC',
  account: { name: 'Acme', permalink: 'acme', beta_features: false },
};
const projects = Array.from({ length: Number(process.env.PROJECTS ?? 1) }, (_, at) => {
  const permalink = at === 0 ? 'storefront' : `p${at}`;
  return { name: at === 0 ? 'Storefront' : `Project ${at}`, permalink, identifier: permalink };
});

let calls = { slack: 0, service: 0, connections: 0, most: 0 };
let open = 0;
let lastTs = 0;
const runs = createRuns();

function answerTo(path: string, body: string): unknown {
  if (path.startsWith('/upload/')) return 'OK';
  if (path.startsWith('/slack/')) return slackAnswer(path.slice('/slack/'.length), body);
  calls.service += 1;
  if (path.endsWith('/test_access')) return runs.started();
  if (path.includes('/test_access/')) return runs.seen(path.split('/').at(-1) ?? '');
  if (path.includes('/activity')) return activity;
  return path.includes('/profile') ? profile : projects;
}

function slackAnswer(method: string, body: string): unknown {
  calls.slack += 1;
  const form = new URLSearchParams(body);
  const channel = form.get('channel') ?? 'C0BENCH';
  runs.shown(method, form);
  if (method === 'chat.postMessage') {
    lastTs += 1;
    return { ok: true, channel, ts: `${1_700_000_000 + lastTs}.000100` };
  }
  if (method === 'files.getUploadURLExternal')
    return { ok: true, upload_url: `http://127.0.0.1:${port()}/upload/1`, file_id: 'F0BENCH' };
  if (method === 'users.info')
    return { ok: true, user: { id: form.get('user'), team_id: 'T0BENCH', is_admin: true } };
  return { ok: true, channel, ts: form.get('ts') ?? '1.1' };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const server = createServer((request, response) => {
  open += 1;
  calls.most = Math.max(calls.most, open);
  void read(request).then((body) => {
    const answer = answerTo(request.url ?? '/', body);
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    const send = (): void => {
      open -= 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    };
    if (delayMs > 0) setTimeout(send, delayMs);
    else send();
  });
});
server.keepAliveTimeout = 60_000;
server.on('connection', () => {
  calls.connections += 1;
});
server.listen(0, '127.0.0.1', () => sayListening(port()));

function port(): number {
  return (server.address() as AddressInfo).port;
}

/** The project is deployed now. */
function deploy(permalink: string): void {
  const added = {
    event: 'deploy_completed',
    properties: { end_ref: String(Date.now()), servers: ['web-1'] },
    project: { name: permalink, permalink, identifier: permalink },
    user: 'Ann',
    created_at: new Date().toISOString(),
  };
  activity.events = [added, ...activity.events].slice(0, activity.events.length);
}

process.on('message', (message: { kind: string; start: number; project?: string }) => {
  if (message.kind === 'runs') runs.begin(message.start);
  if (message.project !== undefined) deploy(message.project);
  process.send?.({ ...calls, ...runs.told() });
  if (message.kind === 'reset') calls = { slack: 0, service: 0, connections: 0, most: 0 };
});
process.on('SIGTERM', () => process.exit(0));
