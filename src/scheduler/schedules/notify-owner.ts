import type { Deckhand } from '../../deckhand.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import type { Message } from '../../views/blocks/message.ts';
import { deliver, isUndeliverable } from '../deliver.ts';

export interface Telling {
  workspace: string;
  /** Names it for ever, so that it is told once. */
  id: string;
  user: string;
  message: Message;
  /** Where it is told when the person has left. */
  channel?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Tells whoever set something up, once: by direct message, or in its channel where they have left. */
export async function notifyOwner(deckhand: Deckhand, told: Telling): Promise<void> {
  const { workspace, id, user, message, signal } = told;
  await deckhand.home.refresh(workspace);
  try {
    const channel = await deckhand.slack.openDirect(workspace, user);
    await deliver(deckhand, { workspace, id, channel, message, signal });
  } catch (error) {
    if (!isUndeliverable(error) && !isSlackFailure(error, 'rejected')) throw error;
    await tellChannel(deckhand, told, error.reason);
  }
}

async function tellChannel(deckhand: Deckhand, told: Telling, reason: string): Promise<void> {
  const { workspace, id, user, channel, message, signal } = told;
  const fields = { event: 'owner_not_told', workspace, user, channel, reason };
  if (channel === undefined) return deckhand.log.warn(fields, 'nobody could be told');
  try {
    await deliver(deckhand, { workspace, id: `${id} here`, channel, message, signal });
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    deckhand.log.warn(fields, 'nobody could be told');
  }
}
