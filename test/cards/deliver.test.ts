import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliver, findDelivered } from '../../src/cards/deliver.ts';
import { SlackFailure } from '../../src/core/errors.ts';
import { postId } from '../../src/slack/web.ts';
import { say } from '../../src/views/blocks/make-blocks.ts';
import { CHANNEL, type DigestWorld, openDigestWorld, TEAM } from '../scheduler/digests/digest-world.ts';

describe('a delivery', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const what = { id: 'an occurrence', channel: CHANNEL, message: say('Hello') };
  const workspace = () => world.app.workspaces.open(TEAM);
  const stand = () => world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text === 'Hello');
  const counted = async () =>
    /^deckhand_possible_duplicates_total\{what="post"\} (\d+)$/m.exec(
      await world.app.parts.metrics.text(),
    )?.[1];
  const isKept = async () => (await findDelivered(workspace(), what.id)) !== undefined;
  const refuse = (error: string) => world.slack.fault({ method: 'chat.postMessage', error, times: 1 });

  it('is posted once, however often it is asked for, and leaves nothing where Slack refuses it', async () => {
    for (const error of ['is_archived', 'account_inactive', 'invalid_blocks']) {
      refuse(error);
      await expect(deliver(workspace(), what)).rejects.toThrow(SlackFailure);
      expect(await isKept()).toBe(false);
    }
    const times = [1, 2, 3].map(() => deliver(workspace(), what));
    expect(new Set((await Promise.all(times)).map(({ ts }) => ts)).size).toBe(1);
    expect(stand()).toHaveLength(1);
    expect(await counted()).toBe('0');
  });

  it('is posted again under the same name and counted, where nobody knows whether Slack has it', async () => {
    await deliver(workspace(), { ...what, attempt: 2 });
    expect(stand().map((message) => message.client_msg_id)).toEqual([postId(TEAM, what.id)]);
    expect(await counted()).toBe('1');
    expect(world.logs.some((line) => line.includes('"event":"possible_duplicate"'))).toBe(true);
    expect(await isKept()).toBe(true);
  });

  it('is repeated under the same name where the answer was lost, and counted', async () => {
    world.slack.fault({ method: 'chat.postMessage', drop: 'after', times: 1 });
    const delivered = deliver(workspace(), what);
    await world.passUntil(isKept);
    await delivered;
    expect(new Set(stand().map((message) => message.client_msg_id)).size).toBe(1);
    expect(await counted()).toBe('1');
  });

  it('counts as done where Slack knows it, but somebody has deleted it', async () => {
    refuse('duplicate_message_not_found');
    expect(await deliver(workspace(), what)).toEqual({ channel: CHANNEL, ts: '' });
    expect(await isKept()).toBe(true);
  });
});
