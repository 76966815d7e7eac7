import type { Delivery } from '../state/delivery.ts';
import { changeMessage, deleteMessage, findMessage, storeMessage, toSeen } from '../state/messages.ts';
import { type Channel, SCOPE_WORDS } from '../state/people.ts';
import { homeOf, isExternallyShared } from '../state/sharing.ts';
import type { SeenMessage, StoredMessage, Workspace } from '../state/types.ts';
import { viewRecord } from '../state/views.ts';
import { directMessage } from '../state/workspaces.ts';
import type { Place } from '../web-api/method.ts';
import { inBackground, type World } from '../world.ts';
import { sendEvent } from './events.ts';
import { hasApp, type Someone } from './shared.ts';
import { encodeTyped, unescapeText } from './typed-text.ts';

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

/** Stores what a person writes and tells the app what it may know of it, wherever the channel has it. */
export async function postAsPerson(
  world: World,
  actor: Someone,
  channel: Channel,
  typed: string,
  threadTs?: string,
): Promise<SeenMessage> {
  const { workspace, person } = actor;
  const text = encodeTyped(world, { workspace, channel, text: typed });
  const author = {
    user: person.id,
    ...(person.team_id ? { team: person.team_id } : {}),
    ...(person.is_bot ? { bot_id: `B${person.id.slice(1)}` } : {}),
  };
  const stored = storeMessage(world, workspace, channel, author, { text, thread_ts: threadTs });
  if (hasApp(world, actor)) inBackground(world, tellLinks(world, workspace, channel, stored));
  for (const place of placesOf(world, workspace, channel)) {
    inBackground(world, tellMessage(world, place, stored));
    inBackground(world, tellMention(world, place, actor, stored));
  }
  return toSeen(stored);
}

/** Changes what a person wrote. A mention in the new text is told like one in a new message, with `edited`. */
export function editAsPerson(
  world: World,
  actor: Someone,
  channel: Channel,
  { ts, typed }: { ts: string; typed: string },
): SeenMessage {
  const { workspace } = actor;
  const stored = findOwn(actor, channel, ts);
  const text = encodeTyped(world, { workspace, channel, text: typed });
  changeMessage(world, workspace, stored, { text }, true);
  for (const place of placesOf(world, workspace, channel))
    inBackground(world, tellMention(world, place, actor, stored));
  return toSeen(stored);
}

export function deleteAsPerson(world: World, actor: Someone, channel: Channel, ts: string): void {
  deleteMessage(world, actor.workspace, findOwn(actor, channel, ts));
}

function findOwn({ workspace, person }: Someone, { id }: Channel, ts: string): StoredMessage {
  const stored = findMessage(workspace, id, ts);
  if (stored?.record.user !== person.id) throw new RangeError(`${person.id} wrote no message ${ts}`);
  return stored;
}

/** The workspaces in which the app sits in a channel. */
function placesOf(world: World, workspace: Workspace, { id, sharedWith }: Channel): Place[] {
  const others = sharedWith.flatMap((team) => world.workspaces.get(team) ?? []);
  return [workspace, ...others].flatMap((one) => {
    const channel = one.channels.get(id);
    const { installation } = one;
    const isIn = channel && installation && channel.members.has(installation.botUserId);
    return isIn ? [{ workspace: one, channel, installation }] : [];
  });
}

async function tellLinks(
  world: World,
  workspace: Workspace,
  channel: Channel,
  { record }: StoredMessage,
): Promise<void> {
  const links = [...record.text.matchAll(/<(https?:\/\/[^>|]+)/g)].flatMap(([, escaped = '']) => {
    const url = unescapeText(escaped);
    const { hostname } = new URL(url);
    const domain = world.app.unfurlDomains.find((one) => hostname === one || hostname.endsWith(`.${one}`));
    return domain ? [{ domain, url }] : [];
  });
  if (links.length === 0 || !workspace.installation?.scopes.includes('links:read')) return;
  const event = {
    type: 'link_shared',
    user: record.user,
    channel: channel.id,
    message_ts: record.ts,
    ...(record.thread_ts ? { thread_ts: record.thread_ts } : {}),
    links,
    unfurl_id: `${channel.id}-${record.ts}`,
    source: 'conversations_history',
    is_bot_user_member: channel.members.has(workspace.installation.botUserId),
  };
  await sendEvent(world, workspace, event, { isExternal: isExternallyShared(world, workspace, channel) });
}

/** Message events need the history scope of that kind of conversation. */
async function tellMessage(world: World, place: Place, { record }: StoredMessage): Promise<void> {
  const { workspace, channel, installation } = place;
  if (!installation.scopes.includes(`${SCOPE_WORDS[channel.kind]}:history`)) return;
  const { type: _type, ...rest } = record;
  const event = {
    type: 'message',
    ...rest,
    channel: channel.id,
    channel_type: CHANNEL_TYPES[channel.kind],
  };
  await sendEvent(world, workspace, event, { isExternal: isExternallyShared(world, workspace, channel) });
}

/** In a direct message there is no mention to tell of. The event's `team` is the app's own; others' is `user_team`. */
async function tellMention(
  world: World,
  { workspace, channel, installation }: Place,
  actor: Someone,
  { record }: StoredMessage,
): Promise<void> {
  const isMeant = record.text.includes(`<@${installation.botUserId}>`);
  if (!isMeant || channel.kind === 'im' || !installation.scopes.includes('app_mentions:read')) return;
  const home = homeOf(world, actor.workspace, actor.person);
  const foreign = { user_team: home.id, source_team: home.id, user_profile: { team: home.id } };
  const { type: _type, ...rest } = record;
  const event = {
    type: 'app_mention',
    ...rest,
    team: workspace.id,
    ...(home.id === workspace.id ? {} : foreign),
    channel: channel.id,
  };
  await sendEvent(world, workspace, event, { isExternal: isExternallyShared(world, workspace, channel) });
}
