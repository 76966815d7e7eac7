import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ann } from './commands/integrations/support.ts';
import { type Journey, measureJourney } from './journey.ts';
import { openDigestWorld } from './scheduler/digests/digest-world.ts';
import { ask } from './support/asking.ts';
import { patientClock } from './support/faults.ts';
import { ACCOUNT, CHANNEL, EMAIL, openTestWorld, TEAM, type TestWorld } from './support/test-world.ts';

/** As on a busy machine, where a poll or a redraw of App Home falls into a journey. */
const MAX_FILES = {
  'test storefront': 72,
  'integration add': 76,
  'invoice notice': 44,
  digest: 52,
} as const;
const MAX_STATEMENTS = {
  'test storefront': 32,
  'integration add': 27,
  'invoice notice': 26,
  digest: 20,
} as const satisfies Record<keyof typeof MAX_FILES, number>;

const ARCHITECTURE = readFileSync(join(import.meta.dirname, '..', 'docs', 'architecture.md'), 'utf8');
const [, BELOW = ''] = /### Below every journey\n(.*?)\n### /s.exec(ARCHITECTURE) ?? [];
/** Of the table, whose rows end with them. */
const SHARED = [...BELOW.matchAll(/^\|.*\|(.*)\|$/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`(.+?)`/g)].map(([, file]) => file),
);

const measured: Record<string, Journey> = {};
afterAll(() => print(measured));

async function measure(name: keyof typeof MAX_FILES, travel: () => Promise<void>): Promise<Journey> {
  const journey = await measureJourney(travel);
  measured[name] = journey;
  expect(journey.files.length).toBeLessThanOrEqual(MAX_FILES[name]);
  expect(journey.statements.length).toBeLessThanOrEqual(MAX_STATEMENTS[name]);
  expect(SHARED).toHaveLength(29);
  expect(journey.files).toEqual(expect.arrayContaining(SHARED));
  return journey;
}

describe('the journey through Deckhand of', () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({
      env: { POLL_INTERVAL_MS: '150', NOTICE_INTERVAL_MS: '150' },
      clock: patientClock,
      serviceTimeoutMs: 600_000,
    });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.connect();
    // Once this is answered, nothing of connecting is left to run.
    await ask(world, '/deckhand whoami');
    const user = world.service.world.state.accounts.get(ACCOUNT)?.users.find(({ email }) => email === EMAIL);
    Object.assign(user ?? {}, { billing: true });
  });
  afterAll(() => world.stop());

  const texts = () => world.slack.messages(TEAM, CHANNEL).map(({ text }) => text);

  async function testStorefront(): Promise<void> {
    const before = texts().length;
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => texts()[before]?.includes('all 2 servers are reachable'), {
      what: 'the outcome',
    });
  }

  it('a test of a project with two servers, to the last edit of its message', async () => {
    // Long enough for one poll of a running test.
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 4_000 });
    await measure('test storefront', testStorefront);
    const replies = () => world.slack.thread(TEAM, CHANNEL, world.slack.messages(TEAM, CHANNEL)[0]?.ts ?? '');
    await world.slack.until(() => replies()[0]?.text.includes('The test took'), { what: 'the thread' });
    // The next journey begins when nothing of this one is left to run.
    const isFollowed = async () => (await world.app.parts.engine.stats())['follow-test']?.running;
    await expect.poll(isFollowed).toBe(0);
  });

  it('a form that sets up an integration', async () => {
    const me = ann(world);
    await measure('integration add', async () => {
      const before = me.told().length;
      await me.open('integration add storefront');
      await me.choose('hook_type', 'http_req');
      await me.submit({ name: 'Hook', 'properties.url': 'https://hooks.example.com' });
      await world.slack.until(() => me.told().length > before, { what: 'the answer' });
    });
  });

  it('a notice of a new invoice', async () => {
    const before = texts().length;
    await world.as('admin').command(CHANNEL, '/deckhand invoices notify here');
    await world.slack.until(() => texts().length > before, { what: 'the beginning' });
    const asked = () => world.service.requests.next(({ path }) => path.endsWith('/account/invoices'));
    await asked();
    await asked();
    await measure('invoice notice', async () => {
      world.service.world.addInvoice({ account: ACCOUNT, number: 2001, total: '49.50', currency: 'eur' });
      await world.slack.until(() => texts().at(-1)?.includes('2001'), { what: 'the notice' });
    });
  });
});

describe('the journey through Deckhand, by the clock, of', () => {
  it('an occurrence of a digest with its chart', async () => {
    const house = await openDigestWorld();
    try {
      house.deploy(true, 2);
      house.deploy(false, 3);
      await house.say('digest add daily 09:00 UTC');
      await house.untilIdle();
      await measure('digest', async () => {
        await house.time.advance(3_600_000);
        await house.untilPosted(1);
        await house.untilLast('posted');
      });
    } finally {
      await house.stop();
    }
  });
});

function print(journeys: Record<string, Journey>): void {
  const rows = Object.entries(journeys).map(
    ([name, { files, statements }]) =>
      `${name.padEnd(18)}${String(files.length).padStart(6)}${String(statements.length).padStart(12)}`,
  );
  process.stdout.write(`${['journey            files  statements', ...rows].join('\n')}\n`);
  if (process.env.JOURNEYS !== 'all') return;
  for (const [name, { files, statements }] of Object.entries(journeys))
    process.stdout.write(`\n${name}\n${[...files, ...statements].map((line) => `  ${line}`).join('\n')}\n`);
}
