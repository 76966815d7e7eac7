import type { Delivery } from '../state/delivery.ts';
import { storeMessage, toSeen } from '../state/messages.ts';
import type { Channel, SeenMessage, StoredMessage, Workspace } from '../state/types.ts';
import { viewRecord } from '../state/views.ts';
import { directMessage } from '../state/workspaces.ts';
import { inBackground, type World } from '../world.ts';
import { sendEvent } from './events.ts';
import type { Someone } from './shared.ts';

const SCOPE_WORDS = { public: 'channels', private: 'groups', im: 'im' } as const;
const CHANNEL_TYPES = { public: 'channel', private: 'group', im: 'im' } as const;

export function openHome(world: World, { workspace, person }: Someone): Promise<Delivery | undefined> {
  const known = workspace.homes.get(person.id);
  return sendEvent(world, workspace, {
    type: 'app_home_opened',
    user: person.id,
    channel: directMessage(world, workspace, person.id).id,
    tab: 'home',
    ...(known ? { view: viewRecord(world, workspace, known) } : {}),
  });
}

/** Stores what a person writes and tells the app what it may know of it. */
export async function postAsPerson(
  world: World,
  { workspace, person }: Someone,
  channel: Channel,
  text: string,
  threadTs?: string,
): Promise<SeenMessage> {
  const stored = storeMessage(world, workspace, channel, { user: person.id }, { text, thread_ts: threadTs });
  inBackground(world, tellLinks(world, workspace, channel, stored));
  inBackground(world, tellMessage(world, workspace, channel, stored));
  return toSeen(stored);
}

async function tellLinks(
  world: World,
  workspace: Workspace,
  channel: Channel,
  { record }: StoredMessage,
): Promise<void> {
  const links = [...record.text.matchAll(/https?:\/\/[^\s<>|]+/g)].flatMap(([url]) => {
    const { hostname } = new URL(url);
    const domain = world.app.unfurlDomains.find((one) => hostname === one || hostname.endsWith(`.${one}`));
    return domain ? [{ domain, url }] : [];
  });
  if (links.length === 0 || !workspace.installation?.scopes.includes('links:read')) return;
  await sendEvent(world, workspace, {
    type: 'link_shared',
    user: record.user,
    channel: channel.id,
    message_ts: record.ts,
    ...(record.thread_ts ? { thread_ts: record.thread_ts } : {}),
    links,
    unfurl_id: `${channel.id}-${record.ts}`,
    source: 'conversations_history',
    is_bot_user_member: channel.members.has(workspace.installation.botUserId),
  });
}

/** Message events need the history scope of that kind of conversation. */
async function tellMessage(
  world: World,
  workspace: Workspace,
  channel: Channel,
  { record }: StoredMessage,
): Promise<void> {
  const { installation } = workspace;
  const isIn = installation && channel.members.has(installation.botUserId);
  if (!isIn || !installation.scopes.includes(`${SCOPE_WORDS[channel.kind]}:history`)) return;
  const { type: _type, ...rest } = record;
  await sendEvent(world, workspace, {
    type: 'message',
    ...rest,
    channel: channel.id,
    channel_type: CHANNEL_TYPES[channel.kind],
  });
}
