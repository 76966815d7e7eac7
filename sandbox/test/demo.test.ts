import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { createProduct } from '../../test/support/program.ts';
import { startSlack } from '../../test/support/start-slack.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { environment } from '../../test/support/test-world.ts';
import { giveTour } from '../demo/tour.ts';
import { addDemoWorkspaces } from '../demo/workspaces.ts';
import { startSimulatedService } from '../service/server.ts';
import { appFromManifestFile } from '../slack/registered-app.ts';

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
  const { teams } = (await (await fetch(`${origin}/page/workspace`)).json()) as { teams: object[] };
  expect(teams).toMatchObject([
    { name: 'Acme', apps: [{ name: 'Deckhand' }] },
    { name: 'Harbour', apps: [] },
  ]);
  const service = /pasted link shows its live state: (http:\/\/[\d.:]+)/.exec(said.join('\n'))?.[1];
  const press = async (id: string, on?: boolean) => {
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

it('the tour comes to its end, and leaves what it set up on App Home', async () => {
  const service = await startSimulatedService({ seed: 'demo', speed: 20 });
  const slack = await startSlack({ app: appFromManifestFile(join(root, 'manifest.yml')) });
  addDemoWorkspaces(slack);
  const env = environment(slack, service, slack.install('T0ACME'), await temporaryFolder());
  const product = createProduct({ ...env, NOTICE_INTERVAL_MS: '200' }, () => undefined);
  onTestFinished(async () => {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
  });
  slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
  const said: string[] = [];
  // In place of the time that a reader gets.
  await giveTour({ slack, service }, (line) => said.push(line), 10);
  expect(said.at(-1)).toContain('That was the tour');
  const home = JSON.stringify(slack.home('T0ACME', 'U0ADA')?.content.blocks);
  for (const words of ['Digest of', 'Watch of', 'Guard of', '1 of 7 servers is unreachable'])
    expect(home).toContain(words);
  const outage = slack
    .messages('T0ACME', 'C0DEPLOYS')
    .find(({ text }) => text.startsWith('Storefront recovered'));
  expect(JSON.stringify(outage?.edits)).toContain('<@U0ADA> is on it');
});
