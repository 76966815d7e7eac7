import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHANNEL, type House, openHouse, PEOPLE, TEAM } from '../support/house.ts';

describe('test access from a channel', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse();
    await house.connect();
  });
  afterEach(() => house.stop());

  it('is followed from the command to the summary, in a root message and its thread', async () => {
    const { slack } = house;
    await house.as('member').command(CHANNEL, '/deckhand test storefront');
    await slack.until(() => slack.messages(TEAM, CHANNEL).some((message) => message.text.includes('completed')));
    const root = slack.messages(TEAM, CHANNEL)[0];
    expect(root?.text).toContain('2 of 2 servers reachable');
    await slack.until(() => slack.thread(TEAM, CHANNEL, root?.ts ?? '').length === 5);
    expect(slack.thread(TEAM, CHANNEL, root?.ts ?? '').map((reply) => reply.text)).toEqual([]);
  });
});
