import { findMessage } from '../state/messages.ts';
import { issueTrigger } from '../state/triggers.ts';
import type { Json, Workspace } from '../state/types.ts';
import { channelOf } from '../state/workspaces.ts';
import type { World } from '../world.ts';
import { type Chosen, chosenOption, chosenState } from './choosing.ts';
import {
  type Container,
  type ElementName,
  findContainer,
  findElement,
  installedFor,
  type Place,
  placePayload,
  setValue,
  suggestedIn,
} from './containers.ts';
import { deliver } from './delivery.ts';
import { issueResponseUrl } from './response-url.ts';
import { type ActResult, notDelivered, resultOf } from './result.ts';
import { envelope, hasApp, payloadChannelName, type Someone } from './shared.ts';

export interface Use extends ElementName {
  /** What is chosen or typed, for everything but buttons. */
  selected?: Chosen;
  /** The answer to a confirm dialog, yes by default. */
  confirm?: boolean;
}

const SILENT = 'This app did not respond. Try again, or ask who made it.';
const GONE = 'This app is not installed here any more.';

/** Clicks a button or uses another element, and delivers the `block_actions` that follow. */
export async function useElement(world: World, actor: Someone, place: Place, use: Use): Promise<ActResult> {
  const { workspace, person } = actor;
  const container = findContainer(workspace, person, place);
  const { block, element } = findElement(container, use);
  if (element.confirm && use.confirm === false) return notDelivered('denied');
  const action = applyUse(world, workspace, container, { block, element, use });
  if (block.type === 'input' && block.dispatch_action !== true) return notDelivered('not_sent');
  return deliverAction(world, actor, container, action);
}

/** Delivers an action that is already in Slack's words, as the page sends it. */
export async function deliverAction(
  world: World,
  actor: Someone,
  container: Container,
  action: Json,
): Promise<ActResult> {
  const { workspace, person } = actor;
  const installed = installedFor(world, workspace, container);
  if (!installed.installation) return notDelivered('dispatch_failed', { shown: GONE });
  const owner = { teamId: installed.id, seatId: workspace.id, userId: person.id };
  const viewId = container.kind === 'view' ? { viewId: container.view.id } : {};
  const payload = {
    type: 'block_actions',
    ...envelope(world, installed, actor, container.kind === 'view' ? 'person' : 'installation'),
    ...placePayload(world, workspace, container),
    trigger_id: issueTrigger(world, { ...owner, ...viewId }),
    ...responseUrlOf(world, owner, container),
    actions: [{ ...action, action_ts: world.time.nextTs() }],
  };
  const delivery = await deliver(world, {
    kind: 'block_actions',
    name: String(action.action_id),
    team: installed.id,
    user: person.id,
    payload,
    as: 'payload',
  });
  return delivery.outcome === 'ok' ? resultOf(delivery) : { ...resultOf(delivery), shown: SILENT };
}

function responseUrlOf(world: World, owner: { teamId: string; userId: string }, container: Container): Json {
  // The documents show no answer address for a pane.
  if (container.kind === 'view' || container.pane) return {};
  const { stored, channel } = container;
  const target = { ...owner, channel: channel.id, messageTs: stored.record.ts };
  return { response_url: issueResponseUrl(world, target, 'actions') };
}

/** Puts the choice into the state and says it as an action. */
function applyUse(
  world: World,
  workspace: Workspace,
  container: Container,
  { block, element, use }: { block: Json; element: Json; use: Use },
): Json {
  const action = { type: element.type, action_id: element.action_id, block_id: block.block_id };
  if (element.type === 'button' || element.type === 'workflow_button') {
    const { text, value, style, url, confirm } = element;
    return { ...action, ...defined({ text, value, style, url, confirm }) };
  }
  const suggested = suggestedIn(workspace, container, element);
  if (use.selected === undefined) throw new TypeError(`say what is selected in ${String(element.action_id)}`);
  if (element.type === 'overflow') {
    return { ...action, selected_option: chosenOption(element, use.selected, suggested) };
  }
  const state = chosenState(element, use.selected, suggested);
  const place = { blockId: String(block.block_id), actionId: String(element.action_id), state };
  setValue(world, workspace, container, place);
  return { ...action, ...state };
}

function defined(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Runs a global shortcut, or a message shortcut on a message. */
export async function sendShortcut(
  world: World,
  actor: Someone,
  callbackId: string,
  on?: { channel: string; ts: string },
): Promise<ActResult> {
  const { workspace, person } = actor;
  const type = on ? 'message' : 'global';
  const known = world.app.shortcuts.some((one) => one.callback_id === callbackId && one.type === type);
  if (!known || !hasApp(world, actor)) return notDelivered('invalid_command');
  const owner = { teamId: workspace.id, userId: person.id };
  const delivery = await deliver(world, {
    kind: on ? 'message_action' : 'shortcut',
    name: callbackId,
    team: workspace.id,
    user: person.id,
    payload: {
      type: on ? 'message_action' : 'shortcut',
      ...envelope(world, workspace, actor),
      callback_id: callbackId,
      action_ts: world.time.nextTs(),
      trigger_id: issueTrigger(world, owner),
      ...(on ? aboutMessage(world, actor, on) : {}),
    },
    as: 'payload',
  });
  return resultOf(delivery);
}

function aboutMessage(
  world: World,
  { workspace, person }: Someone,
  on: { channel: string; ts: string },
): Json {
  const channel = channelOf(workspace, on.channel);
  const stored = findMessage(workspace, channel.id, on.ts);
  if (!stored) throw new RangeError(`there is no message ${on.ts} in ${channel.id}`);
  const target = { teamId: workspace.id, userId: person.id, channel: channel.id, messageTs: on.ts };
  return {
    channel: { id: channel.id, name: payloadChannelName(channel) },
    message_ts: on.ts,
    message: stored.record,
    response_url: issueResponseUrl(world, target, 'actions'),
  };
}
