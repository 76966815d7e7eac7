import { expect } from 'vitest';
import { say } from '../../src/views/blocks/make-blocks.ts';
import { HASTY } from '../support/faults.ts';
import { test as base } from '../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const test = base.extend('connected', true).extend('worldOptions', HASTY);

const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);

test.for([{ malformed: true }, { drop: 'after' as const }])(
  'a root whose post was answered with %o is posted again under its name, and counted',
  async (fault, { world }) => {
    world.slack.fault({ method: 'chat.postMessage', ...fault, times: 1 });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => roots(world).at(-1)?.text.includes('both servers are reachable'));
    expect(new Set(roots(world).map((root) => root.client_msg_id)).size).toBe(1);
    expect(await world.app.parts.metrics.text()).toMatch(
      /^deckhand_possible_duplicates_total\{what="post"\} 1$/m,
    );
    expect(await world.logged('"event":"possible_duplicate"')).toContain(roots(world)[0]?.client_msg_id);
  },
);

/** As many answers as one attempt waits for, and then one more of the next. */
test.for([1, 9])(
  'a reply whose post was not answered %i times is posted again under its name, and counted',
  async (times, { world }) => {
    const { service, slack } = world;
    const durationMs = 24 * 3_600_000;
    const where = { account: ACCOUNT, project: 'storefront' };
    service.world.setRunOutcome({ ...where, durationMs });
    service.world.setOutcome({ ...where, server: 'web-2', status: 'error', message: 'refused' });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    const thread = () => slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '');
    await slack.until(() => thread().length === 1);
    slack.fault({ method: 'chat.postMessage', replies: true, drop: 'after', times });
    service.clock.advance(durationMs);
    await slack.until(
      () => roots(world)[0]?.text.includes('1 of 2') && thread()[0]?.text.includes('The test took'),
    );
    const names = thread().map(({ client_msg_id: id }) => id);
    const repeated = new Set(names.filter((name, at) => names.indexOf(name) !== at));
    expect(repeated.size).toBe(1);
    const counted = new RegExp(`^deckhand_possible_duplicates_total\\{what="post"\\} ${times}$`, 'm');
    expect(await world.app.parts.metrics.text()).toMatch(counted);
  },
);

test('what a person alone is told outlasts a Slack that fails for a while, and each repetition is counted', async ({
  world,
}) => {
  const slack = world.app.parts.slack.of(TEAM);
  world.slack.fault({ method: 'chat.postEphemeral', status: 502, times: 3 });
  await slack.postEphemeral({ channel: CHANNEL, user: PEOPLE.member }, say('Here you are'));
  expect(world.slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text)).toEqual(['Here you are']);
  // The admin is told of the connected account in the same moment, and meets some of the faults.
  await expect
    .poll(() => world.app.parts.metrics.text())
    .toMatch(/^deckhand_possible_duplicates_total\{what="post"\} 3$/m);
});
