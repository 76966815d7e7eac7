import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ann } from './commands/integrations/support.ts';
import { type Journey, measureJourney } from './journey.ts';
import { type DigestWorld, HOUR, openDigestWorld } from './scheduler/digests/digest-world.ts';
import { ask } from './support/asking.ts';
import { ACCOUNT, CHANNEL, EMAIL, TEAM } from './support/test-world.ts';

const ARCHITECTURE = readFileSync(join(import.meta.dirname, '..', 'docs', 'architecture.md'), 'utf8');
const [, BELOW = ''] = /### Below every journey\n(.*?)\n### /s.exec(ARCHITECTURE) ?? [];
/** Of the table, whose rows end with them. */
const SHARED = [...BELOW.matchAll(/^\|.*\|(.*)\|$/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`(.+?)`/g)].map(([, file]) => file),
);

const measured: Record<string, Journey> = {};
afterAll(() => print(measured));

async function measure(name: string, travel: () => Promise<void>): Promise<void> {
  const journey = await measureJourney(travel);
  measured[name] = journey;
  expect(SHARED.length, 'the table “Below every journey” of docs/architecture.md').toBeGreaterThan(20);
  expect(journey.files).toEqual(expect.arrayContaining(SHARED));
}

describe('the journey through Deckhand of', () => {
  let world: DigestWorld;
  // Time stands still, or a memory for seconds ends within a journey.
  beforeAll(async () => {
    world = await openDigestWorld();
    // Once this is answered, nothing of connecting is left to run.
    await ask(world, '/deckhand whoami');
    const user = world.service.world.state.accounts.get(ACCOUNT)?.users.find(({ email }) => email === EMAIL);
    Object.assign(user ?? {}, { billing: true });
  });
  beforeEach(() => world.untilIdle());
  afterAll(() => world.stop());

  /** Lets time pass until it stands in the channel, and no further. */
  async function watch(check: (texts: string[]) => boolean, what: string): Promise<void> {
    const isThere = () => check(texts());
    void world.passUntil(isThere);
    await world.slack.until(isThere, { what });
  }

  const texts = () => world.slack.messages(TEAM, CHANNEL).map(({ text }) => text);

  it('an occurrence of a digest with its chart', async () => {
    world.deploy(true, 2);
    world.deploy(false, 3);
    await world.say('digest add daily 09:00 UTC');
    await world.untilIdle();
    await measure('digest', async () => {
      await world.time.advance(HOUR);
      await world.untilPosted(1);
      await world.untilLast('posted');
    });
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

  it('a test of a project with two servers, to the last edit of its message', async () => {
    // Long enough for one poll of a running test.
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 1_000 });
    const before = texts().length;
    await measure('test storefront', async () => {
      await world.as('member').command(CHANNEL, '/deckhand test storefront');
      await watch((all) => all[before]?.includes('both servers are reachable') === true, 'the outcome');
    });
  });

  it('a watched failure, to its recovery', async () => {
    await world.say('watch storefront failures');
    await world.untilIdle();
    // The channel's card is the command's work, a few seconds later.
    await world.pass(5_000);
    const before = texts().length;
    const root = (all: string[]): string =>
      all.slice(before).find((text) => text.includes('Storefront')) ?? '';
    await measure('watched failure', async () => {
      world.deploy(false, 0);
      await watch((all) => root(all) !== '', 'the failure');
      world.deploy(true, 0);
      await watch((all) => root(all).includes('recovered'), 'the recovery');
    });
    expect(texts()).toHaveLength(before + 1);
    // Its polls are no part of the next journey.
    await world.say('unwatch storefront');
    await world.untilIdle();
  });

  it('a notice of a new invoice', async () => {
    await world.say('invoices notify here');
    await world.untilIdle();
    await measure('invoice notice', async () => {
      world.service.world.addInvoice({ account: ACCOUNT, number: 2001, total: '49.50', currency: 'eur' });
      await watch((all) => all.at(-1)?.includes('2001') === true, 'the notice');
    });
  });
});

function print(journeys: Record<string, Journey>): void {
  const rows = Object.entries(journeys).map(
    ([name, { files, statements }]) =>
      `${name.padEnd(18)}${[files.length, files.length - SHARED.length, statements.length].map((count) => String(count).padStart(12)).join('')}`,
  );
  process.stdout.write(`${['journey                  files above floor  statements', ...rows].join('\n')}\n`);
  if (process.env.JOURNEYS !== 'all') return;
  for (const [name, { files, statements }] of Object.entries(journeys))
    process.stdout.write(`\n${name}\n${[...files, ...statements].map((line) => `  ${line}`).join('\n')}\n`);
}
