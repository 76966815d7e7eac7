import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

it('the demo begins with Deckhand in one workspace, says where to look, and ends in good order', async () => {
  const demo = spawn(
    process.execPath,
    [join(root, 'sandbox/demo/main.ts'), '--port', '0', '--deckhand-port', '0'],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void demo.kill('SIGKILL'));
  const said: string[] = [];
  for await (const line of createInterface(demo.stdout)) {
    said.push(line);
    if (line.startsWith('Ctrl+C')) break;
  }
  const [origin] = /http:\/\/[\d.:]+/.exec(said.find((line) => line.startsWith('Open ')) ?? '') ?? [];
  expect((await fetch(`${origin}/`)).headers.get('content-type')).toContain('text/html');
  const { teams, controls } = (await (await fetch(`${origin}/page/workspace`)).json()) as Record<
    'teams' | 'controls',
    { id: string; group?: string }[]
  >;
  expect(teams).toMatchObject([
    { name: 'Acme', apps: [{ name: 'Deckhand' }] },
    { name: 'Harbour', apps: [] },
  ]);
  const alone = controls.filter(({ group }) => group === undefined).map(({ id }) => id);
  expect(alone).toEqual(['slack-429', 'service-503', 'service-slow', 'service-weather', 'kill', 'start']);
  expect([...new Set(controls.map(({ group }) => group))]).toEqual([
    undefined,
    'Threads',
    'Edits',
    'Private answers',
    'Rules of the workspace',
  ]);
  const service = /pasted link shows its live state: (http:\/\/[\d.:]+)/.exec(said.join('\n'))?.[1];
  for (const [on, strength] of [
    [true, 'wild'],
    [false, 'off'],
  ] as const) {
    const body = JSON.stringify({ id: 'service-weather', on });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${origin}/page/controls`, { method: 'POST', headers, body });
    expect(await (await fetch(`${service}/_control/weather`)).json()).toMatchObject({ strength });
  }
  const ended = once(demo, 'exit');
  demo.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
