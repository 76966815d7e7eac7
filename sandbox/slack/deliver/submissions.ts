import { z } from 'zod';
import { LIMITS } from '../block-kit/limits.ts';
import { readView } from '../methods/views.ts';
import { issueTrigger } from '../state/triggers.ts';
import type { Json, OpenView, Workspace } from '../state/types.ts';
import {
  announceView,
  closeDownTo,
  createView,
  placeView,
  replaceContent,
  stackOf,
  type ViewOwner,
  viewRecord,
} from '../state/views.ts';
import { channelOf, workspaceOf } from '../state/workspaces.ts';
import { SlackError } from '../web-api/errors.ts';
import { inBackground, type World } from '../world.ts';
import { checkInputs } from './check-inputs.ts';
import { deliver } from './delivery.ts';
import { issueResponseUrl } from './response-url.ts';
import { type ActResult, isTheirs, notDelivered, resultOf } from './result.ts';
import { envelope, type Someone } from './shared.ts';

const TROUBLE = 'We had some trouble connecting. Try again?';

/** Presses a modal's submit button: Slack checks the fields itself, then asks the app. */
export async function submitView(world: World, actor: Someone, view: OpenView): Promise<ActResult> {
  const { workspace, person } = actor;
  const errors = checkInputs(view);
  if (Object.keys(errors).length > 0) return notDelivered('not_sent', { errors });
  const installed = installedOf(world, view);
  const owner = { teamId: installed.id, seatId: workspace.id, userId: person.id, viewId: view.id };
  const delivery = await deliver(world, {
    kind: 'view_submission',
    name: String(view.content.callback_id ?? ''),
    team: installed.id,
    user: person.id,
    payload: {
      type: 'view_submission',
      ...envelope(world, installed, actor, 'person'),
      trigger_id: issueTrigger(world, owner),
      view: viewRecord(world, workspace, view),
      response_urls: responseUrls(world, actor, view),
    },
    as: 'payload',
  });
  const result = resultOf(delivery);
  if (result.outcome !== 'ok') return { ...result, shown: TROUBLE };
  return applyAnswer(world, actor, view, result);
}

function installedOf(world: World, view: OpenView): Workspace {
  return workspaceOf(world, view.installedTeamId);
}

const Answer = z.discriminatedUnion('response_action', [
  z.object({ response_action: z.literal('errors'), errors: z.record(z.string(), z.string()) }),
  z.object({ response_action: z.literal('update'), view: z.unknown() }),
  z.object({ response_action: z.literal('push'), view: z.unknown() }),
  z.object({ response_action: z.literal('clear') }),
]);

function applyAnswer(world: World, actor: Someone, view: OpenView, result: ActResult): ActResult {
  if (isBlank(result.body)) {
    closeSubmitted(world, actor, view);
    return result;
  }
  try {
    return obey(world, actor, view, Answer.parse(JSON.parse(result.body)), result);
  } catch (error) {
    if (!isTheirs(error)) throw error;
    return { ...result, outcome: 'invalid_response', shown: TROUBLE };
  }
}

function isBlank(body: string): boolean {
  return ['', '{}', 'null'].includes(body.trim());
}

function obey(
  world: World,
  actor: Someone,
  view: OpenView,
  answer: z.infer<typeof Answer>,
  result: ActResult,
): ActResult {
  const { workspace, person } = actor;
  if (answer.response_action === 'errors') return showErrors(world, view, answer.errors, result);
  if (answer.response_action === 'clear') {
    notifyClosed(world, actor, closeDownTo(world, workspace, person.id, 0), true);
    return result;
  }
  const content = readView(installedOf(world, view), answer.view, 'modal');
  if (answer.response_action === 'update') {
    replaceContent(world, view, content);
    return result;
  }
  const stack = stackOf(workspace, person.id);
  if (stack.length >= LIMITS.viewStack) throw new SlackError('push_limit_reached');
  placeView(world, workspace, createView(ownerOf(view), content, view), stack);
  return result;
}

function ownerOf({ teamId, installedTeamId, userId }: OpenView): ViewOwner {
  return { teamId, installedTeamId, userId };
}

/** Faults can only be shown under input blocks of this very view. */
function showErrors(
  world: World,
  view: OpenView,
  errors: Record<string, string>,
  result: ActResult,
): ActResult {
  const inputs = view.content.blocks.filter((block) => block.type === 'input').map((block) => block.block_id);
  const unknown = Object.keys(errors).filter((id) => !inputs.includes(id));
  if (unknown.length > 0 || Object.keys(errors).length === 0) throw new SlackError('invalid_errors');
  view.errors = errors;
  announceView(world, view);
  return { ...result, outcome: 'errors', errors };
}

/** A submitted view goes away and shows what was under it. The person may have closed it meanwhile. */
function closeSubmitted(world: World, { workspace, person }: Someone, view: OpenView): void {
  const at = stackOf(workspace, person.id).indexOf(view);
  if (at >= 0) closeDownTo(world, workspace, person.id, at);
}

/** Presses a modal's close button. */
export function closeView(world: World, actor: Someone, view: OpenView): Promise<ActResult> {
  const { workspace, person } = actor;
  const all = view.content.clear_on_close === true;
  const at = all ? 0 : stackOf(workspace, person.id).indexOf(view);
  const closed = closeDownTo(world, workspace, person.id, Math.max(0, at));
  return notifyClosed(world, actor, closed, all);
}

/** Tells the app of closed views that asked for it, one payload each. */
async function notifyClosed(
  world: World,
  actor: Someone,
  closed: OpenView[],
  isCleared: boolean,
): Promise<ActResult> {
  const told = closed.filter((view) => view.content.notify_on_close === true);
  const sent = told.map((view) => deliverClosed(world, actor, view, isCleared));
  for (const one of sent) inBackground(world, one);
  const results = await Promise.all(sent);
  return results.at(-1) ?? notDelivered('not_sent');
}

async function deliverClosed(
  world: World,
  actor: Someone,
  view: OpenView,
  isCleared: boolean,
): Promise<ActResult> {
  const { workspace, person } = actor;
  const installed = installedOf(world, view);
  const payload: Json = {
    type: 'view_closed',
    ...envelope(world, installed, actor, 'person'),
    view: viewRecord(world, workspace, view),
    is_cleared: isCleared,
  };
  const name = String(view.content.callback_id ?? '');
  const base = { kind: 'view_closed', name, team: installed.id, user: person.id } as const;
  return resultOf(await deliver(world, { ...base, payload, as: 'payload' }));
}

/** For selects marked `response_url_enabled`: where the app may answer in the chosen conversation. */
function responseUrls(world: World, { workspace, person }: Someone, view: OpenView): Json[] {
  return view.content.blocks.flatMap((block) => {
    const element = block.element as Json | undefined;
    if (element?.response_url_enabled !== true) return [];
    const state = view.values[String(block.block_id)]?.[String(element.action_id)];
    const chosen = state?.selected_conversation ?? state?.selected_channel;
    if (typeof chosen !== 'string') return [];
    const channel = channelOf(workspace, chosen).id;
    const owner = { teamId: view.installedTeamId, userId: person.id, channel };
    return [
      {
        block_id: block.block_id,
        action_id: element.action_id,
        channel_id: channel,
        response_url: issueResponseUrl(world, owner, 'actions'),
      },
    ];
  });
}
