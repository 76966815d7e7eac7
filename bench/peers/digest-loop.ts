import process from 'node:process';
import { Agent, request } from 'undici';
import { sayListening } from '../support/processes.ts';
import type { Used } from './digest-world.ts';

// The same HTTP calls as so many digests, one after the other for each, and nothing else: nothing is stored, drawn or
// built. What this costs, no bot can do without.

export interface LoopAsked {
  port: number;
  size: number;
  concurrency: number;
  routes: Record<string, Used>;
}

const agent = new Agent({ connections: 64, pipelining: 1 });

async function run({ port, size, concurrency, routes }: LoopAsked): Promise<{ seconds: number }> {
  const calls = Object.entries(routes).flatMap(([route, used]) =>
    Array.from({ length: Math.round(used.calls / size) }, () => ({
      isService: route.startsWith('service '),
      path: route.replace('service ', ''),
      body: Buffer.alloc(Math.round(used.bytes / used.calls), 'a'),
    })),
  );
  let next = 0;
  async function work(): Promise<void> {
    while (next < size) {
      next += 1;
      for (const { isService, path, body } of calls) {
        const answer = await request(`http://127.0.0.1:${port}${path}`, {
          dispatcher: agent,
          ...(isService ? { headers: { host: 'loop.localhost' } } : { method: 'POST', body }),
        });
        await answer.body.text();
      }
    }
  }
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, work));
  return { seconds: (performance.now() - start) / 1000 };
}

process.on('message', (asked: LoopAsked) => void run(asked).then((told) => process.send?.(told)));
process.on('SIGTERM', () => process.exit(0));
sayListening(0);
