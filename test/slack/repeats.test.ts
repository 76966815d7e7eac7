import { afterEach, beforeEach, expect, it } from 'vitest';
import { say } from '../../src/views/blocks/message.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

let house: TestWorld;
beforeEach(async () => {
  house = await openTestWorld();
  await house.connect();
});
afterEach(() => house.stop());

const roots = () => house.slack.messages(TEAM, CHANNEL);

it.each([{ malformed: true }, { drop: 'after' as const }, { status: 502 }])(
  'a root whose post was answered with %o is posted again under its name, and counted',
  async (fault) => {
    house.slack.fault({ method: 'chat.postMessage', ...fault, times: 1 });
    await house.as('member').command(CHANNEL, '/deckhand test storefront');
    await house.slack.until(() => roots().at(-1)?.text.includes('2 of 2'), { timeoutMs: 15_000 });
    expect(new Set(roots().map((root) => root.client_msg_id)).size).toBe(1);
    expect(await house.app.parts.metrics.text()).toMatch(/^deckhand_delivery_uncertain_total 1$/m);
    expect(await house.logged('"event":"delivery_uncertain"')).toContain(roots()[0]?.client_msg_id);
  },
);

it('what a person alone is told outlasts a Slack that fails for a while, and each repetition is counted', async () => {
  const { slack } = house.app.parts;
  house.slack.fault({ method: 'chat.postEphemeral', status: 502, times: 3 });
  await slack.postEphemeral(TEAM, { channel: CHANNEL, user: PEOPLE.member }, say('Here you are'));
  expect(house.slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text)).toEqual(['Here you are']);
  // The admin is told of the connected account in the same moment, and meets some of the faults.
  await expect.poll(() => house.app.parts.metrics.text()).toMatch(/^deckhand_delivery_uncertain_total 3$/m);
});
