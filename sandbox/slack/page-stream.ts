import {
  callForPage,
  controlsForPage,
  deliveryForPage,
  homeForPage,
  messageForPage,
  viewsForPage,
} from './page-records.ts';
import type { Change, Sight } from './state/changes.ts';
import { findMessage } from './state/messages.ts';
import type { Person } from './state/people.ts';
import type { Json, Workspace } from './state/types.ts';
import type { World } from './world.ts';

/** A change as one person's page is told of it; undefined where it is none of theirs. */
export function eventForPage(
  world: World,
  workspace: Workspace,
  person: Person,
  change: Change,
): Json | undefined {
  if (change.type === 'controls') {
    return { type: 'controls', controls: controlsForPage(world) };
  }
  if (change.type === 'sockets') return undefined;
  if (change.team !== workspace.id) return undefined;
  switch (change.type) {
    case 'message':
      return messageEvent(workspace, person, change);
    case 'message_deleted':
      return change.user && change.user !== person.id
        ? undefined
        : { type: change.type, channel: change.channel, ts: change.ts };
    case 'views':
    case 'home':
    case 'pane':
      return change.user === person.id ? ownEvent(world, workspace, person.id, change.type) : undefined;
    case 'go':
      return change.user === person.id ? { type: 'go', ...placeOf(world, change.to) } : undefined;
    case 'typed':
      return change.user === person.id
        ? { type: 'typed', channel: change.channel, text: change.text }
        : undefined;
    case 'workspace':
      return { type: 'workspace' };
    case 'delivery': {
      const delivery = world.deliveries.findLast((one) => one.id === change.id);
      return delivery && { type: 'delivery', delivery: deliveryForPage(delivery) };
    }
    case 'call': {
      const call = world.calls.findLast((one) => one.id === change.id);
      return call && { type: 'call', call: callForPage(call) };
    }
    default:
      return undefined;
  }
}

/** What only this person has before them. */
function ownEvent(world: World, workspace: Workspace, user: string, type: 'views' | 'home' | 'pane'): Json {
  switch (type) {
    case 'views':
      return { type, views: viewsForPage(world, workspace, user) };
    case 'home':
      return { type, app: world.app.appId, view: homeForPage(world, workspace, user) };
    case 'pane':
      return { type, pane: workspace.panes.get(user) ?? null };
  }
}

/** In the page's words. */
function placeOf(world: World, to: Sight): Json {
  if (to === 'home') return { at: { kind: 'home', app: world.app.appId } };
  return { at: { kind: 'channel', id: to.channel }, ...(to.thread ? { thread: to.thread } : {}) };
}

function messageEvent(
  workspace: Workspace,
  person: Person,
  { channel: channelId, ts }: { channel: string; ts: string },
): Json | undefined {
  const channel = workspace.channels.get(channelId);
  const stored = findMessage(workspace, channelId, ts);
  if (!channel || !stored) return undefined;
  const isOpen = channel.kind === 'public' && !person.is_restricted;
  if (!isOpen && !channel.members.has(person.id)) return undefined;
  if (stored.ephemeralTo && stored.ephemeralTo !== person.id) return undefined;
  return { type: 'message', channel: channelId, message: messageForPage(stored) };
}
