import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

/** A run with a failing server, whose reply has a button; the root and that reply. */
async function failedRun(world: TestWorld) {
  const { slack } = world;
  slack.invite(TEAM, CHANNEL, 'bot');
  const server = { account: ACCOUNT, project: 'storefront', server: 'web-1' };
  world.service.world.setOutcome({ ...server, status: 'error', message: 'refused' });
  await world.as('member').command(CHANNEL, '/deckhand test storefront');
  const root = () => slack.messages(TEAM, CHANNEL)[0];
  await slack.until(() => root()?.text.includes('1 of 2 servers is unreachable') === true, {
    what: 'the outcome',
  });
  const { ts = '' } = root() ?? {};
  const failing = () =>
    slack.thread(TEAM, CHANNEL, ts).find(({ text }) => text.startsWith('web-1 is unreachable'));
  await slack.until(() => failing() !== undefined, { what: 'the failing item' });
  return { root: { channel: CHANNEL, ts }, failing: { channel: CHANNEL, ts: failing()?.ts ?? '' } };
}

/** What only the member reads that has these words. */
async function read({ slack }: TestWorld, words: string) {
  const find = () => slack.ephemerals(TEAM, PEOPLE.member).findLast(({ text }) => text.includes(words));
  await slack.until(() => find() !== undefined, { what: `"${words}"` });
  return find();
}

describe('a private answer', () => {
  test.override({ connected: true });

  test('to a click in a thread stands in that thread, and to one in the channel in the channel', async ({
    world,
  }) => {
    const { root, failing } = await failedRun(world);
    for (const [place, actionId] of [
      [failing, 'test:server'],
      [root, 'test:again'],
    ] as const) {
      const click = () => world.as('member').click(place, { actionId });
      await Promise.all([click(), click()]);
      const told = () =>
        world.slack.ephemerals(TEAM, PEOPLE.member).filter(({ text }) => text.includes('used already'));
      await world.slack.until(() => told().length === (place === failing ? 1 : 2), { what: actionId });
      expect(told().at(-1)?.thread_ts).toBe(place === failing ? root.ts : undefined);
    }
  });

  test.for([
    ['by its own address', {}],
    ['where that is used up', { method: 'response_url', error: 'used_url' }],
  ] as const)(
    'to a click on what only one person sees in a thread stands there too, %s',
    async ([_, fault], { world }) => {
      const { ts } = await world.as('admin').postMessage(CHANNEL, 'What do we have?');
      await world.as('member').postMessage(CHANNEL, 'we should ask @deckhand for projects', ts);
      const question = await read(world, 'Which of these did you mean?');
      expect(question).toMatchObject({ thread_ts: ts });
      if ('method' in fault) world.slack.fault(fault);
      const { ts: shown = '' } = question ?? {};
      await world.as('member').click({ channel: CHANNEL, ts: shown }, { text: 'projects' });
      expect(await read(world, 'projects in')).toMatchObject({ thread_ts: ts });
    },
  );
});
