import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ViewState } from '../../commands/command.ts';
import { cleanCommandText } from '../../commands/command-router.ts';
import { defined, isObject, parseJson } from '../../core/json.ts';
import type { Caller, Message } from '../../core/message.ts';
import type { SpanStart } from '../../observability/tracing.ts';
import { GLOBAL } from '../../store/store.ts';
import { readState } from '../../views/blocks/modal.ts';
import { type SlackHandles, type StoredEvent, type StoredRequest, storedCaller } from '../inbox.ts';
import {
  ActionBody,
  EventBody,
  findShape,
  Id,
  type Interaction,
  ShortcutBody,
  SlashBody,
  SubmissionBody,
  type View,
} from './schemas.ts';

/** A modal's metadata says where it was opened, so that its outcome is shown there. */
const Origin = z.looseObject({
  channel: z.string().optional(),
  thread: z.string().optional(),
  /** Where a mention is answered for all to see. */
  answer: z.string().optional(),
});

/** Who asks, and the installation it belongs to. */
export interface Incoming {
  workspace: string;
  caller: Caller;
}

/** What was asked for: what can be stored of it, and what only this process knows. */
export interface IncomingRequest extends Incoming {
  request: StoredRequest;
  handles: SlackHandles;
}

export function readCommand(raw: unknown): IncomingRequest {
  const body = SlashBody.parse(raw);
  const caller = {
    user: body.user_id,
    team: body.team_id,
    channel: body.channel_id,
    threadTs: body.thread_ts,
    triggerId: body.trigger_id,
    responseUrl: body.response_url,
    requestId: requestIdOf(body),
  };
  return {
    workspace: workspaceOf(body.enterprise_id, body.team_id, body.is_enterprise_install),
    caller,
    request: { kind: 'command', caller: storedCaller(caller), text: cleanCommandText(body.text) },
    handles: handlesOf(caller),
  };
}

export function readAction(raw: unknown): IncomingRequest {
  const body = ActionBody.parse(raw);
  const { workspace, caller } = readInteraction(body, body);
  const [element] = body.actions;
  const state = body.view && body.view.type !== 'home' ? viewStateOf(body.view) : undefined;
  return {
    workspace,
    caller,
    request: { kind: 'action', caller: storedCaller(caller), ...element },
    handles: { ...handlesOf(caller), message: messageOf(body), state },
  };
}

/** A message's shortcut is answered where the message is, outside its thread; a global one has no channel. */
export function readShortcut(raw: unknown): IncomingRequest {
  const body = ShortcutBody.parse(raw);
  const { workspace, caller: person } = readInteraction(body);
  const caller = { ...person, channel: body.channel?.id, responseUrl: body.response_url };
  const request: StoredRequest = {
    kind: 'shortcut',
    caller: storedCaller(caller),
    callbackId: body.callback_id,
    said: saidIn(body),
  };
  return { workspace, caller, request, handles: handlesOf(caller) };
}

export function readSubmission(raw: unknown): Incoming & { state: ViewState } {
  const body = SubmissionBody.parse(raw);
  return { ...readInteraction(body), state: viewStateOf(body.view) };
}

/** @param action the same, where it is a click or choice */
export function readInteraction(
  body: Interaction & { view?: View | undefined },
  action?: ActionBody,
): Incoming {
  // Metadata that is not ours says nothing about the origin.
  const origin = Origin.safeParse(parseJson(body.view?.private_metadata || '{}')).data ?? {};
  const workspace = installationOf(body);
  const caller = {
    user: body.user.id,
    team: body.user.team_id ?? body.team?.id,
    channel: action?.channel?.id ?? action?.container?.channel_id ?? origin.channel,
    messageTs: action?.message?.ts ?? action?.container?.message_ts,
    threadTs: threadOf(action) ?? origin.thread,
    answerTs: origin.answer,
    triggerId: body.trigger_id,
    responseUrl: action?.response_url,
    requestId: requestIdOf(body),
  };
  return { workspace, caller };
}

/** A message that begins a thread names it too, but stands in the channel. What one person sees comes without its message. */
function threadOf({ message, container }: Partial<ActionBody> = {}): string | undefined {
  const thread = message?.thread_ts ?? container?.thread_ts;
  return thread === (message?.ts ?? container?.message_ts) ? undefined : thread;
}

