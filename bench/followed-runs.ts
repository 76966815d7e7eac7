import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { createProduct } from '../sandbox/demo/product.ts';
import { startSimulatedService } from '../sandbox/service/server.ts';
import { startLocalSlack } from '../sandbox/slack/server.ts';
import {
  addHouseAccount,
  CHANNEL,
  connectHouse,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from '../test/support/house.ts';

const INTERVAL_MS = 2_500;
const SIZES = [100, 1_000];

/** Runs followed at once by one process of its own: whether all end, how late, and what each costs in memory. */
export async function followedRuns(): Promise<void> {
  console.log('| runs | all ended after | RSS before | RSS at its highest | a run | CPU |');
  console.log('| ---: | ---: | ---: | ---: | ---: | ---: |');
  for (const size of SIZES) console.log(await measure(size));
}

async function measure(size: number): Promise<string> {
  const service = await startSimulatedService();
  const slack = await startLocalSlack();
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-bench-'));
  const { botToken } = furnish(slack);
  const projects = Array.from({ length: size }, (_, at) => ({
    name: `Shop ${at}`,
    permalink: `shop-${at}`,
    servers: [{ name: 'web-1' }, { name: 'web-2' }],
  }));
  addHouseAccount(service, projects);
  const env = environment(slack, service, botToken, folder);
  const product = createProduct({ ...env, POLL_INTERVAL_MS: String(INTERVAL_MS) }, () => undefined);
  try {
    const origin = `http://127.0.0.1:${await product.start()}`;
    slack.deliverTo(`${origin}/slack/events`);
    await connectHouse(slack);
    // All runs take long enough to overlap, so that every one of them is followed at once.
    for (const { permalink } of projects)
      service.world.setRunOutcome({ account: 'acme', project: permalink, durationMs: 10_000 + size * 10 });
    const before = await readMetrics(origin);
    const start = performance.now();
    const ben = slack.as(TEAM, PEOPLE.member);
    for (const { permalink } of projects) await ben.command(CHANNEL, `/deckhand test ${permalink}`);
    const sampler = sampleHighest(origin);
    const ended = () => slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('completed')).length;
    await slack.until(() => ended() === size, { timeoutMs: 600_000, what: `${size} runs to end` });
    const seconds = (performance.now() - start) / 1000;
    const highest = await sampler.end();
    const after = await readMetrics(origin);
    const aRun = ((highest - before.rss) / size / 1024).toFixed(1);
    const cpu = (after.cpu - before.cpu).toFixed(1);
    return `| ${size} | ${seconds.toFixed(1)} s | ${mega(before.rss)} | ${mega(highest)} | ${aRun} kB | ${cpu} s |`;
  } finally {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function readMetrics(origin: string): Promise<{ rss: number; cpu: number }> {
  const text = await (await request(`${origin}/metrics`)).body.text();
  const read = (name: string): number =>
    Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  return { rss: read('process_resident_memory_bytes'), cpu: read('process_cpu_seconds_total') };
}

function sampleHighest(origin: string): { end(): Promise<number> } {
  let highest = 0;
  const look = async (): Promise<void> => {
    highest = Math.max(highest, (await readMetrics(origin)).rss);
  };
  const timer = setInterval(() => void look(), 500);
  return {
    async end() {
      clearInterval(timer);
      await look();
      return highest;
    },
  };
}

function mega(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}
