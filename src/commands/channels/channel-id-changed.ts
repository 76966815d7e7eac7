import { z } from 'zod';
import { moveChannel } from '../../scheduler/channels/move-channel.ts';
import type { CommandContext } from '../context.ts';
import type { SlackEvent } from '../slack-event.ts';

const ChannelIdChanged = z.object({ old_channel_id: z.string(), new_channel_id: z.string() });

/** Slack gives a private channel a new id when somebody shares it with another company. The earlier id is then unknown to Slack. */
export async function channelIdChanged({ workspace }: CommandContext, { event }: SlackEvent): Promise<void> {
  const { old_channel_id: from, new_channel_id: to } = ChannelIdChanged.parse(event);
  await workspace.channelIds.note(from, to);
  // The event of a later change may arrive first.
  const present = await workspace.channelIds.findPresent(to);
  await moveChannel(workspace, from, present, { settings: true, isSameChannel: true });
}
