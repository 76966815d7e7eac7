import process from 'node:process';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import { startLocalSlack } from '../../sandbox/slack/server.ts';
import {
  ACCOUNT,
  CHANNEL,
  connectAccount,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from '../../test/support/test-world.ts';
import { sayListening } from '../support/processes.ts';

// The people of one busy workspace, and what their deployments do meanwhile, all by the clock of this process.

export type DayAsked =
  | { kind: 'environment'; folder: string }
  /** Deckhand is there; connects the account and sets up what goes by itself. */
  | { kind: 'begin'; origin: string }
  | { kind: 'hours'; hours: number }
  | { kind: 'told' };

export interface DayTold {
  commands: number;
  runs: number;
  /** Runs whose root message says how they ended. */
  ended: number;
  /** Commands that Deckhand did not take in time. */
  failed: number;
}

const PROJECTS = 24;
const CHANNELS = [CHANNEL, 'C0SHOPS', 'C0NORTH', 'C0SOUTH'];
const MINUTE_MS = 60_000;
/** How long a test of three servers takes. */
const RUN_MS = 45_000;
const COMMANDS = [
  'whoami',
  'projects',
  'help',
  'activity today',
  'activity last_7_days stats',
  'accounts',
  'server show web-1 shop-1',
  'digest list',
  'watch list',
  'doctor',
  'audit 20',
  'invoices',
  'deploy', // There is none: the nearest is named.
];

const service = await startSimulatedService();
const slack = await startLocalSlack();
const { botToken } = furnish(slack);
for (const id of CHANNELS.slice(1))
  slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: Object.values(PEOPLE) });
service.world.addAccount({
  name: ACCOUNT,
  users: [{ email: 'ann@example.com', apiKey: 'HouseKey00HouseKey00HouseKey00HouseKey00', role: 'admin' }],
  projects: Array.from({ length: PROJECTS }, (_, at) => ({
    name: `Shop ${at}`,
    permalink: `shop-${at}`,
    servers: [{ name: 'web-1' }, { name: 'web-2' }, { name: 'web-3' }],
  })),
});
for (let at = 0; at < PROJECTS; at += 1)
  service.world.setRunOutcome({ account: ACCOUNT, project: `shop-${at}`, durationMs: RUN_MS });

const ann = slack.as(TEAM, PEOPLE.admin);
const told: DayTold = { commands: 0, runs: 0, ended: 0, failed: 0 };
let minutes = 0;

async function type(channel: string, words: string): Promise<void> {
  const { outcome } = await ann.command(channel, `/deckhand ${words}`);
  told.commands += 1;
  if (outcome !== 'ok') told.failed += 1;
}

async function begin(origin: string): Promise<void> {
  slack.deliverTo(`${origin}/slack/events`);
  await connectAccount(slack);
  for (const channel of CHANNELS) {
    await type(channel, 'digest add cron:"0 * * * *" UTC today');
    await type(channel, 'watch all all');
  }
  await type('C0BILLING', 'invoices notify here');
}

/** Three commands, a test, and every few minutes a deployment and a look at App Home. */
async function minute(): Promise<void> {
  minutes += 1;
  const channel = CHANNELS[minutes % CHANNELS.length] ?? CHANNEL;
  for (let at = 0; at < 3; at += 1)
    await type(channel, COMMANDS[(minutes * 3 + at) % COMMANDS.length] ?? 'help');
  await type(channel, `test shop-${minutes % PROJECTS}`);
  told.runs += 1;
  if (minutes % 5 === 0)
    service.world.addDeployment({
      account: ACCOUNT,
      project: `shop-${minutes % PROJECTS}`,
      succeeded: minutes % 25 !== 0,
      durationMs: 61_000,
    });
  if (minutes % 10 === 0) await ann.openHome();
}

async function hours(amount: number): Promise<void> {
  const start = Date.now();
  for (let at = 1; at <= amount * 60; at += 1) {
    await minute();
    while (Date.now() < start + at * MINUTE_MS) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function tell(): DayTold {
  const roots = CHANNELS.flatMap((channel) => slack.messages(TEAM, channel));
  return { ...told, ended: roots.filter(({ text }) => text.includes('all 3 servers are reachable')).length };
}

async function answer(asked: DayAsked): Promise<void> {
  if (asked.kind === 'environment') {
    process.send?.(environment(slack, service, botToken, asked.folder));
    return;
  }
  if (asked.kind === 'begin') await begin(asked.origin);
  if (asked.kind === 'hours') await hours(asked.hours);
  process.send?.(tell());
}

process.on('message', (asked: DayAsked) => void answer(asked));
process.on('SIGTERM', () => process.exit(0));
sayListening(0);
