import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { request } from 'undici';
import type { WorldTold } from './peers/digest-world.ts';
import { environment, freshFolder, startDeckhand } from './support/deckhand.ts';
import { installAll } from './support/installing.ts';
import { cpuSeconds, type Program, residentBytes, startProgram } from './support/processes.ts';
import { printTable } from './support/tables.ts';

const SIZES = (process.env.SIZES ?? '100,1000,10000').split(',').map(Number);
/** How long Slack and the service take for an answer, so that calls are under way together. */
const DELAY_MS = '20';
/** As many calls as Deckhand has under way at one account, at most. */
const CONFIGURED = 32;
const MINUTE = 60_000;
/** Longer than setting up takes; the clock is moved there. */
const AHEAD_MS = 50 * MINUTE;
/** Longer than a read of a feed takes at the start. */
const FEED_READ_MS = 15;
/** Each look takes Deckhand some milliseconds, which are none of the digests'. */
const POLL_MS = 1_000;

interface Outcome {
  told: WorldTold;
  seconds: number;
  idle: number;
  peak: number;
  cpu: number;
}

/** Digests of as many workspaces that fall due in the same minute. */
export async function digests(): Promise<void> {
  const rows: string[][] = [];
  for (const size of SIZES) rows.push(await measure(size));
  printTable(
    [
      'workspaces',
      'delivered',
      'twice',
      'last one after',
      'a second',
      'memory before',
      'at its highest',
      'CPU',
      'most calls of an account at once',
    ],
    rows,
  );
}

async function measure(size: number): Promise<string[]> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/digest-world.ts', { DELAY_MS });
  const env = {
    ...environment(world, store.storeUrl),
    LOG_LEVEL: 'info',
    SLACK_BOT_TOKEN: '',
    SLACK_CLIENT_ID: 'bench',
    SLACK_CLIENT_SECRET: 'bench-secret',
    PUBLIC_URL: 'https://bench.test',
    SERVICE_BASE_URL: `http://{account}.localhost:${world.port}`,
  };
  try {
    const occurrence = Math.ceil((Date.now() + AHEAD_MS) / MINUTE) * MINUTE;
    await setUp(env, world, size, occurrence);
    const clock = join(store.folder, 'clock');
    return rowOf(size, await fallDue({ ...env, CLOCK_FILE: clock }, world, size, occurrence));
  } finally {
    await world.end();
    await store.remove();
  }
}

/** Installs Deckhand in each workspace, connects an account and sets up the digest, as people would. */
async function setUp(
  env: Record<string, string>,
  world: Program,
  size: number,
  occurrence: number,
): Promise<void> {
  const deckhand = await startDeckhand(env);
  try {
    const time = new Date(occurrence).toISOString().slice(11, 16);
    await installAll(`http://127.0.0.1:${deckhand.port}`, size, `digest add daily ${time} UTC last_7_days`);
    await until(async () => (await world.ask<WorldTold>({ kind: 'tell' })).reached === size);
  } finally {
    await deckhand.end();
  }
}

/** Starts Deckhand anew shortly before the occurrence by a moved clock, and waits for all that it posts. */
async function fallDue(
  env: Record<string, string> & { CLOCK_FILE: string },
  world: Program,
  size: number,
  occurrence: number,
): Promise<Outcome> {
  await world.ask({ kind: 'reset' });
  // Reading all schedules takes a while. Feeds that nobody watches are read once more, because the clock was moved.
  const dueAt = Date.now() + 4_000 + FEED_READ_MS * size;
  const preload = pathToFileURL(join(import.meta.dirname, '..', 'test', 'process', 'shifted-clock.ts')).href;
  await writeFile(env.CLOCK_FILE, String(occurrence - dueAt));
  const deckhand = await startDeckhand({ ...env, NODE_OPTIONS: `--import ${preload}` });
  try {
    if (Date.now() > dueAt) console.log(`(${size}: the start took longer than until the occurrence)`);
    const { now: idle } = residentBytes(deckhand.pid);
    await new Promise((resolve) => setTimeout(resolve, dueAt - 500 - Date.now()));
    const cpuBefore = cpuSeconds(deckhand.pid);
    await until(async () => (await postedSlots(deckhand)) === size);
    const told = await world.ask<WorldTold>({ kind: 'tell' });
    const { highest: peak } = residentBytes(deckhand.pid);
    const cpu = cpuSeconds(deckhand.pid) - cpuBefore;
    return { told, seconds: (told.lastPostAt - dueAt) / 1000, idle, peak, cpu };
  } finally {
    await deckhand.end();
  }
}

async function postedSlots({ port }: Program): Promise<number> {
  const text = await (await request(`http://127.0.0.1:${port}/metrics`)).body.text();
  const lines = text.matchAll(/^deckhand_slots_total\{kind="digest",outcome="\w+"\} (\d+)/gm);
  return [...lines].reduce((sum, [, amount]) => sum + Number(amount), 0);
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

function rowOf(size: number, { told, seconds, idle, peak, cpu }: Outcome): string[] {
  return [
    String(size),
    String(told.reached),
    String(told.twice),
    `${seconds.toFixed(1)} s`,
    (size / seconds).toFixed(0),
    mega(idle),
    mega(peak),
    `${cpu.toFixed(1)} s`,
    `${told.mostOfAnAccount} of ${CONFIGURED}`,
  ];
}

function mega(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}
