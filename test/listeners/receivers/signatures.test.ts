import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/observability/log.ts';
import { openDeckhand } from '../../../src/open.ts';
import { MIGRATE } from '../../../src/transfer/migrate.ts';
import { carryOut } from '../../../src/transfer/program.ts';
import { DATABASES } from '../../store/databases.ts';
import { failingDatabase } from '../../support/failing-database.ts';
import { signedOnce } from '../../support/signed.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const EVENT = JSON.stringify({
  type: 'event_callback',
  event_id: 'Ev0SIGNED',
  event_time: 1,
  team_id: TEAM,
  event: { type: 'app_home_opened', user: PEOPLE.member, tab: 'home' },
});

let world: TestWorld;
afterEach(() => world.stop());

/** One request, signed once, that can be sent as often as one likes. */
function signed(body: string) {
  const send = signedOnce(world.slack.app.signingSecret, body);
  return (more: Record<string, string> = {}, origin = world.origin) => send(origin, more);
}

const helpAsked = (text = 'help') =>
  new URLSearchParams({
    command: '/deckhand',
    text,
    team_id: TEAM,
    user_id: PEOPLE.member,
    channel_id: CHANNEL,
  }).toString();

describe.each(DATABASES)('a signature of Slack, on $name', ({ name, fresh }) => {
  it('counts once, whatever the headers that it does not cover say of a retry', async () => {
    world = await openTestWorld({ env: { STORE_URL: await fresh() } });
    const send = signed(EVENT);
    expect(await send()).toBe(200);
    for (const more of [{ 'x-slack-retry-num': '1' }, { 'x-slack-retry-reason': 'http_timeout' }])
      expect(await send({ 'x-slack-retry-num': '2', ...more })).toBe(401);
  });

  it('counts once after a restart too, also where many came at once', async () => {
    world = await openTestWorld({ env: { STORE_URL: await fresh() } });
    const sends = Array.from({ length: 20 }, (_, at) => signed(helpAsked(`help ${at}`)));
    const answers = (): Promise<number[]> => Promise.all(sends.map((send) => send()));
    expect(await answers()).toEqual(sends.map(() => 200));
    await world.restart(async () => undefined);
    expect(await answers()).toEqual(sends.map(() => 401));
  });

  it.runIf(name === 'postgres')('counts once for all replicas together', async () => {
    world = await openTestWorld({ env: { STORE_URL: await fresh() } });
    const log = createLog('error', (line) => world.logs.push(line));
    const other = await openDeckhand({ ...world.config, PORT: 0 }, { log, version: '0.0.0-test' });
    const { port } = await other.app.start();
    try {
      const send = signed(helpAsked());
      const answers = await Promise.all([send(), send({}, `http://127.0.0.1:${port}`)]);
      expect(answers.toSorted()).toEqual([200, 401]);
    } finally {
      await other.app.stop(500);
      await other.close();
    }
  });
});

describe.each(DATABASES)('a signature that was taken on $name', ({ name, fresh }) => {
  const elsewhere = DATABASES.filter((other) => other.name !== name);

  it.each(elsewhere)('counts after the store was moved to $name', async ({ fresh: freshElsewhere }) => {
    const [from, to] = await Promise.all([fresh(), freshElsewhere()]);
    const keys = { ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` };
    world = await openTestWorld({ env: { STORE_URL: from, ...keys } });
    const sends = ['help', 'help test'].map((text) => signed(helpAsked(text)));
    expect(await Promise.all(sends.map((send) => send()))).toEqual([200, 200]);
    await world.restart(async () => {
      expect(await carryOut(MIGRATE, ['--from', from, '--to', to], keys)).toMatchObject({ code: 0 });
      Object.assign(world.config, { STORE_URL: to });
    });
    expect(await Promise.all(sends.map((send) => send()))).toEqual([401, 401]);
  });
});

describe('a signature that could not be stored', () => {
  it('is reported, its request answered and a repeat of it refused', async () => {
    world = await openTestWorld();
    failingDatabase(world).refuse('deckhand_signatures');
    const send = signed(helpAsked());
    expect(await send()).toBe(200);
    expect(world.logs.some((line) => line.includes('signature_not_stored'))).toBe(true);
    expect(await send()).toBe(401);
  });
});

describe('an event that could not be stored', () => {
  it('is not acknowledged, and is carried out by Slack’s retry, be it within the same second', async () => {
    world = await openTestWorld();
    const send = signed(EVENT);
    const database = failingDatabase(world);
    database.refuse('deckhand_jobs');
    expect(await send()).toBe(500);
    expect(world.slack.home(TEAM, PEOPLE.member)).toBeUndefined();
    database.accept();
    expect(await send({ 'x-slack-retry-num': '1' })).toBe(200);
    await world.slack.until(() => world.slack.home(TEAM, PEOPLE.member) !== undefined);
  });

  it('is taken after a restart too', async () => {
    world = await openTestWorld();
    const send = signed(EVENT);
    const database = failingDatabase(world);
    database.refuse('deckhand_jobs');
    expect(await send()).toBe(500);
    database.accept();
    await world.restart(async () => undefined);
    expect(await send()).toBe(200);
  });
});
