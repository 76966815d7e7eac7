import { expect } from 'vitest';
import { countWords, visibleText } from './corpus/visible-words.ts';
import { answerTo } from './support/asking.ts';
import { test as base } from './support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from './support/test-world.ts';

const SERVERS = ['web-1', 'web-2', 'web-3', 'worker-1', 'worker-2', 'assets', 'staging'];

const test = base
  .extend('connected', () => true)
  .extend('worldOptions', () => ({
    projects: [
      { name: 'Storefront', permalink: 'storefront', servers: SERVERS.map((name) => ({ name })) },
      { name: 'Billing API', permalink: 'billing-api', servers: [{ name: 'api-1' }] },
    ],
  }));

async function wordsFor(world: TestWorld, line: string, who: keyof typeof PEOPLE): Promise<number> {
  await answerTo(world, who, () => world.as(who).command(CHANNEL, line));
  const last = () => world.slack.ephemerals(TEAM, PEOPLE[who]).slice(-1);
  await world.slack.until(() => !last()[0]?.text.includes('Still working'));
  return countWords(visibleText(last()));
}

/** The words that a person reads, and those read for the same before the conversation was made shorter. */
const WORDS = {
  'help, as an admin': { before: 617, most: 167 },
  'a refusal': { before: 12, most: 16 },
  'hosting, with three resources': { before: 46, most: 42 },
  'a green test run of seven servers, 2 messages in place of 11': { before: 60, most: 49 },
  'a digest with one failure': { before: 77, most: 63 },
};

test('help, a refusal, hosting, a test run and a digest take few words', async ({ world }) => {
  const { slack, service } = world;
  for (const at of [1, 2, 3])
    service.world.addHostedResource({ account: 'acme', name: `box ${at}`, identifier: `r-${at}` });
  for (const [at, name] of SERVERS.slice(0, 6).entries())
    service.world.addDeployment({
      account: 'acme',
      project: 'storefront',
      servers: [name],
      succeeded: at !== 2,
    });
  const help = await wordsFor(world, '/deckhand help', 'admin');
  const refusal = await wordsFor(world, '/deckhand server add storefront', 'member');
  const hosting = await wordsFor(world, '/deckhand hosting', 'member');
  slack.invite(TEAM, CHANNEL, 'bot');
  await world.as('member').command(CHANNEL, '/deckhand test storefront');
  const run = () =>
    slack.messages(TEAM, CHANNEL).flatMap((root) => [root, ...slack.thread(TEAM, CHANNEL, root.ts)]);
  await slack.until(() => run().length === 2 && run().at(-1)?.text.includes('The test took'));
  await slack.until(() => run()[0]?.text.includes('all 7 servers are reachable'));
  const green = countWords(visibleText(run()));
  await world.as('admin').command(CHANNEL, '/deckhand digest add weekly:mon 09:00 UTC last_7_days');
  await slack.until(() => slack.messages(TEAM, CHANNEL).length === 2);
  const digest = await wordsFor(world, '/deckhand digest preview', 'admin');
  const counts = [help, refusal, hosting, green, digest];
  for (const [at, [message, { most }]] of Object.entries(WORDS).entries())
    expect(counts[at], message).toBeLessThanOrEqual(most);
});
