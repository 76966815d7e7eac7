import { z } from 'zod';
import { LIMITS } from '../block-kit/limits.ts';
import { tellSent } from '../block-kit/sent.ts';
import { checkView, isViewTooLarge } from '../block-kit/view.ts';
import { findSeated, type Seated } from '../state/sharing.ts';
import { checkTrigger } from '../state/triggers.ts';
import type { Json, OpenView, Workspace } from '../state/types.ts';
import {
  announceView,
  createView,
  findView,
  placeView,
  replaceContent,
  stackOf,
  type ViewContent,
  type ViewOwner,
  viewRecord,
} from '../state/views.ts';
import { workspaceOf } from '../state/workspaces.ts';
import { structured, text } from '../web-api/args.ts';
import { refusal, SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method } from '../web-api/method.ts';
import type { Trigger } from '../world.ts';
import { checkInWorkspace } from './workspace-blocks.ts';

const trigger = { trigger_id: text.optional(), interactivity_pointer: text.optional() };

const UpdateArgs = z.object({
  view: structured,
  view_id: text.optional(),
  external_id: text.optional(),
  hash: text.optional(),
});

const PublishArgs = z.object({ user_id: text, view: structured, hash: text.optional() });

export const viewMethods: Method[] = [
  defineMethod({
    name: 'views.open',
    tier: 4,
    json: true,
    args: z.object({ view: structured, ...trigger }),
    run: open,
  }),
  defineMethod({
    name: 'views.push',
    tier: 4,
    json: true,
    args: z.object({ view: structured, ...trigger }),
    run: push,
  }),
  defineMethod({ name: 'views.update', tier: 4, json: true, args: UpdateArgs, run: update }),
  defineMethod({ name: 'views.publish', tier: 4, json: true, args: PublishArgs, run: publish }),
];

interface TriggerArgs {
  view?: unknown;
  trigger_id?: string | undefined;
  interactivity_pointer?: string | undefined;
}

function open(call: Call, args: TriggerArgs): Json {
  const known = readTrigger(call, args);
  const seat = seatOf(call, known);
  const content = readView(call.workspace(known.teamId), args.view, 'modal');
  refuseTakenId(seat, content);
  const view = createView(ownerOf(known), content);
  known.used = true;
  placeView(call.world, seat, view, []);
  return { view: viewRecord(call.world, seat, view) };
}

function push(call: Call, args: TriggerArgs): Json {
  const known = readTrigger(call, args);
  const seat = seatOf(call, known);
  const content = readView(call.workspace(known.teamId), args.view, 'modal');
  const stack = stackOf(seat, known.userId);
  const top = stack.at(-1);
  if (!top || !stack.some((view) => view.id === known.viewId)) throw new SlackError('not_found');
  if (stack.length >= LIMITS.viewStack) throw new SlackError('push_limit_reached');
  refuseTakenId(seat, content);
  const view = createView(ownerOf(known), content, top);
  known.used = true;
  placeView(call.world, seat, view, stack);
  return { view: viewRecord(call.world, seat, view) };
}

/** Where the person is who gets the view: in a shared channel not always where the app is installed. */
function seatOf(call: Call, trigger: Trigger): Workspace {
  return workspaceOf(call.world, trigger.seatId);
}

function ownerOf({ seatId, teamId, userId }: Trigger): ViewOwner {
  return { teamId: seatId, installedTeamId: teamId, userId };
}

/** Refused triggers stay as they are: a call that fails for its view may be made again in time. */
function readTrigger(call: Call, args: TriggerArgs): Trigger {
  const id = args.trigger_id ?? args.interactivity_pointer;
  if (!id) throw refusal('invalid_arguments', ['missing required field: trigger_id']);
  const known = checkTrigger(call.world, id);
  if (typeof known === 'string') throw new SlackError(known);
  if (!call.workspaces.some((workspace) => workspace.id === known.teamId)) {
    throw new SlackError('invalid_trigger_id');
  }
  return known;
}

function update(call: Call, args: z.infer<typeof UpdateArgs>): Json {
  if (!args.view_id && !args.external_id) {
    throw refusal('invalid_arguments', ['missing required field: view_id']);
  }
  const { seat, installed, view } = findOpen(call, (one) =>
    args.view_id ? one.id === args.view_id : one.externalId === args.external_id,
  );
  const content = readView(installed, args.view, view.content.type);
  if (args.hash && args.hash !== view.hash) throw new SlackError('hash_conflict');
  refuseTakenId(seat, content, view);
  replaceContent(call.world, view, content);
  return { view: viewRecord(call.world, seat, view) };
}

interface Opened {
  seat: Workspace;
  installed: Workspace;
  view: OpenView;
}

/** A view that one of the token's installations opened, wherever the person is. */
function findOpen(call: Call, matches: (view: OpenView) => boolean): Opened {
  for (const seat of call.world.workspaces.values()) {
    for (const installed of call.workspaces) {
      const view = findView(seat, (one) => one.installedTeamId === installed.id && matches(one));
      if (view) return { seat, installed, view };
    }
  }
  throw new SlackError('not_found');
}

function publish(call: Call, args: z.infer<typeof PublishArgs>): Json {
  if (!call.world.app.homeTab) throw new SlackError('not_enabled');
  const { installed, seat, person } = findReader(call, args.user_id);
  const content = readView(installed, args.view, 'home');
  const known = seat.homes.get(person.id);
  if (args.hash && args.hash !== known?.hash) throw new SlackError('hash_conflict');
  refuseTakenId(seat, content, known);
  const owner = { teamId: seat.id, installedTeamId: installed.id, userId: person.id };
  const view = known ?? createView(owner, content);
  if (known) replaceContent(call.world, known, content);
  seat.homes.set(person.id, view);
  announceView(call.world, view);
  return { view: viewRecord(call.world, seat, view) };
}

function findReader(call: Call, userId: string): Seated & { installed: Workspace } {
  for (const installed of call.workspaces) {
    const seated = findSeated(call.world, installed, userId);
    if (seated) return { ...seated, installed };
  }
  throw refusal('invalid_arguments', ['invalid `user_id`']);
}

/** @throws SlackError `view_too_large`, or `invalid_arguments` with every fault of the view */
export function readView(workspace: Workspace, view: unknown, type: 'modal' | 'home'): ViewContent {
  if (typeof view !== 'object' || view === null) {
    throw refusal('invalid_arguments', ['must provide an object [json-pointer:/view]']);
  }
  const { blocks } = view as Json;
  const broken = checkView(view, type);
  tellSent({ kind: type, content: view, faults: broken });
  const faults = [...checkInWorkspace(workspace, blocks, '/view/blocks'), ...broken];
  if (faults.length > 0) throw refusal('invalid_arguments', faults);
  if (isViewTooLarge(view)) throw new SlackError('view_too_large');
  return view as ViewContent;
}

function refuseTakenId(workspace: Workspace, content: ViewContent, own?: OpenView): void {
  const id = content.external_id;
  if (typeof id !== 'string' || id === '') return;
  if (findView(workspace, (view) => view !== own && view.externalId === id)) {
    throw new SlackError('duplicate_external_id');
  }
}
