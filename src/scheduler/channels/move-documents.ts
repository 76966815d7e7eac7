import { setImmediate } from 'node:timers/promises';
import type { ChannelMove } from '../../records/channels.ts';
import { Push } from '../../records/pushes.ts';
import { moveRecoveries } from '../../records/recoveries.ts';
import { Run } from '../../records/test-runs.ts';
import { WaitingCommand } from '../../records/waiting-commands.ts';
import type { Collection, WorkspaceStore } from '../../store/store.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { Removal } from '../schedules/remove-schedules.ts';
import { FollowedServer } from '../servers/provisioning.ts';
import { ServerOrder } from '../servers/server-order.ts';

/** Documents about the schedules of a channel. */
function openFollowing(store: WorkspaceStore) {
  return [store.collection('pushes', Push)];
}

/** Documents about messages of a channel, and about what people asked for there. */
function openShown(store: WorkspaceStore) {
  return [
    store.collection('runs', Run),
    store.collection('followed-servers', FollowedServer),
    store.collection('server-orders', ServerOrder),
    store.collection('removed-schedules', Removal),
    store.collection('waiting', WaitingCommand),
  ];
}

/** Moves the documents that name the channel in a field. Safe to repeat. */
export async function moveDocuments(
  { store }: Workspace,
  { from, to, isSameChannel }: ChannelMove,
): Promise<void> {
  await moveRecoveries(store, from, to);
  const collections: Collection<object>[] = isSameChannel
    ? [...openFollowing(store), ...openShown(store)]
    : openFollowing(store);
  for (const collection of collections) await replaceIn(collection, from, to);
}

/** Number of documents that are read at once. */
const PAGE = 200;

async function replaceIn<T extends object>(
  collection: Collection<T>,
  from: string,
  to: string,
): Promise<void> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await collection.latest(PAGE, { offset });
    for (const { id, doc } of page)
      if (replaceText(doc, from, to) !== doc)
        await collection.update(id, (current) => current && replaceText(current, from, to));
    if (page.length < PAGE) return;
    // Other requests run between two pages.
    await setImmediate();
  }
}

/** Replaces a text wherever it is a whole value. Returns the same value if it is nowhere. Pure. */
function replaceText<T>(value: T, from: string, to: string): T {
  if (!JSON.stringify(value).includes(JSON.stringify(from))) return value;
  const replaced = JSON.stringify(value, (_, part: unknown) => (part === from ? to : part));
  return JSON.parse(replaced) as T;
}
