import { createHmac } from 'node:crypto';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { DAY_MS } from '../src/core/time/clock.ts';
import { AuditEntry } from '../src/records/audit-log.ts';
import type { NewRun } from '../src/records/test-runs.ts';
import type { Workspace } from '../src/workspace/workspace.ts';
import {
  ACCOUNT,
  checkouts,
  environment,
  freshFolder,
  SECRET,
  startDeckhand,
  TEAM,
} from './support/deckhand.ts';
import { type Program, startProgram } from './support/processes.ts';
import { seed } from './support/seed.ts';
import { ms, printTable } from './support/tables.ts';

const PROJECTS = Number(process.env.PROJECTS ?? 2_000);
const AUDIT_ROWS = 100_000;
const RUNS = 20_000;
/** How many requests a case makes, one after the other; the longest hold of all counts. */
const ROUNDS = 3;
/** After this time the slowest answer has been sent. */
const ANSWERED_MS = 3_000;

/** A command by its words, or an event. */
type Case = { words: string } | { event: object };

/** NFKC makes eighteen letters of this one. */
const EXPANDING = 'ﷺ'.repeat(1_400);

const CASES: Readonly<Record<string, Case>> = {
  'digest list': { words: 'digest list' },
  doctor: { words: 'doctor' },
  audit: { words: 'audit 20' },
  'use, a name that expands': { words: `use ${EXPANDING}` },
  'test, a name that expands': { words: `test ${EXPANDING}` },
  'test, many words': { words: `test ${'a '.repeat(1_400)}` },
  'server show, a name that expands': { words: `server show ${EXPANDING} storefront` },
  'words that are no command': { words: `is ${'storefront '.repeat(250)} up` },
  'App Home': { event: { type: 'app_home_opened', user: 'U0BEN', tab: 'home', channel: 'D0BEN' } },
};

/** The longest hold of the event loop by one request, in a workspace with years of history (X20). */
export async function holds(): Promise<void> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts', { PROJECTS: String(PROJECTS) });
  const env = environment(world, store.storeUrl);
  const rows: string[][] = [];
  try {
    await seed(env, fillHistory);
    for (const [name, root] of Object.entries(checkouts())) {
      const deckhand = await startDeckhand(env, root);
      await setTimeout(ANSWERED_MS);
      for (const [title, one] of Object.entries(CASES)) {
        await readLongestHold(deckhand);
        for (let round = 0; round < ROUNDS; round += 1) {
          await send(deckhand, world, one);
          await setTimeout(ANSWERED_MS);
        }
        rows.push([title, name, ms((await readLongestHold(deckhand)) * 1000)]);
      }
      await deckhand.end();
    }
    printTable(['request', 'candidate', 'longest hold'], rows);
  } finally {
    await world.end();
    await store.remove();
  }
}

async function fillHistory({ store, runs, clock }: Workspace): Promise<void> {
  const now = clock.now();
  const audit = store.collection('audit', AuditEntry);
  for (let at = 0; at < AUDIT_ROWS; at += 1) {
    const id = `${String(now - at * 1000).padStart(15, '0')}-000000-${at}`;
    await audit.put(
      id,
      { at: now - at * 1000, requestedBy: 'U0BEN', what: 'test', target: 'acme/p1', result: 'done' },
      now + DAY_MS,
    );
  }
  for (let at = 0; at < RUNS; at += 1) await runs.claim(runAt(at, now - at * 1000), 0);
}

function runAt(at: number, startedAt: number): NewRun {
  const name = `p${at}`;
  const target = { account: ACCOUNT, project: { permalink: name, identifier: name, name } };
  const ended = {
    status: 'completed',
    endedAt: startedAt + 900,
    repository: 'ok',
    reachable: 3,
    total: 3,
  } as const;
  return {
    target,
    requestId: name,
    channel: 'C0BENCH',
    rootTs: '1.1',
    requestedBy: 'U0BEN',
    startedAt,
    threads: true,
    layout: 'compact',
    ...ended,
  };
}

/** In seconds, since the last time it was read: Node's own histogram begins anew at each scrape. */
async function readLongestHold({ port }: Program): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]);
}

let lastId = 0;

async function send({ port }: Program, world: Program, one: Case): Promise<void> {
  lastId += 1;
  const isEvent = 'event' in one;
  const body = isEvent
    ? JSON.stringify({
        type: 'event_callback',
        team_id: TEAM,
        api_app_id: 'A0BENCH',
        event_id: `Ev${lastId}`,
        event: one.event,
      })
    : new URLSearchParams({
        team_id: TEAM,
        channel_id: 'C0BENCH',
        channel_name: 'deploys',
        user_id: 'U0BEN',
        command: '/deckhand',
        text: one.words,
        api_app_id: 'A0BENCH',
        response_url: `http://127.0.0.1:${world.port}/reply/${lastId}`,
        trigger_id: `1.1.${lastId}`,
      }).toString();
  const at = String(Math.floor(Date.now() / 1000));
  const digest = createHmac('sha256', SECRET).update(`v0:${at}:${body}`).digest('hex');
  const headers = {
    'content-type': isEvent ? 'application/json' : 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': at,
    'x-slack-signature': `v0=${digest}`,
  };
  const response = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`A request was answered with ${response.status}`);
}
