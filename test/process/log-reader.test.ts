import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { bundledFile } from '../support/program.ts';
import { openSurroundings } from '../support/surroundings.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';

it('goes on where whoever reads its log goes away', async () => {
  const { slack, env, close } = await openSurroundings({});
  onTestFinished(close);
  const child = spawn(process.execPath, [await bundledFile()], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const lines = createInterface(child.stdout);
  let port: unknown;
  for await (const line of lines) {
    port = (JSON.parse(line) as { port?: number }).port;
    if (port !== undefined) break;
  }
  child.stdout.destroy();

  slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
  const ben = slack.as(TEAM, PEOPLE.member);
  for (let at = 1; at <= 3; at += 1) {
    // Each leaves a line in the log.
    await ben.command(CHANNEL, '/deckhand nonsense');
    await slack.until(() => slack.ephemerals(TEAM, PEOPLE.member).length === at);
  }
  expect(child.exitCode).toBeNull();
});
