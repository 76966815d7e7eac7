import { describe, expect } from 'vitest';
import type { LocalSlack } from '../../../sandbox/slack/local-slack.ts';
import { openForm } from '../../support/asking.ts';
import { failingDatabase } from '../../support/failing-database.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, CREDENTIALS, PEOPLE, TEAM } from '../../support/test-world.ts';

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

// The client waits for five seconds before it connects again.
describe.concurrent('Socket Mode', () => {
  it.for(['drop', 'warning', 'refresh_requested'] as const)(
    'is connected again within ten seconds after a %s of the connection',
    async (how, { world }) => {
      const { slack } = world;
      const old = ids(slack);
      if (how === 'drop') slack.dropConnections();
      else slack.refreshConnections({ reason: how });
      expect(await untilReplaced(slack, old)).toBeLessThan(10_000);
      expect((await world.as('member').command(CHANNEL, '/deckhand help')).outcome).toBe('ok');
    },
  );

  it('carries out once what a lost connection could not acknowledge, and answers over the next', async ({
    world,
  }) => {
    const { slack, service } = world;
    await openForm(world, 'connect');
    service.faults.add({ path: `/${ACCOUNT}/projects`, delayMs: 1_500, times: 1 });
    const asked = service.requests.nextArrival(({ path }) => path.includes('projects'));
    const sent = world.as('admin').submit('connect', CREDENTIALS);
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

  it('takes an ack that could not be sent for no bug, and answers the form when it is sent again', async ({
    world,
  }) => {
    const { slack, service } = world;
    const admin = await openForm(world, 'connect');
    const path = `/${ACCOUNT}/projects`;
    const refused = { path, status: 401, body: {} };
    const fault = service.faults.add({ ...refused, delayMs: 1_500, times: 1 });
    const asked = service.requests.nextArrival((request) => request.path.includes('projects'));
    const old = ids(slack);
    const sent = admin.submit('connect', CREDENTIALS);
    await asked;
    slack.dropConnections({ resend: false });
    // Slack tells the person itself, in the form, that it had no answer.
    expect((await sent).outcome).toBe('operation_timeout');
    expect(fault.hits()).toBe(1);
    await untilReplaced(slack, old);
    service.faults.add(refused);
    const again = await admin.submit('connect', CREDENTIALS);
    expect(JSON.stringify(again)).toContain('do not match');
    expect(world.logs.join('\n')).toContain('"event":"ack_not_sent"');
    expect(world.logs.join('\n')).not.toContain('"event":"bug"');
  });

  it('does not acknowledge an event that could not be stored, so that Slack sends it again', async ({
    world,
  }) => {
    const { slack } = world;
    const database = failingDatabase(world);
    database.refuse('deckhand_jobs');
    const opened = world.as('member').openHome();
    await world.logged('"event":"payload_failed"');
    database.accept();
    // It comes again over the next connection.
    slack.dropConnections();
    expect((await opened)?.outcome).toBe('ok');
    await slack.until(() => slack.home(TEAM, PEOPLE.member) !== undefined);
  });

  it('is tried on where Slack refuses the app token later, which is said until it is accepted', async ({
    world,
  }) => {
    const { slack } = world;
    const old = ids(slack);
    slack.fault({ method: 'apps.connections.open', error: 'invalid_auth', times: 1 });
    slack.dropConnections();
    await world.logged('"event":"slack_token_refused"');
    await untilReplaced(slack, old);
    await world.logged('"event":"slack_token_accepted"');
  });

  it.for([
    {},
    { url: 'wss-primary.slack.com/link' },
    { url: 'https://slack.test' },
    { url: 5 },
    { url: 'wss://' },
  ])(
    'is tried on where Slack gives %o for an address, and readiness says so meanwhile',
    async (fields, { world, expect }) => {
      const { slack } = world;
      const old = ids(slack);
      const undo = slack.fault({ method: 'apps.connections.open', fields: { url: undefined, ...fields } });
      slack.dropConnections();
      await world.logged('"event":"slack_socket_not_opened"');
      const readiness = async () => (await fetch(`${world.origin}/readyz`)).text();
      expect(await readiness()).toBe('ready, slack: not connected');
      undo();
      await untilReplaced(slack, old);
      await expect.poll(readiness).toBe('ready');
      expect(world.logs.join('')).not.toContain('unhandled_rejection');
    },
  );

  it.for([
    ['without an event', { type: 'event_callback' }],
    ['about a limit', { type: 'app_rate_limited', team_id: TEAM, minute_rate_limited: 1 }],
    ['that is null', null],
    ['with an event that is a word', { type: 'event_callback', event: 'x' }],
    ['with half an event', { type: 'event_callback', event_id: 'Ev1', event: { type: 'app_home_opened' } }],
  ] as const)('acknowledges a payload %s', async ([, payload], { world, expect }) => {
    const { slack } = world;
    const [before] = slack.connections();
    const event = await slack.sendEvent(TEAM, { type: 'app_mention', user: PEOPLE.member, text: 'x' });
    if (event === undefined) throw new Error('The event was not sent');
    const { outcome } = await slack.redeliver({ ...event, payload: payload as never });
    expect(outcome).toBe('ok');
    expect(slack.connections()).toEqual([before]);
  });

  it('ends in order where Slack cannot be reached', async ({ world }) => {
    const { slack } = world;
    slack.fault({ method: 'apps.connections.open', error: 'internal_error' });
    slack.dropConnections();
    await world.logged('"event":"slack_socket_not_opened"');
    await world.app.stop(60_000);
    expect(slack.connections()).toEqual([]);
  });
});
