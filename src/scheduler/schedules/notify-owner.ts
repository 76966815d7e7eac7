import type { Message } from '../../core/message.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { pausedMessage } from '../../views/schedules/paused.ts';
import type { Schedule } from '../../workspace/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, isUndeliverable } from '../deliver.ts';

export interface OwnerNotice {
  /** The same for each repetition, so that it is sent once. */
  id: string;
  user: string;
  message: Message;
  /** Where it is posted when the person has left. */
  channel?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Writes to the person who set something up, once: by direct message, or in its channel where they have left. */
export async function notifyOwner(workspace: Workspace, notice: OwnerNotice): Promise<void> {
  const { id, user, message, signal } = notice;
  await workspace.home.refresh();
  try {
    const channel = await workspace.slack.openDirect(user);
    await deliver(workspace, { id, channel, message, signal });
  } catch (error) {
    if (!isUndeliverable(error) && !isSlackFailure(error, 'rejected')) throw error;
    await notifyChannel(workspace, notice, error.reason);
  }
}

async function notifyChannel(workspace: Workspace, notice: OwnerNotice, reason: string): Promise<void> {
  const { id, user, channel, message, signal } = notice;
  const fields = { event: 'owner_not_told', user, channel, reason };
  const text = 'Neither the owner nor the channel could be notified';
  if (channel === undefined) return workspace.log.warn(fields, text);
  try {
    await deliver(workspace, { id: `${id} here`, channel, message, signal });
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    workspace.log.warn(fields, text);
  }
}

export interface PauseNotice {
  /** Names what paused the schedules, so that each owner is notified once. */
  during: string;
  /** What each owner can do, a sentence. */
  next(theirs: readonly Schedule[]): string;
  signal: AbortSignal;
}

/** Writes to each person who set up some of the schedules that were paused for the same reason. */
export async function notifyOwners(
  workspace: Workspace,
  paused: readonly Schedule[],
  { during, next, signal }: PauseNotice,
): Promise<void> {
  for (const [user, theirs] of Map.groupBy(paused, ({ setUpBy }) => setUpBy)) {
    const [first] = theirs;
    if (first?.state.kind !== 'paused') continue;
    const { reason } = first.state;
    const message = pausedMessage({ reason, what: theirs.map(({ what }) => what), next: next(theirs) });
    const { channel } = first;
    await notifyOwner(workspace, { id: `${during} ${user}`, user, message, channel, signal });
  }
}
