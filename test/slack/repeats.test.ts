import { describe, expect } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { say } from '../../src/views/blocks/message.ts';
import { HASTY, hastyClock } from '../support/faults.ts';
import { test as base } from '../support/fixtures.ts';
import { openBrowser } from '../support/installing.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const test = base.extend('connected', true).extend('worldOptions', HASTY);

const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);

test.for([{ malformed: true }, { drop: 'after' as const }, { status: 502 }])(
  'a root whose post was answered with %o is posted again under its name, counted, and says so to its end',
  async (fault, { world }) => {
    world.slack.fault({ method: 'chat.postMessage', ...fault, times: 1 });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => roots(world).at(-1)?.text.includes('2 of 2'));
    expect(new Set(roots(world).map((root) => root.client_msg_id)).size).toBe(1);
    expect(JSON.stringify(roots(world).at(-1)?.blocks)).toContain('An earlier copy may stand above');
    expect(await world.app.parts.metrics.text()).toMatch(/^deckhand_delivery_uncertain_total 1$/m);
    expect(await world.logged('"event":"delivery_uncertain"')).toContain(roots(world)[0]?.client_msg_id);
  },
);

test('a root that only had to wait for a busy Slack does not speak of a copy', async ({ world }) => {
  world.slack.fault({ method: 'chat.postMessage', status: 429, retryAfter: 1, times: 1 });
  await world.as('member').command(CHANNEL, '/deckhand test storefront');
  await world.slack.until(() => roots(world).at(-1)?.text.includes('2 of 2'));
  expect(JSON.stringify(roots(world))).not.toContain('copy');
});

/** As many answers as one attempt waits for, and then one more of the next. */
test.for([1, 9])(
  'a reply whose post was not answered %i times is posted again under its name, counted, and says so',
  async (times, { world }) => {
    const { service, slack } = world;
    const durationMs = 24 * 3_600_000;
    service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    const thread = () => slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '');
    await slack.until(() => thread().length === 1);
    slack.fault({ method: 'chat.postMessage', replies: true, drop: 'after', times });
    service.clock.advance(durationMs);
    await slack.until(
      () => roots(world)[0]?.text.includes('2 of 2') && thread().at(-1)?.text.includes('2 of 2'),
    );
    const marked = thread().filter(({ blocks }) => JSON.stringify(blocks).includes('may stand here twice'));
    expect(marked.length).toBeGreaterThanOrEqual(1);
    expect(new Set(marked.map(({ client_msg_id: id }) => id)).size).toBe(1);
    const counted = new RegExp(`^deckhand_delivery_uncertain_total ${times}$`, 'm');
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
  await expect.poll(() => world.app.parts.metrics.text()).toMatch(/^deckhand_delivery_uncertain_total 3$/m);
});

describe('with tokens that end', () => {
  let later = 0;
  const time: Clock = { ...hastyClock, now: () => systemClock.now() + later };
  test.override({
    connected: false,
    worldOptions: { ...HASTY, clock: time, time, byOauth: true, slackApp: { tokenRotation: true } },
  });

  test('a post that had to wait for a new token was sent once, and counts as that', async ({ world }) => {
    await openBrowser(world).install(TEAM, PEOPLE.admin);
    later = 13 * 3_600_000;
    world.slack.fault({ method: 'oauth.v2.access', status: 502, times: 2 });
    const slack = world.app.parts.slack.of(TEAM);
    await slack.post({ channel: CHANNEL, message: say('Here you are') });
    expect(roots(world).map(({ text }) => text)).toEqual(['Here you are']);
    expect(await world.logged('"event":"token_refresh_failed"')).toContain('http_502');
    expect(await world.app.parts.metrics.text()).toMatch(/^deckhand_delivery_uncertain_total 0$/m);
    expect(world.logs.join()).not.toContain('"event":"delivery_uncertain"');
  });
});
