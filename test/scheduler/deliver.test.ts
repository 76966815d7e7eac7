import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliver, deliveryOf } from '../../src/scheduler/deliver.ts';
import { SlackFailure } from '../../src/slack/failure.ts';
import { postId } from '../../src/slack/web.ts';
import { say } from '../../src/views/blocks/message.ts';
import { CHANNEL, type DigestWorld, openDigestWorld, TEAM } from './digests/digest-world.ts';

describe('a delivery', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const what = { id: 'a slot', channel: CHANNEL, message: say('Hello') };
  const stand = () => world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text === 'Hello');
  const uncertain = async () =>
    /^deckhand_delivery_uncertain_total (\d+)$/m.exec(await world.app.parts.metrics.text())?.[1];
  const state = async () => (await deliveryOf(world.app.workspaces.open(TEAM).store, what.id))?.state;

  it('is posted once, however often it is asked for', async () => {
    const workspace = world.app.workspaces.open(TEAM);
    const shown = await Promise.all([
      deliver(workspace, what),
      deliver(workspace, what),
      deliver(workspace, what),
    ]);
    expect(new Set(shown.map(({ ts }) => ts)).size).toBe(1);
    expect(stand()).toHaveLength(1);
    expect(JSON.stringify(stand()[0]?.blocks)).not.toContain('may stand here twice');
    expect(await uncertain()).toBe('0');
  });

  it('is posted again under the same name, counted, and says so, where nobody knows whether Slack has it', async () => {
    // What a process leaves that was killed between Slack's answer and its own record.
    const deliveries = world.app.parts.store.of(TEAM).collection('deliveries', {
      parse: (value: unknown) => value,
    } as never);
    const posting = { state: 'posting', at: world.time.now(), channel: CHANNEL };
    await deliveries.put(what.id, posting as never);
    await deliver(world.app.workspaces.open(TEAM), what);
    expect(stand().map((message) => message.client_msg_id)).toEqual([postId(TEAM, what.id)]);
    expect(JSON.stringify(stand()[0]?.blocks)).toContain('may stand here twice');
    expect(await uncertain()).toBe('1');
    expect(world.logs.some((line) => line.includes('"event":"delivery_uncertain"'))).toBe(true);
    expect(await state()).toBe('posted');
  });

  it('is repeated under the same name where the answer was lost, counted, and says so', async () => {
    world.slack.fault({ method: 'chat.postMessage', drop: 'after', times: 1 });
    const delivered = deliver(world.app.workspaces.open(TEAM), what);
    await world.passUntil(async () => (await state()) === 'posting');
    await world.passUntil(async () => (await state()) === 'posted');
    await delivered;
    expect(new Set(stand().map((message) => message.client_msg_id)).size).toBe(1);
    expect(await uncertain()).toBe('1');
    expect(JSON.stringify(stand().at(-1)?.blocks)).toContain('may stand here twice');
  });

  it('stays delivered where Slack does not take that line any more', async () => {
    world.slack.fault({ method: 'chat.postMessage', drop: 'after', times: 1 });
    world.slack.fault({ method: 'chat.update', error: 'cant_update_message' });
    const delivered = deliver(world.app.workspaces.open(TEAM), what);
    await world.passUntil(async () => (await state()) === 'posted');
    expect((await delivered).ts).toBe(stand().at(-1)?.ts);
  });

  it.each(['is_archived', 'not_in_channel', 'restricted_action', 'account_inactive', 'invalid_blocks'])(
    'leaves nothing where Slack refuses with %s, so that it can be posted later without doubt',
    async (error) => {
      world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
      await expect(deliver(world.app.workspaces.open(TEAM), what)).rejects.toThrow(SlackFailure);
      expect(await state()).toBeUndefined();
      await deliver(world.app.workspaces.open(TEAM), what);
      expect(stand()).toHaveLength(1);
      expect(await uncertain()).toBe('0');
    },
  );

  it('counts as done where Slack knows it, but somebody has deleted it', async () => {
    world.slack.fault({ method: 'chat.postMessage', error: 'duplicate_message_not_found', times: 1 });
    expect(await deliver(world.app.workspaces.open(TEAM), what)).toEqual({ channel: CHANNEL, ts: '' });
    expect(await state()).toBe('posted');
  });
});
