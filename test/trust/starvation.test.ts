import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openBrowser } from '../support/installing.ts';
import { byLength } from '../support/length.ts';
import { openTestWorld, PEOPLE, type TestWorld } from '../support/test-world.ts';

/** As many as starved the others once; `npm test` sends fewer. */
const COMMANDS = byLength(80, 300);
const SLOW_COMMANDS = byLength(60, 260);
const SLOW_MS = 15_000;
const CHANNELS = Array.from({ length: 10 }, (_, at) => `C0BUSY${at}`);
/** Three seconds on an idle machine, and the figures are printed; a loaded machine takes longer, and starving took a hundred. */
const SOON_MS = 10_000;

/** Two workspaces that share nothing but the process. */
async function openTwo(): Promise<TestWorld> {
  const world = await openTestWorld({ byOauth: true });
  onTestFinished(() => world.stop());
  const members = Object.values(PEOPLE);
  for (const n of [1, 2]) {
    const [name, team] = [`side-${n}`, `T0SIDE${n}`];
    const users = [
      { email: `ann${n}@example.com`, apiKey: `key${n}`.padEnd(40, String(n)), role: 'admin' as const },
    ];
    const projects = [{ name: 'Shop', permalink: 'shop', servers: [{ name: 'web-1' }] }];
    world.service.world.addAccount({ name, users, projects });
    world.slack.addWorkspace({
      id: team,
      name,
      installed: false,
      users: members.map((id) => ({ id, name: id.toLowerCase(), is_admin: id === PEOPLE.admin })),
      channels: CHANNELS.map((id) => ({ id, name: id.toLowerCase(), members })),
    });
    await openBrowser(world).install(team, PEOPLE.admin);
    for (const channel of CHANNELS) world.slack.invite(team, channel, 'bot');
    const ann = world.slack.as(team, PEOPLE.admin);
    await ann.command('C0BUSY0', '/deckhand connect');
    await world.slack.until(() => ann.openView()?.content.callback_id === 'connect');
    await ann.submit('connect', {
      account: name,
      email: users[0]?.email ?? '',
      api_key: users[0]?.apiKey ?? '',
    });
    const said = () =>
      world.slack.ephemerals(team, PEOPLE.admin).some(({ text }) => text.includes('Connected *'));
    await world.slack.until(said);
  }
  return world;
}

/** How long the other workspace waits for what it is answered in its channel, in milliseconds. */
async function waitOfTheOther({ slack }: TestWorld): Promise<number> {
  const begun = performance.now();
  await slack.as('T0SIDE2', PEOPLE.admin).command('C0BUSY9', '/deckhand use shop');
  await slack.until(() => slack.messages('T0SIDE2', 'C0BUSY9').length > 0, { timeoutMs: 300_000 });
  return performance.now() - begun;
}

function report(what: string, ms: number): void {
  process.stdout.write(`${what}: the other workspace waited ${Math.round(ms)} ms\n`);
}

describe('another workspace is answered soon', () => {
  test('beside many commands in one channel', async () => {
    const world = await openTwo();
    const ann = world.slack.as('T0SIDE1', PEOPLE.admin);
    const typed = Array.from({ length: COMMANDS }, () => ann.command('C0BUSY0', '/deckhand use shop'));
    await Promise.all(typed);
    const ms = await waitOfTheOther(world);
    report(`${COMMANDS} commands in one channel`, ms);
    expect(ms).toBeLessThan(SOON_MS);
  });

  test('beside many commands on an account that is slow', async () => {
    const world = await openTwo();
    world.service.faults.add({ path: '/side-1/**', delayMs: SLOW_MS });
    const ann = world.slack.as('T0SIDE1', PEOPLE.admin);
    const typed = Array.from({ length: SLOW_COMMANDS }, (_, at) =>
      ann.command(CHANNELS[at % CHANNELS.length] ?? '', '/deckhand test shop'),
    );
    await Promise.all(typed);
    const ms = await waitOfTheOther(world);
    report(`${SLOW_COMMANDS} commands on a slow account`, ms);
    expect(ms).toBeLessThan(SOON_MS);
  });
});
