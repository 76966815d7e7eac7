import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SlackFailure } from '../../src/core/errors.ts';
import { deliver, findDelivered } from '../../src/scheduler/deliver.ts';
import { postId } from '../../src/slack/web.ts';
import { say } from '../../src/views/blocks/message.ts';
import { CHANNEL, type DigestWorld, openDigestWorld, TEAM } from './digests/digest-world.ts';

describe('a delivery', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const what = { id: 'an occurrence', channel: CHANNEL, message: say('Hello') };
  const stand = () => world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text === 'Hello');
  const counted = async () =>
    /^deckhand_possible_duplicates_total\{what="post"\} (\d+)$/m.exec(
      await world.app.parts.metrics.text(),
    )?.[1];
  const isKept = async () => (await findDelivered(world.app.workspaces.open(TEAM), what.id)) !== undefined;

  it('is posted once, however often it is asked for', async () => {
    const workspace = world.app.workspaces.open(TEAM);
    const shown = await Promise.all([
      deliver(workspace, what),
      deliver(workspace, what),
      deliver(workspace, what),
    ]);
    expect(new Set(shown.map(({ ts }) => ts)).size).toBe(1);
    expect(stand()).toHaveLength(1);
    expect(await counted()).toBe('0');
  });

  it('is posted again under the same name and counted, where nobody knows whether Slack has it', async () => {
    await deliver(world.app.workspaces.open(TEAM), { ...what, possibleDuplicate: true });
    expect(stand().map((message) => message.client_msg_id)).toEqual([postId(TEAM, what.id)]);
    expect(await counted()).toBe('1');
    expect(world.logs.some((line) => line.includes('"event":"possible_duplicate"'))).toBe(true);
    expect(await isKept()).toBe(true);
  });

  it('is repeated under the same name where the answer was lost, and counted', async () => {
    world.slack.fault({ method: 'chat.postMessage', drop: 'after', times: 1 });
    const delivered = deliver(world.app.workspaces.open(TEAM), what);
    await world.passUntil(isKept);
    await delivered;
    expect(new Set(stand().map((message) => message.client_msg_id)).size).toBe(1);
    expect(await counted()).toBe('1');
  });

  it.each(['is_archived', 'account_inactive', 'invalid_blocks'])(
    'leaves nothing where Slack refuses with %s, so that it can be posted later without doubt',
    async (error) => {
      world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
      await expect(deliver(world.app.workspaces.open(TEAM), what)).rejects.toThrow(SlackFailure);
      expect(await isKept()).toBe(false);
      await deliver(world.app.workspaces.open(TEAM), what);
      expect(stand()).toHaveLength(1);
      expect(await counted()).toBe('0');
    },
  );

  it('counts as done where Slack knows it, but somebody has deleted it', async () => {
    world.slack.fault({ method: 'chat.postMessage', error: 'duplicate_message_not_found', times: 1 });
    expect(await deliver(world.app.workspaces.open(TEAM), what)).toEqual({ channel: CHANNEL, ts: '' });
    expect(await isKept()).toBe(true);
  });
});
