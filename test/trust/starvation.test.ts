import { describe, expect, onTestFinished, test } from 'vitest';
import { openBrowser } from '../support/installing.ts';
import { byLength } from '../support/length.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openTestWorld, PEOPLE, type TestWorld, type TestWorldOptions } from '../support/test-world.ts';

/** As many as starved the others once; `npm test` sends fewer. */
const COMMANDS = byLength(150, 300);
const SLOW_COMMANDS = byLength(30, 260);
const DIGESTS = byLength(60, 200);
/**
 * So much of the busy workspace's work may be done while the other's is, however loaded the machine is: what runs of it at
 * once, 50 commands and 13 digests, and as many that begin meanwhile.
 */
const MAX_BETWEEN = { commands: 100, digests: 40 } as const;
const NEVER_MS = 600_000;
/** Few digests in each: a channel has no digest twice, and with many posts it waits for the clock. */
const CHANNELS = Array.from({ length: byLength(10, 40) }, (_, at) => `C0BUSY${at}`);
const ZONES = ['UTC', 'Europe/Lisbon', 'Europe/Paris', 'America/Chicago', 'Asia/Tokyo', 'Asia/Kolkata'];
const BUSY = 'T0SIDE1';
const OTHER = 'T0SIDE2';

/** Two workspaces that share nothing but the process. */
async function openTwo(options: TestWorldOptions = {}): Promise<TestWorld> {
  const world = await openTestWorld({ byOauth: true, ...options });
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
      world.slack.ephemerals(team, PEOPLE.admin).some(({ text }) => /^Connected .+ with /.test(text));
    await world.slack.until(said);
  }
  return world;
}

/** Messages of a channel that have these words. */
function count({ slack }: TestWorld, team: string, channels: readonly string[], words: string): number {
  return channels.flatMap((id) => slack.messages(team, id)).filter(({ text }) => text.includes(words)).length;
}

/** Resolves when the other workspace is answered in its channel. */
async function answerTheOther(world: TestWorld): Promise<void> {
  await world.slack.as(OTHER, PEOPLE.admin).command('C0BUSY9', '/deckhand use shop');
  await world.slack.until(() => world.slack.messages(OTHER, 'C0BUSY9').length > 0, { timeoutMs: 300_000 });
}

describe('another workspace is answered soon', () => {
  test('beside many commands in one channel', async () => {
    const world = await openTwo();
    const ann = world.slack.as(BUSY, PEOPLE.admin);
    const done = () => world.slack.messages(BUSY, 'C0BUSY0').length;
    const typed = Array.from({ length: COMMANDS }, () => ann.command('C0BUSY0', '/deckhand use shop'));
    await Promise.all(typed);
    const before = done();
    await answerTheOther(world);
    expect(done(), 'there was more to do').toBeLessThan(COMMANDS);
    expect(done() - before).toBeLessThan(MAX_BETWEEN.commands);
  });

  test('beside many commands on an account that does not answer', async () => {
    const world = await openTwo({ serviceTimeoutMs: NEVER_MS });
    const fault = world.service.faults.add({ path: '/side-1/**', delayMs: NEVER_MS });
    const ann = world.slack.as(BUSY, PEOPLE.admin);
    const typed = Array.from({ length: SLOW_COMMANDS }, (_, at) =>
      ann.command(CHANNELS[at % CHANNELS.length] ?? '', '/deckhand test shop'),
    );
    await Promise.all(typed);
    await world.slack.until(() => fault.hits() > 0, { what: 'the account to be asked' });
    // None of the commands ends, so the other's answer has waited for none.
    await answerTheOther(world);
  });

  test('beside many digests that fall due every minute, of which its own is the last', async () => {
    const time = createManualClock('2026-03-02T08:00:10Z');
    const world = await openTwo({ time });
    const add = (zone: string) => `/deckhand digest add cron:"* * * * *" ${zone} today`;
    const isSetUp = (team: string, amount: number) => () =>
      world.slack.ephemerals(team, PEOPLE.admin).filter(({ text }) => text.includes('Set up: the digest'))
        .length === amount;
    const ann = world.slack.as(BUSY, PEOPLE.admin);
    const typed = Array.from({ length: DIGESTS }, (_, at) =>
      ann.command(CHANNELS[at % CHANNELS.length] ?? '', add(ZONES[Math.floor(at / CHANNELS.length)] ?? '')),
    );
    await Promise.all(typed);
    await world.slack.until(isSetUp(BUSY, DIGESTS), { what: 'the digests' });
    await world.slack.as(OTHER, PEOPLE.admin).command('C0BUSY9', add('UTC'));
    await world.slack.until(isSetUp(OTHER, 1), { what: 'the digest of the other' });

    const posted = (team: string) => count(world, team, CHANNELS, 'Deployment digest');
    await time.advance(50_000);
    await world.slack.until(() => posted(OTHER) === 1, { what: 'the digest', timeoutMs: 300_000 });
    expect(posted(BUSY)).toBeLessThan(MAX_BETWEEN.digests);
    await world.slack.until(() => posted(BUSY) === DIGESTS, { what: 'all the others', timeoutMs: 300_000 });
  });
});