/**
 * A modal comes with the team and organisation of the person, who may be of another workspace that shares a channel:
 * it belongs to the installation that opened it.
 */
function installationOf(body: Interaction & { view?: View | undefined }): string {
  const installed = body.view?.app_installed_team_id;
  if (installed?.startsWith('E')) return installed;
  const team = installed ?? body.view?.team_id ?? body.team?.id ?? body.user.team_id;
  return workspaceOf(body.enterprise?.id, team, body.is_enterprise_install);
}

function handlesOf({ triggerId, responseUrl }: Caller): SlackHandles {
  return { triggerId, responseUrl };
}

/** Without Slack's own id a repeat cannot be recognised: each request counts as new. */
function requestIdOf(body: { trigger_id?: string | undefined }): string {
  return body.trigger_id || randomUUID();
}

const MAX_SAID = 8_000;

/** All text of a message, wherever it stands in it: applications speak in blocks and attachments. */
function saidIn({ message }: ShortcutBody): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  if (message) collect([message.text, message.blocks, message.attachments]);
  return texts.join('\n').slice(0, MAX_SAID);
}

export function viewStateOf(view: View): ViewState {
  const { id, hash, callback_id, private_metadata, title, blocks, submit, close } = view;
  const labels = defined({ submit, close });
  return {
    values: readState(view.state),
    metadata: private_metadata,
    view: { type: 'modal', id, hash, callback_id, private_metadata, title, blocks, ...labels },
  };
}

/** One that comes without its blocks cannot be drawn anew. */
function messageOf({ message }: ActionBody): Message | undefined {
  return message?.blocks.length ? { text: message.text, blocks: message.blocks } : undefined;
}

/** An organisation's installation serves all its workspaces; otherwise each workspace has its own. @throws ZodError if it names none */
function workspaceOf(
  enterprise: string | undefined,
  team: string | undefined,
  isEnterpriseInstall: boolean,
): string {
  return Id.parse(isEnterpriseInstall ? (enterprise ?? team) : (team ?? enterprise));
}

/**
 * What is about the installation itself. It is stored apart from the workspace's own records, which it may erase along
 * with the memory that it has come.
 */
export const LIFECYCLE_EVENTS: readonly string[] = ['app_uninstalled', 'tokens_revoked'];

/** An event as it is stored, and under which workspace. */
export interface EventUnder {
  workspaceId: string;
  event: StoredEvent;
}

/** Undefined where it has no handler. */
export function readEvent(raw: unknown, handlers: Readonly<Record<string, unknown>>): EventUnder | undefined {
  const { data: body } = EventBody.safeParse(raw);
  if (body === undefined || !Object.hasOwn(handlers, body.event.type)) return undefined;
  const source = body.authorizations?.[0] ?? body;
  const about = workspaceOf(source.enterprise_id, source.team_id, source.is_enterprise_install);
  const workspaceId = LIFECYCLE_EVENTS.includes(body.event.type) ? GLOBAL : about;
  return { workspaceId, event: { about, body: withoutSecrets(body) } };
}

/** Jobs are stored as they are, so no token goes with them: neither Slack's old one nor that of a workflow step. */
function withoutSecrets({ token: _, event, ...body }: EventBody): EventBody {
  const { bot_access_token: __, ...rest } = event;
  return { ...body, event: rest };
}

/** The span of a payload of Slack, up to its ack; begins a trace. An event counts by its type, if it has a handler. */
export function payloadSpan(
  body: Record<string, unknown>,
  handlers: Readonly<Record<string, unknown>>,
): SpanStart {
  return { name: payloadName(body, handlers), kind: 'server', parent: null };
}

function payloadName(
  { command, type, event }: Record<string, unknown>,
  handlers: Readonly<Record<string, unknown>>,
): string {
  if (type === undefined && command !== undefined) return 'slash_command';
  if (type !== 'event_callback')
    return typeof type === 'string' && findShape(type) !== undefined ? type : 'other';
  const kind = isObject(event) && typeof event.type === 'string' ? event.type : '';
  return Object.hasOwn(handlers, kind) ? kind : 'other';
}
