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
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, DEMO_HOST: '0.0.0.0' } },
  );
  onTestFinished(() => void demo.kill('SIGKILL'));
  const said: string[] = [];
  for await (const line of createInterface(demo.stdout)) {
    said.push(line);
    if (line.startsWith('Ctrl+C')) break;
  }
  const [origin] = /http:\/\/[\d.:]+/.exec(said.find((line) => line.startsWith('Open ')) ?? '') ?? [];
  expect((await fetch(`${origin}/`)).headers.get('content-type')).toContain('text/html');
  // As in a container, from another address.
  expect((await fetch(`${origin?.replace('127.0.0.1', '127.0.0.2')}/`)).status).toBe(200);
  const { teams } = (await (await fetch(`${origin}/page/workspace`)).json()) as { teams: object[] };
  expect(teams).toMatchObject([
    { name: 'Acme', apps: [{ name: 'Deckhand' }] },
    { name: 'Harbour', apps: [] },
  ]);
  const service = /pasted link shows its live state: (http:\/\/[\d.:]+)/.exec(said.join('\n'))?.[1];
  const press = async (id: string, on = true) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ id, on });
    return (await fetch(`${origin}/page/controls`, { method: 'POST', headers, body })).json();
  };
  for (const on of [true, false]) {
    await press('service-weather', on);
    const weather = await (await fetch(`${service}/_control/weather`)).json();
    expect(weather).toMatchObject({ strength: on ? 'wild' : 'off' });
  }
  for (const id of ['kill', 'start']) expect(await press(id)).toMatchObject({ ok: true });
  const ended = once(demo, 'exit');
  demo.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
