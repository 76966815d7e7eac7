import { type Chosen, chosenState } from './deliver/choosing.ts';
import { sendCommand } from './deliver/commands.ts';
import {
  type ElementName,
  findContainer,
  findElement,
  findModal,
  type Place,
  setValue,
  suggestedIn,
} from './deliver/containers.ts';
import { openDetails } from './deliver/details.ts';
import { sendShortcut, type Use, useElement } from './deliver/interactions.ts';
import { deleteAsPerson, editAsPerson, openHome, postAsPerson } from './deliver/people-events.ts';
import type { ActResult } from './deliver/result.ts';
import type { Someone } from './deliver/shared.ts';
import { closeView, submitView } from './deliver/submissions.ts';
import { type Suggestions, suggest } from './deliver/suggestions.ts';
import { decideInstall, readInstallAsk } from './oauth.ts';
import type { Delivery } from './state/delivery.ts';
import type { Json, OpenView, SeenMessage } from './state/types.ts';
import { stackOf } from './state/views.ts';
import { channelOf, personOf, workspaceOf } from './state/workspaces.ts';
import type { World } from './world.ts';

/**
 * Field values by block_id, or by the action_id where a form came back with other blocks: the value itself, or by
 * action_id where a block has several elements.
 */
export type FieldValues = Record<string, Chosen>;

/** One person at their Slack client. A channel goes by its id or name, a view by its id or callback_id. */
export interface Actor {
  /** Types a slash command, e.g. `/deckhand test storefront`. */
  command(channel: string, line: string): Promise<ActResult>;
  /** Clicks a button, or uses another element with what is `selected`. */
  click(place: Place, use: Use): Promise<ActResult>;
  /** The modal on top, where one is open. */
  openView(): OpenView | undefined;
  /** All open modals, the lowest first. */
  openViews(): OpenView[];
  /** Puts values into a modal's fields without sending anything. */
  fill(view: string | undefined, values: FieldValues): void;
  /** Fills fields where values are given, and presses submit. */
  submit(view?: string, values?: FieldValues): Promise<ActResult>;
  /** Presses the close button. */
  close(view?: string): Promise<ActResult>;
  /** Types into a select menu whose options the app serves. */
  suggest(place: Place, name: ElementName & { query: string }): Promise<Suggestions>;
  /** Runs a global shortcut, or a message shortcut on a message. */
  shortcut(callbackId: string, on?: { channel: string; ts: string }): Promise<ActResult>;
  /** Opens the app's home tab; resolves with the event's first attempt. */
  openHome(): Promise<Delivery | undefined>;
  /** Opens the pane of a work object under a message: the first one, or that of a link. */
  openDetails(on: { channel: string; ts: string }, url?: string): Promise<Delivery | undefined>;
  /** Decides on the authorize page of an install; the answer is where the browser goes next. */
  install(authorizeUrl: string, choice?: { allow?: boolean; orgWide?: boolean }): string;
  /** Writes a message; links to the app's domains are told to it. */
  postMessage(channel: string, text: string, threadTs?: string): Promise<SeenMessage>;
  /** Edits one's own message. */
  editMessage(on: { channel: string; ts: string }, text: string): Promise<SeenMessage>;
  /** Deletes one's own message. */
  deleteMessage(on: { channel: string; ts: string }): void;
}

/** @throws RangeError where there is no such workspace or person */
export function actAs(world: World, teamId: string, userId: string): Actor {
  const workspace = workspaceOf(world, teamId);
  const person = personOf(workspace, userId);
  if (person.deleted) throw new RangeError(`${userId} is deactivated`);
  const actor = { workspace, person };
  const fill = (view: string | undefined, values: FieldValues): void =>
    fillView(world, actor, findModal(workspace, person, view), values);
  return {
    command: (channel, line) => typeCommand(world, actor, channel, line),
    click: (place, use) => useElement(world, actor, place, use),
    openView: () => stackOf(workspace, userId).at(-1),
    openViews: () => [...stackOf(workspace, userId)],
    fill,
    submit: async (view, values) => {
      if (values) fill(view, values);
      return submitView(world, actor, topModal(actor, view));
    },
    close: async (view) => closeView(world, actor, topModal(actor, view)),
    suggest: (place, name) => suggest(world, actor, place, name),
    shortcut: (callbackId, on) => sendShortcut(world, actor, callbackId, on),
    openHome: () => openHome(world, actor),
    openDetails: (on, url) => openDetails(world, actor, on, url),
    install: (url, choice) => install(world, actor, url, choice),
    postMessage: (channel, text, threadTs) =>
      postAsPerson(world, actor, channelOf(workspace, channel), text, threadTs),
    editMessage: async (on, text) =>
      editAsPerson(world, actor, channelOf(workspace, on.channel), { ts: on.ts, typed: text }),
    deleteMessage: (on) => deleteAsPerson(world, actor, channelOf(workspace, on.channel), on.ts),
  };
}

function install(
  world: World,
  { workspace, person }: Someone,
  url: string,
  { allow = true, orgWide = false }: { allow?: boolean; orgWide?: boolean } = {},
): string {
  const ask = readInstallAsk(world, Object.fromEntries(new URL(url).searchParams));
  if (typeof ask === 'string') throw new RangeError(`Slack shows no authorize page: ${ask}`);
  return decideInstall(world, ask, { teamId: workspace.id, userId: person.id, allow, orgWide });
}

function typeCommand(
  world: World,
  { workspace, person }: Someone,
  channel: string,
  line: string,
): Promise<ActResult> {
  const [, command = '', text = ''] = /^(\/\S*)\s?(.*)$/s.exec(line) ?? [];
  return sendCommand(world, {
    workspace,
    person,
    channel: channelOf(workspace, channel),
    command,
    text: text.trim(),
  });
}

/** Only the topmost modal can be worked with. */
function topModal({ workspace, person }: Someone, name: string | undefined): OpenView {
  const view = findModal(workspace, person, name);
  const top = stackOf(workspace, person.id).at(-1);
  if (view !== top) throw new RangeError(`another modal lies on top of ${view.id}`);
  return view;
}

function fillView(world: World, { workspace, person }: Someone, view: OpenView, values: FieldValues): void {
  for (const [field, given] of Object.entries(values)) {
    for (const [name, chosen] of fieldsOf(view, field, given)) {
      const container = findContainer(workspace, person, { viewId: view.id });
      const { block, element } = findElement(container, name);
      const state = chosenState(element, chosen, suggestedIn(workspace, container, element));
      const place = { blockId: String(block.block_id), actionId: String(element.action_id) };
      setValue(world, workspace, container, { ...place, state });
    }
  }
}

function fieldsOf(view: OpenView, blockId: string, given: Chosen): [ElementName, Chosen][] {
  if (!(blockId in view.values)) return [[{ actionId: blockId }, given]];
  const known = Object.keys(view.values[blockId] ?? {});
  const isByAction =
    typeof given === 'object' &&
    given !== null &&
    !Array.isArray(given) &&
    Object.keys(given).every((key) => known.includes(key));
  if (!isByAction) return [[{ blockId }, given]];
  return Object.entries(given as Json).map(([actionId, chosen]) => [{ blockId, actionId }, chosen as Chosen]);
}
