import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { request } from 'undici';
import type { DayAsked, DayTold } from './peers/day.ts';
import type { Load, LoadResult } from './peers/load.ts';
import { environment, freshFolder, SECRET, startDeckhand } from './support/deckhand.ts';
import { type Program, residentBytes, startProgram } from './support/processes.ts';
import { seed } from './support/seed.ts';
import { mega, printTable } from './support/tables.ts';

const root = join(import.meta.dirname, '..');
/** As `npm start` has it; `SOURCES=yes` measures the sources. */
const BUNDLE = {
  BUNDLE: process.env.SOURCES === 'yes' ? 'no' : 'yes',
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'deckhand'),
};
/** A simulated day takes 24 minutes. `HOURS=2` measures less of it. */
const SPEED = 60;
const HOURS = Number(process.env.HOURS ?? 24);
const LOOKS = 12;
/** Until then the clock goes as it does: what people set up needs Slack's own patience. */
const SET_UP_MS = 20_000;
/** What people wait for a run's news, at this speed. */
const POLL_INTERVAL_MS = '50';
/** The same commands as fast as they go, many days' worth. */
const STEPS = 6;
const COMMANDS = 5_000;

/** Whether memory stays what it is: through a day of one busy workspace, and through many days' commands in a row. */
export async function endurance(): Promise<void> {
  execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')], { stdio: 'ignore' });
  await throughADay();
  console.log();
  await inARow();
}

async function throughADay(): Promise<void> {
  const store = await freshFolder();
  const preload = pathToFileURL(join(import.meta.dirname, 'support', 'fast-clock.ts')).href;
  const epoch = Date.now() + SET_UP_MS;
  const clock = { SPEED: String(SPEED), EPOCH: String(epoch), NODE_OPTIONS: `--import ${preload}` };
  const day = await startProgram('bench/peers/day.ts', clock);
  const ask = (asked: DayAsked): Promise<DayTold> => day.ask<DayTold>(asked);
  const given = await day.ask<Record<string, string>>({ kind: 'environment', folder: store.folder });
  const deckhand = await startDeckhand({
    ...given,
    ...clock,
    ...BUNDLE,
    POLL_INTERVAL_MS,
    LOG_LEVEL: 'warn',
  });
  const bolt = await startProgram('bench/peers/bare-bolt.ts', { SLACK_SIGNING_SECRET: SECRET });
  const load = await startProgram('bench/peers/load.ts');
  try {
    await ask({ kind: 'begin', origin: `http://127.0.0.1:${deckhand.port}` });
    if (Date.now() > epoch) throw new Error('setting up took too long');
    await new Promise((resolve) => setTimeout(resolve, epoch - Date.now()));
    const rows = [await rowOf(0, deckhand, await ask({ kind: 'told' }))];
    for (let look = 1; look <= LOOKS; look += 1) {
      const told = await ask({ kind: 'hours', hours: HOURS / LOOKS });
      rows.push(await rowOf((look * HOURS) / LOOKS, deckhand, told));
    }
    printTable(
      ['hour', 'commands', 'not taken', 'runs', 'ended', 'scheduled posts', 'heap', 'resident'],
      rows,
    );
    const { commands } = await ask({ kind: 'told' });
    await load.ask<LoadResult>(loadOf(bolt, commands, 'none'));
    const ours = residentBytes(deckhand.pid).now;
    const theirs = residentBytes(bolt.pid).now;
    const against = (ours / theirs).toFixed(2);
    console.log(`\nBare Bolt after as many acks: ${mega(theirs)}; Deckhand against it: ${against}`);
  } finally {
    for (const program of [deckhand, bolt, load, day]) await program.end();
    await store.remove();
  }
}

async function rowOf(hour: number, deckhand: Program, told: DayTold): Promise<(string | number)[]> {
  const { commands, failed, runs, ended } = told;
  const slots = await occurrencesOf(deckhand);
  const resident = mega(residentBytes(deckhand.pid).now);
  return [hour.toFixed(1), commands, failed, runs, ended, slots, await heapOf(deckhand), resident];
}

/** Digests, news of watches and invoice notices that were posted. */
async function occurrencesOf({ port }: Program): Promise<number> {
  const text = await (await request(`http://127.0.0.1:${port}/metrics`)).body.text();
  const lines = text.matchAll(/^deckhand_slots_total\{kind="\w+",outcome="posted"\} (\d+)/gm);
  return [...lines].reduce((sum, [, amount]) => sum + Number(amount), 0);
}

/** After a collection. */
async function heapOf(deckhand: Program): Promise<string> {
  const { heapUsed } = await deckhand.ask<{ heapUsed: number }>('memory');
  return `${(heapUsed / 1024 / 1024).toFixed(1)} MB`;
}

function loadOf({ port }: Program, count: number, reply: Load['reply']): Load {
  const origin = `http://127.0.0.1:${port}`;
  return { kind: 'command', text: 'whoami', count, concurrency: 50, origin, secret: SECRET, reply };
}

async function inARow(): Promise<void> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts');
  const load = await startProgram('bench/peers/load.ts');
  const env = environment(world, store.storeUrl, load.port);
  await seed(env);
  const deckhand = await startDeckhand({ ...env, ...BUNDLE });
  try {
    const rows: string[][] = [];
    for (let step = 1; step <= STEPS; step += 1) {
      await load.ask<LoadResult>(loadOf(deckhand, COMMANDS, 'awaited'));
      rows.push([String(step * COMMANDS), await heapOf(deckhand), mega(residentBytes(deckhand.pid).now)]);
    }
    printTable(['commands so far', 'heap', 'resident'], rows);
  } finally {
    for (const program of [deckhand, load, world]) await program.end();
    await store.remove();
  }
}
