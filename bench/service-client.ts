import type { ClientLoad } from './peers/client.ts';
import { startProgram } from './support/processes.ts';
import { alternate, median, ratio } from './support/rounds.ts';
import { printTable } from './support/tables.ts';

const COUNT = 6_000;
const CONCURRENCY = 100;
const DELAYS_MS = [0, 20];

interface Sample {
  perSecond: number;
  cpuMs: number;
  connections: number;
}

/** The service's client with all its checks, limits and time-outs, beside undici without any. */
export async function serviceClient(): Promise<void> {
  const rows: string[][] = [];
  for (const delayMs of DELAYS_MS) rows.push(...(await measure(delayMs)));
  printTable(
    ['service takes', 'candidate', 'requests/s', 'CPU a request', 'connections', 'against undici'],
    rows,
  );
}

async function measure(delayMs: number): Promise<string[][]> {
  const world = await startProgram('bench/peers/world.ts', { DELAY_MS: String(delayMs) });
  const client = await startProgram('bench/peers/client.ts');
  async function sample(by: ClientLoad['by']): Promise<Sample> {
    await world.ask({ kind: 'reset' });
    const load: ClientLoad = {
      by,
      origin: `http://127.0.0.1:${world.port}`,
      count: COUNT,
      concurrency: CONCURRENCY,
    };
    const { seconds, cpuMs } = await client.ask<{ seconds: number; cpuMs: number }>(load);
    const { connections } = await world.ask<{ connections: number }>({ kind: 'tell' });
    return { perSecond: COUNT / seconds, cpuMs, connections };
  }
  try {
    const candidates = { client: () => sample('client'), undici: () => sample('undici') };
    for (const warmUp of Object.values(candidates)) await warmUp();
    const samples = await alternate(candidates);
    return (['client', 'undici'] as const).map((by) => [
      `${delayMs} ms`,
      by === 'client' ? 'Deckhand’s client' : 'undici',
      Math.round(median(samples[by].map(({ perSecond }) => perSecond))).toString(),
      `${median(samples[by].map(({ cpuMs }) => cpuMs)).toFixed(2)} ms`,
      String(Math.max(...samples[by].map(({ connections }) => connections))),
      by === 'client'
        ? ratio(
            samples.client.map(({ perSecond }) => perSecond),
            samples.undici.map(({ perSecond }) => perSecond),
          )
        : '',
    ]);
  } finally {
    await client.end();
    await world.end();
  }
}
