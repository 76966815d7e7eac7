import { describe, expect } from 'vitest';
import { failingDatabase } from '../../support/failing-database.ts';
import { test as base } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const test = base
  .extend('connected', true)
  .extend('worldOptions', { slackApp: { unfurlDomains: ['127.0.0.1'] } });
const STOREFRONT = { account: ACCOUNT, project: 'storefront' };

type Outcome = Omit<Parameters<TestWorld['service']['world']['setRunOutcome']>[0], 'account' | 'project'>;

async function runWith(world: TestWorld, outcome: Outcome): Promise<void> {
  world.service.world.setRunOutcome({ ...STOREFRONT, ...outcome });
  await world.as('member').command(CHANNEL, '/deckhand test storefront');
}

const root = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL)[0];
/** The blocks of the root message, with labels in place of links to projects. */
const rootText = (world: TestWorld) =>
  JSON.stringify(root(world)?.blocks ?? []).replace(/<[^<>|]+\/projects\/[^<>|]+\|([^<>]*)>/g, '$1');
const thread = (world: TestWorld) =>
  world.slack.thread(TEAM, CHANNEL, root(world)?.ts ?? '').map(({ text }) => text);
const homeText = (world: TestWorld) =>
  JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
const rootSays = (world: TestWorld, words: string) =>
  world.slack.until(() => rootText(world).includes(words), { what: `"${words}" in the root message` });
const homeSays = (world: TestWorld, words: string) =>
  world.slack.until(() => homeText(world).includes(words), { what: `"${words}" on App Home` });

async function unfurlText(world: TestWorld): Promise<string> {
  const address = `${world.service.baseUrl.replace('{account}', ACCOUNT)}/projects/storefront`;
  const { ts } = await world.as('member').postMessage(CHANNEL, address);
  const attachments = () => world.slack.messages(TEAM, CHANNEL).find((one) => one.ts === ts)?.attachments;
  await world.slack.until(() => attachments()?.length === 1, { what: 'the unfurl' });
  return JSON.stringify(attachments());
}

describe('words of a run', () => {
  test('words that nothing describes are shown as they are, and the run is followed to its end', async ({
    world,
  }) => {
    await world.as('member').openHome();
    await runWith(world, { words: ['pending', 'resting <!here>'], durationMs: 3_600_000 });
    await rootSays(world, 'pending');
    await homeSays(world, 'pending since');
    world.service.clock.advance(1_800_000);
    await rootSays(world, 'resting &lt;!here&gt; for');
    await homeSays(world, 'resting &lt;!here&gt; since');
    world.service.clock.advance(1_800_000);
    await rootSays(world, 'both servers are reachable');
  });

  test('a run ends with any word once it has completed_at, and only `completed` is a success', async ({
    world,
  }) => {
    await runWith(world, { status: 'finished' });
    const words = ':warning: the test ended as “finished”, both servers are reachable';
    await rootSays(
      world,
      ':warning: *The test of Storefront ended as “finished”, both servers are reachable*',
    );
    await rootSays(world, 'test:again');
    await world.as('member').openHome();
    await homeSays(world, words);
  });
});

describe('a run that had ended when its start was answered', () => {
  const answer = { identifier: 'run-1', status: 'completed', completed_at: '2026-03-02T09:00:00Z' };
  const polls = ({ service }: TestWorld) =>
    service.requests.all.filter(({ path }) => path.endsWith('/test_access/run-1')).length;

  test.for([
    ['has its results, by whatever usual word', { status: 'COMPLETED' }, 0],
    ['has no results, once', { results: undefined }, 1],
  ] as const)('is polled only where the answer %s', async ([, change, amount], { world }) => {
    const path = '/acme/projects/storefront/test_access';
    const body = { ...answer, results: { repository: { status: 'Passed' }, servers: [] } };
    world.service.faults.add({ path, status: 201, body: { ...body, ...change } });
    world.service.faults.add({ path: `${path}/run-1`, body });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await rootSays(world, 'the repository is reachable');
    expect(polls(world)).toBe(amount);
  });
});

describe('the sign of a run', () => {
  const cases: Array<[string, Outcome, string, string]> = [
    [
      'whose repository was not reachable',
      { results: 'repository_unreachable' },
      ':warning: the repository is unreachable',
      'Storefront: the repository is unreachable',
    ],
    [
      'that failed without results',
      { status: 'failed' },
      ':x: the test failed without results',
      'The test of Storefront failed without results',
    ],
    [
      'where all is well',
      {},
      ':white_check_mark: both servers are reachable',
      'Storefront: both servers are reachable',
    ],
  ];
  test.for(cases)(
    'root, thread, App Home and unfurl agree on a run %s',
    async ([, outcome, shown, headline], { world }) => {
      const [icon, words] = [shown.split(' ')[0], shown.split(' ').slice(1).join(' ')];
      // However long it was watched.
      await runWith(world, { tookMs: 300_000, ...outcome });
      await rootSays(world, `${icon} *${headline}*`);
      const said = `${words.charAt(0).toUpperCase()}${words.slice(1)}. The test took 5 min`;
      await world.slack.until(() => thread(world)[0]?.startsWith(said), { what: 'the end of the progress' });
      await world.as('member').openHome();
      await homeSays(world, shown);
      expect(await unfurlText(world)).toContain(shown);
    },
  );
});

describe('a run whose root message stands, but that could not be handed to its follower', () => {
  test('is shown as stopped with a button to run it again, and leaves its target free', async ({ world }) => {
    const database = failingDatabase(world);
    database.refuse('deckhand_jobs', 'follow-test');
    await runWith(world, {});
    await rootSays(world, 'The test of Storefront stopped: ');
    await rootSays(world, 'test:again');
    database.accept();
    await runWith(world, {});
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('both servers are reachable')),
    );
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(2);
  });
});
