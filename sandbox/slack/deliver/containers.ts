import { elementsOf } from '../state/fill-ids.ts';
import { announce, findMessage } from '../state/messages.ts';
import type { Channel, Person } from '../state/people.ts';
import type { Json, OpenView, Pane, StateValues, StoredMessage, Workspace } from '../state/types.ts';
import { stateOf } from '../state/values.ts';
import { announceView, findView, stackOf, viewRecord } from '../state/views.ts';
import { channelOf } from '../state/workspaces.ts';
import type { World } from '../world.ts';
import { payloadChannelName } from './shared.ts';

/** Where an element stands: a message (ephemeral ones too), a modal, the person's home tab or open pane. */
export type Place = { channel: string; ts: string } | { viewId: string } | 'home' | 'pane';

/** A message or view that a person has before them. */
export type Container =
  | { kind: 'message'; channel: Channel; stored: StoredMessage; blocks: Json[]; key: string; pane?: Pane }
  | { kind: 'view'; view: OpenView; blocks: Json[]; key: string };

/** @throws RangeError where the person sees no such thing */
export function findContainer(workspace: Workspace, person: Person, place: Place): Container {
  if (place === 'home') {
    const view = workspace.homes.get(person.id);
    if (!view) throw new RangeError(`${person.id} has no home tab yet`);
    return { kind: 'view', view, blocks: view.content.blocks, key: view.id };
  }
  if (place === 'pane') return findPane(workspace, person);
  if ('viewId' in place) {
    const view = findView(workspace, (one) => one.id === place.viewId && one.userId === person.id);
    if (!view) throw new RangeError(`${person.id} has no view ${place.viewId} open`);
    return { kind: 'view', view, blocks: view.content.blocks, key: view.id };
  }
  const channel = channelOf(workspace, place.channel);
  const stored = findMessage(workspace, channel.id, place.ts);
  if (!stored || (stored.ephemeralTo && stored.ephemeralTo !== person.id)) {
    throw new RangeError(`${person.id} sees no message ${place.ts} in ${channel.id}`);
  }
  const key = `${channel.id} ${place.ts} ${person.id}`;
  return { kind: 'message', channel, stored, blocks: blocksOf(stored), key };
}

/** Its buttons belong to the message whose work object was opened. */
function findPane(workspace: Workspace, person: Person): Container {
  const pane = workspace.panes.get(person.id);
  if (!pane) throw new RangeError(`${person.id} has no pane open`);
  const place = findContainer(workspace, person, { channel: pane.channel, ts: pane.ts });
  const { entity_payload: payload } = (pane.details ?? pane.entity) as { entity_payload: Json };
  const { primary_actions: actions = [] } = (payload.actions ?? {}) as { primary_actions?: Json[] };
  const elements = actions.map((action) => {
    return { ...action, type: 'button', text: { type: 'plain_text', text: action.text, emoji: true } };
  });
  return Object.assign(place, { pane, blocks: [{ type: 'actions', block_id: 'entity', elements }] });
}

/** The topmost modal, or the one named by its id or callback_id. */
export function findModal(workspace: Workspace, person: Person, name?: string): OpenView {
  const stack = stackOf(workspace, person.id);
  const view = name
    ? stack.findLast((one) => one.id === name || one.content.callback_id === name)
    : stack.at(-1);
  if (!view) throw new RangeError(`${person.id} has no modal${name ? ` ${name}` : ''} open`);
  return view;
}

function blocksOf({ record }: StoredMessage): Json[] {
  const attached = (record.attachments ?? []).flatMap((attachment) =>
    Array.isArray(attachment.blocks) ? (attachment.blocks as Json[]) : [],
  );
  return [...(record.blocks ?? []), ...attached];
}

/** Where the app is installed that a message or view belongs to: in shared channels not always the person's own. */
export function installedFor(world: World, workspace: Workspace, container: Container): Workspace {
  const id = container.kind === 'view' ? container.view.installedTeamId : container.stored.record.team;
  return world.workspaces.get(id) ?? workspace;
}

function valuesOf(workspace: Workspace, container: Container): StateValues {
  if (container.kind === 'view') return container.view.values;
  return stateOf(container.blocks, workspace.messageStates.get(container.key));
}

export function setValue(
  world: World,
  workspace: Workspace,
  container: Container,
  { blockId, actionId, state }: { blockId: string; actionId: string; state: Json },
): void {
  const values = valuesOf(workspace, container);
  const changed = { ...values, [blockId]: { ...values[blockId], [actionId]: state } };
  if (container.kind === 'view') {
    container.view.values = changed;
    announceView(world, container.view);
    return;
  }
  workspace.messageStates.set(container.key, changed);
  announce(world, workspace, container.stored);
}

/** The options that an element with options of the app's was last offered. */
export function suggestedIn(workspace: Workspace, container: Container, element: Json): readonly Json[] {
  return workspace.suggested.get(suggestionKey(container, element)) ?? [];
}

export function suggestionKey({ key }: Container, { action_id }: Json): string {
  return `${key} ${String(action_id)}`;
}

/** The part of a payload that says where it happened. */
export function placePayload(world: World, workspace: Workspace, container: Container): Json {
  if (container.kind === 'view') {
    const { view } = container;
    return {
      container: { type: 'view', view_id: view.id },
      view: viewRecord(world, workspace, view),
    };
  }
  const { channel, stored, pane } = container;
  if (pane) return panePayload(pane, channel);
  const { record, ephemeralTo } = stored;
  const isEphemeral = ephemeralTo !== undefined;
  return {
    container: {
      type: 'message',
      message_ts: record.ts,
      channel_id: channel.id,
      is_ephemeral: isEphemeral,
      ...(record.thread_ts ? { thread_ts: record.thread_ts } : {}),
    },
    channel: { id: channel.id, name: payloadChannelName(channel) },
    // Slack does not keep what only one person sees, so it cannot send it along.
    ...(isEphemeral ? {} : { message: record }),
    state: { values: valuesOf(workspace, container) },
  };
}

function panePayload({ entity, ts }: Pane, channel: Channel): Json {
  return {
    container: {
      type: 'entity_detail',
      message_ts: ts,
      channel_id: channel.id,
      entity_url: entity.url,
      external_ref: entity.external_ref,
      app_unfurl_url: entity.app_unfurl_url,
    },
    channel: { id: channel.id, name: payloadChannelName(channel) },
  };
}

/** What tells one element among others. */
export interface ElementName {
  actionId?: string;
  blockId?: string;
  /** A button's value. */
  value?: string;
  /** A button's text. */
  text?: string;
}

/** @throws RangeError where there is none, or more than one */
export function findElement(container: Container, name: ElementName): { block: Json; element: Json } {
  const all = elementsOf(container.blocks);
  const found = all.filter(
    ({ block, element }) =>
      (name.actionId === undefined || element.action_id === name.actionId) &&
      (name.blockId === undefined || block.block_id === name.blockId) &&
      (name.value === undefined || element.type !== 'button' || element.value === name.value) &&
      (name.text === undefined || textOf(element) === name.text),
  );
  const [first] = found;
  if (first && found.length === 1) return first;
  const offered = all.map(
    ({ element }) => `${String(element.action_id)} (${textOf(element) ?? element.type})`,
  );
  throw new RangeError(
    `${found.length} elements are ${JSON.stringify(name)}; there are: ${offered.join(', ') || 'none'}`,
  );
}

function textOf(element: Json): string | undefined {
  const { text } = element;
  return typeof text === 'object' && text !== null && 'text' in text ? String(text.text) : undefined;
}
