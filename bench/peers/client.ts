import process from 'node:process';
import { Agent, request } from 'undici';
import { systemClock } from '../../src/core/clock.ts';
import { createService } from '../../src/service/client.ts';
import { getProfile } from '../../src/service/profile.ts';
import { sayListening } from '../support/processes.ts';

/** So many looks at the profile, by our client or by undici alone. */
export interface ClientLoad {
  origin: string;
  by: 'client' | 'undici';
  count: number;
  concurrency: number;
}

const CONNECTIONS = 32;
const API_KEY = 'BenchKey00BenchKey00BenchKey00BenchKey00';

function byClient(origin: string): { look(): Promise<unknown>; close(): Promise<void> } {
  const service = createService({
    baseUrl: `${origin}/service/{account}`,
    version: '0.0.0',
    clock: systemClock,
    connections: CONNECTIONS,
  });
  const account = service.account({ account: 'acme', email: 'ann@example.com', apiKey: API_KEY });
  return { look: () => getProfile(account), close: () => service.close() };
}

function byUndici(origin: string): { look(): Promise<unknown>; close(): Promise<void> } {
  const dispatcher = new Agent({ connections: CONNECTIONS, pipelining: 1 });
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: `Basic ${btoa(`ann@example.com:${API_KEY}`)}`,
  };
  return {
    look: async () => (await request(`${origin}/service/acme/profile`, { dispatcher, headers })).body.json(),
    close: () => dispatcher.close(),
  };
}

async function run({ origin, by, count, concurrency }: ClientLoad): Promise<void> {
  const { look, close } = by === 'client' ? byClient(origin) : byUndici(origin);
  const cpu = process.cpuUsage();
  const start = performance.now();
  let left = count;
  async function work(): Promise<void> {
    while (left-- > 0) await look();
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await close();
  process.send?.({ seconds, cpuMs: (user + system) / 1000 / count });
}

process.on('message', (load: ClientLoad) => void run(load));
process.on('SIGTERM', () => process.exit(0));
sayListening(0);
