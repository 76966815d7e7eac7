import type { NewWeather } from '../../service/weather/settings.ts';
import { startBench } from './caller.ts';

export const ADA = { email: 'ada@example.com', apiKey: 'k'.repeat(40) };
const DAY = 86_400_000;

/** An account with a little of everything, the same at every start. */
export async function openWeather(weather?: NewWeather) {
  const bench = await startBench(weather === undefined ? {} : { weather });
  const names = ['alpha', 'beta', 'gamma', 'delta'];
  const now = bench.service.clock.now();
  bench.service.world.addAccount({
    name: 'acme',
    users: [{ ...ADA, role: 'admin', billing: true }],
    projects: names.map((name) => ({
      name,
      servers: names.map((server) => ({ name: server })),
      buildConfigurations: [{ identifier: 'build' }],
      integrations: [{ identifier: 'hook', name: 'Hook' }],
    })),
    hostedResources: names.map((name) => ({ name, identifier: name })),
    deployments: [0, 1, 2, 3, 4].map((n) => ({
      project: 'alpha',
      succeeded: n % 2 === 0,
      endedAt: now - n * 1_000,
    })),
    invoices: [{ createdAt: now - DAY }, {}],
  });
  return { ...bench, caller: bench.unchecked('acme', ADA) };
}

export function rowsOf(body: unknown): Record<string, unknown>[] {
  const rows = Array.isArray(body) ? body : Object.values(body as object)[0];
  return rows.filter((row: unknown) => typeof row === 'object' && row !== null);
}
