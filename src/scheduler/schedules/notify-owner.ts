import type { Message } from '../../core/message.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, isUndeliverable } from '../deliver.ts';

export interface Telling {
  /** Names it for ever, so that it is told once. */
  id: string;
  user: string;
  message: Message;
  /** Where it is told when the person has left. */
  channel?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Tells whoever set something up, once: by direct message, or in its channel where they have left. */
export async function notifyOwner(workspace: Workspace, told: Telling): Promise<void> {
  const { id, user, message, signal } = told;
  await workspace.home.refresh();
  try {
    const channel = await workspace.slack.openDirect(user);
    await deliver(workspace, { id, channel, message, signal });
  } catch (error) {
    if (!isUndeliverable(error) && !isSlackFailure(error, 'rejected')) throw error;
    await tellChannel(workspace, told, error.reason);
  }
}

async function tellChannel(workspace: Workspace, told: Telling, reason: string): Promise<void> {
  const { id, user, channel, message, signal } = told;
  const fields = { event: 'owner_not_told', user, channel, reason };
  if (channel === undefined) return workspace.log.warn(fields, 'nobody could be told');
  try {
    await deliver(workspace, { id: `${id} here`, channel, message, signal });
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    workspace.log.warn(fields, 'nobody could be told');
  }
}
