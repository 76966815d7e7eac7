import { describe, expect } from 'vitest';
import type { LocalSlack } from '../../../sandbox/slack/local-slack.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, API_KEY, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const it = test.extend('worldOptions', () => ({ slackApp: { socketMode: true } }));

const ids = (slack: LocalSlack) => slack.connections().map(({ id }) => id);

const TICK_MS = 20;

/**
 * Resolves when the one connection is another than before, with the milliseconds that were waited meanwhile, counted in
 * ticks: a machine that works or stops adds none.
 */
async function untilReplaced(slack: LocalSlack, old: readonly string[]): Promise<number> {
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
  }, TICK_MS);
  try {
    await slack.until(() => ids(slack).length === 1 && !old.includes(ids(slack)[0] ?? ''));
  } finally {
    clearInterval(ticking);
  }
  return ticks * TICK_MS;
}

describe('Socket Mode', () => {
  it.for(['warning', 'refresh_requested'] as const)(
    'has a new connection before the old one closes, on %s, and misses no command meanwhile',
    async (reason, { world }) => {
      const { slack } = world;
      const old = ids(slack);
      const counts: number[] = [];
      const stop = slack.onChange(() => counts.push(slack.connections().length));
      slack.refreshConnections({ reason });
      const { outcome } = await world.as('member').command(CHANNEL, '/deckhand help');
      await untilReplaced(slack, old);
      stop();
      expect(outcome).toBe('ok');
      expect(Math.min(...counts)).toBe(1);
      expect(Math.max(...counts)).toBe(2);
    },
  );

  it('is back within a second after each of three drops', async ({ world }) => {
    const { slack } = world;
    for (let drops = 0; drops < 3; drops += 1) {
      const old = ids(slack);
      slack.dropConnections();
      expect(await untilReplaced(slack, old)).toBeLessThan(1000);
    }
    expect((await world.as('member').command(CHANNEL, '/deckhand help')).outcome).toBe('ok');
  });

  it('carries out once what a lost connection could not acknowledge, and answers over the next', async ({
    world,
  }) => {
    const { slack, service } = world;
    await world.as('admin').command(CHANNEL, '/deckhand connect');
    await slack.until(() => world.as('admin').openView()?.content.callback_id === 'connect');
    service.faults.add({ path: `/${ACCOUNT}/projects`, delayMs: 500, times: 1 });
    const asked = service.requests.nextArrival(({ path }) => path.includes('projects'));
    const form = { account: ACCOUNT, email: EMAIL, api_key: API_KEY };
    const sent = world.as('admin').submit('connect', form);
    await asked;
    slack.dropConnections();
    const { outcome, delivery } = await sent;
    expect(outcome).toBe('ok');
    expect(delivery?.connections).toHaveLength(2);
    await slack.until(() =>
      slack.ephemerals(TEAM, PEOPLE.admin).some(({ text }) => text.includes('Connected')),
    );
    expect(service.requests.all.filter(({ path }) => path.includes('projects'))).toHaveLength(1);
    expect(world.logs.join('\n')).not.toContain('"event":"bug"');
  });

  async function refusedUnseen(world: TestWorld): Promise<void> {
    const { slack, service } = world;
    const path = `/${ACCOUNT}/projects`;
    const gate = service.faults.add({ path, status: 401, body: {}, delayMs: 500 });
    const asked = service.requests.nextArrival((request) => request.path.includes('projects'));
    const form = { account: ACCOUNT, email: EMAIL, api_key: API_KEY };
    const sent = world.as('admin').submit('connect', form);
    await asked;
    slack.dropConnections({ resend: false });
    expect((await sent).outcome).toBe('operation_timeout');
    expect(gate.hits()).toBe(1);
  }

  it('shows in the form why it was refused, where the connection with its ack was lost for good', async ({
    world,
  }) => {
    const { slack } = world;
    const admin = world.as('admin');
    await admin.command(CHANNEL, '/deckhand connect');
    await slack.until(() => admin.openView()?.content.callback_id === 'connect');
    await refusedUnseen(world);
    await slack.until(() => JSON.stringify(admin.openView()).includes('do not match'));
    expect(world.logs.join('\n')).not.toContain('"event":"bug"');
  });

  it('says so privately where the form was closed meanwhile', async ({ world }) => {
    const { slack } = world;
    const admin = world.as('admin');
    await admin.command(CHANNEL, '/deckhand connect');
    await slack.until(() => admin.openView()?.content.callback_id === 'connect');
    slack.fault({ method: 'views.update', error: 'not_found' });
    await refusedUnseen(world);
    const said = () => JSON.stringify(slack.ephemerals(TEAM, PEOPLE.admin));
    await slack.until(() => said().includes('was not carried out'));
    expect(said()).toContain('do not match');
  });
});
