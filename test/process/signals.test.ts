import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { bundledFile } from '../support/program.ts';
import { MIN_ENV } from '../support/run-deckhand.ts';
import { temporarySqlite } from '../support/temporary.ts';

async function start(env: Record<string, string>, ...before: string[]) {
  const [program = '', ...args] = [...before, process.execPath, await bundledFile()];
  const child = spawn(program, args, {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      ...MIN_ENV,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, lines: createInterface(child.stdout) };
}

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends Deckhand in order', async (signal) => {
  const { child, lines } = await start({ STORE_URL: await temporarySqlite() });
  const log: string[] = [];
  lines.on('line', (line) => {
    log.push(line);
    if (line.includes('"listening"')) child.kill(signal);
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(log.join('')).toContain('"stopped"');
});

/** A container's first process ignores signals that it does not handle. */
const FIRST = ['unshare', '--pid', '--fork', '--kill-child'];
const canBeFirst = spawnSync(FIRST[0] ?? '', [...FIRST.slice(1), 'true']).status === 0;

it.skipIf(!canBeFirst)('SIGTERM ends the first process of a container while it starts', async () => {
  // A database that takes the connection and says nothing.
  const mute = createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => void mute.close());
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  const { child } = await start({ STORE_URL: `postgres://deck@127.0.0.1:${port}/hand` }, ...FIRST);
  await once(mute, 'connection');
  const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
  const from = performance.now();
  process.kill(Number(first), 'SIGTERM');
  expect(await once(child, 'exit')).toEqual([143, null]);
  expect(performance.now() - from).toBeLessThan(4_000);
});

it('the next process says that the one before was killed, and not that it was stopped', async () => {
  const env = { STORE_URL: await temporarySqlite(), HOST: '127.0.0.1' };

  /** Runs until the metric says how the process before ended. Returns the events of its log. */
  async function runUntil(signal: 'SIGKILL' | 'SIGTERM', isUnclean: 0 | 1): Promise<string> {
    const { child, lines } = await start(env);
    const log: string[] = [];
    const port = await new Promise<string>((resolve) => {
      lines.on('line', (line) => {
        log.push(line);
        const [, text] = /"port":(\d+)/.exec(line) ?? [];
        if (text !== undefined) resolve(text);
      });
    });
    await expect
      .poll(() => fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text()))
      .toContain(`\ndeckhand_previous_end_unclean ${isUnclean}\n`);
    child.kill(signal);
    await once(child, 'exit');
    return log.join('');
  }

  expect(await runUntil('SIGKILL', 0)).not.toContain('"ended_uncleanly"');
  expect(await runUntil('SIGTERM', 1)).toContain('"ended_uncleanly"');
  expect(await runUntil('SIGTERM', 0)).not.toContain('"ended_uncleanly"');
});
