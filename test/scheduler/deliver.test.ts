import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliver, deliveryOf } from '../../src/scheduler/deliver.ts';
import { SlackFailure } from '../../src/slack/failure.ts';
import { say } from '../../src/views/blocks/message.ts';
import { CHANNEL, type DigestHouse, openDigestHouse, TEAM } from './digests/digest-house.ts';

describe('a delivery', () => {
  let house: DigestHouse;
  beforeEach(async () => {
    house = await openDigestHouse();
  });
  afterEach(() => house.stop());

  const what = { id: 'a slot', channel: CHANNEL, message: say('Hello') };
  const stand = () => house.slack.messages(TEAM, CHANNEL).filter(({ text }) => text === 'Hello');
  const uncertain = async () =>
    /^deckhand_delivery_uncertain_total (\d+)$/m.exec(await house.app.parts.metrics.text())?.[1];
  const state = async () => (await deliveryOf(house.app.workspaces.open(TEAM).store, what.id))?.state;

  it('is posted once, however often it is asked for', async () => {
    const workspace = house.app.workspaces.open(TEAM);
    const shown = await Promise.all([
      deliver(workspace, what),
      deliver(workspace, what),
      deliver(workspace, what),
    ]);
    expect(new Set(shown.map(({ ts }) => ts)).size).toBe(1);
    expect(stand()).toHaveLength(1);
    expect(await uncertain()).toBe('0');
  });

  it('is posted again under the same name, and counted, where nobody knows whether Slack has it', async () => {
    // What a process leaves that was killed between Slack's answer and its own record.
    const deliveries = house.app.parts.store.collection('deliveries', {
      parse: (value: unknown) => value,
    } as never);
    const posting = { state: 'posting', at: house.time.now(), channel: CHANNEL };
    await deliveries.put(TEAM, what.id, posting as never);
    await deliver(house.app.workspaces.open(TEAM), what);
    expect(stand()).toHaveLength(1);
    expect(await uncertain()).toBe('1');
    expect(house.logs.some((line) => line.includes('"event":"delivery_uncertain"'))).toBe(true);
    expect(await state()).toBe('posted');
  });

  it('is repeated under the same name where the answer was lost, and counted', async () => {
    house.slack.fault({ method: 'chat.postMessage', drop: 'after', times: 1 });
    const delivered = deliver(house.app.workspaces.open(TEAM), what);
    await house.passUntil(async () => (await state()) === 'posted');
    await delivered;
    expect(new Set(stand().map((message) => message.client_msg_id)).size).toBe(1);
    expect(await uncertain()).toBe('1');
  });

  it.each(['is_archived', 'not_in_channel', 'restricted_action', 'account_inactive', 'invalid_blocks'])(
    'leaves nothing where Slack refuses with %s, so that it can be posted later without doubt',
    async (error) => {
      house.slack.fault({ method: 'chat.postMessage', error, times: 1 });
      await expect(deliver(house.app.workspaces.open(TEAM), what)).rejects.toThrow(SlackFailure);
      expect(await state()).toBeUndefined();
      await deliver(house.app.workspaces.open(TEAM), what);
      expect(stand()).toHaveLength(1);
      expect(await uncertain()).toBe('0');
    },
  );

  it('counts as done where Slack knows it, but somebody has deleted it', async () => {
    house.slack.fault({ method: 'chat.postMessage', error: 'duplicate_message_not_found', times: 1 });
    expect(await deliver(house.app.workspaces.open(TEAM), what)).toEqual({ channel: CHANNEL, ts: '' });
    expect(await state()).toBe('posted');
  });
});
