import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ViewState } from '../../commands/submission.ts';
import { cleanTypedText } from '../../commands/typed-words.ts';
import { defined, parseJson } from '../../core/json.ts';
import type { Invocation, Message } from '../../core/message.ts';
import { GLOBAL } from '../../store/store.ts';
import { readInitial, readState } from '../../views/blocks/modal.ts';
import { pickStoredInvocation, type SlackHandles, type StoredEvent, type StoredRequest } from '../inbox.ts';
import {
  type ActionBody,
  type EventBody,
  Id,
  type Interaction,
  type ShortcutBody,
  type SlashBody,
  type SubmissionBody,
  type View,
} from './schemas.ts';

/** Place where a modal was opened, from its metadata: its outcome is shown there. */
const Origin = z.looseObject({
  channel: z.string().optional(),
  thread: z.string().optional(),
  /** Thread of a mention, which is answered in public. */
  answer: z.string().optional(),
});

/** The person and the installation that they used. */
export interface Incoming {
  workspace: string;
  invocation: Invocation;
}

/** A request: the part that is stored, and handles that only this process has. */
export interface IncomingRequest extends Incoming {
  request: Exclude<StoredRequest, { kind: 'form' }>;
  handles: SlackHandles;
}

export function readCommand(body: SlashBody): IncomingRequest {
  const invocation = {
    user: body.user_id,
    team: body.team_id,
    channel: body.channel_id,
    threadTs: body.thread_ts,
    triggerId: body.trigger_id,
    responseUrl: body.response_url,
    requestId: readRequestId(body),
  };
  return {
    workspace: findWorkspaceId(body.enterprise_id, body.team_id, body.is_enterprise_install),
    invocation,
    request: {
      kind: 'command',
      invocation: pickStoredInvocation(invocation),
      text: cleanTypedText(body.text),
    },
    handles: pickHandles(invocation),
  };
}

export function readAction(body: ActionBody): IncomingRequest {
  const { workspace, invocation } = readInteraction(body, body);
  const [element] = body.actions;
  const state = body.view && body.view.type !== 'home' ? readViewState(body.view) : undefined;
  return {
    workspace,
    invocation,
    request: { kind: 'action', invocation: pickStoredInvocation(invocation), ...element },
    handles: { ...pickHandles(invocation), message: readMessage(body), state },
  };
}

/** A message shortcut is answered in the channel, outside the message's thread; a global one has no channel. */
export function readShortcut(body: ShortcutBody): IncomingRequest {
  const { workspace, invocation: person } = readInteraction(body);
  const invocation = { ...person, channel: body.channel?.id, responseUrl: body.response_url };
  const request: IncomingRequest['request'] = {
    kind: 'shortcut',
    invocation: pickStoredInvocation(invocation),
    callbackId: body.callback_id,
    messageText: collectText(body),
  };
  return { workspace, invocation, request, handles: pickHandles(invocation) };
}

export function readSubmission(body: SubmissionBody): Incoming & { state: ViewState } {
  return { ...readInteraction(body), state: readViewState(body.view) };
}

/** @param action the same body, if it is a click or choice */
export function readInteraction(
  body: Interaction & { view?: View | undefined },
  action?: ActionBody,
): Incoming {
  // Metadata of another shape is not ours.
  const origin = Origin.safeParse(parseJson(body.view?.private_metadata || '{}')).data ?? {};
  const workspace = findInstallation(body);
  const invocation = {
    user: body.user.id,
    team: body.user.team_id ?? body.team?.id,
    channel: action?.channel?.id ?? action?.container?.channel_id ?? origin.channel,
    messageTs: action?.message?.ts ?? action?.container?.message_ts,
    threadTs: findClickedThread(action) ?? origin.thread,
    answerTs: origin.answer,
    triggerId: body.trigger_id,
    responseUrl: action?.response_url,
    requestId: readRequestId(body),
  };
  return { workspace, invocation };
}

/** Thread of the clicked message. The first message of a thread names it too, but is in the channel; an ephemeral one comes without `message`. */
function findClickedThread({ message, container }: Partial<ActionBody> = {}): string | undefined {
  const thread = message?.thread_ts ?? container?.thread_ts;
  return thread === (message?.ts ?? container?.message_ts) ? undefined : thread;
}

/**
 * Installation that an interaction belongs to. For a modal, it is the one that opened the modal. The person's own team,
 * which the modal names, may be another workspace of a shared channel.
 */
function findInstallation(body: Interaction & { view?: View | undefined }): string {
  const installed = body.view?.app_installed_team_id;
  if (installed?.startsWith('E')) return installed;
  const team = installed ?? body.view?.team_id ?? body.team?.id ?? body.user.team_id;
  return findWorkspaceId(body.enterprise?.id, team, body.is_enterprise_install);
}

function pickHandles({ triggerId, responseUrl }: Invocation): SlackHandles {
  return { triggerId, responseUrl };
}

/** Without Slack's id a repeat cannot be recognised, so each request counts as new. */
function readRequestId(body: { trigger_id?: string | undefined }): string {
  return body.trigger_id || randomUUID();
}

const MAX_TEXT = 8_000;

/** All text of a message, with that of its blocks and attachments, which apps use. */
function collectText({ message }: ShortcutBody): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  if (message) collect([message.text, message.blocks, message.attachments]);
  return texts.join('\n').slice(0, MAX_TEXT);
}

export function readViewState(view: View): ViewState {
  const { id, hash, callback_id, private_metadata, title, blocks, submit, close } = view;
  const labels = defined({ submit, close });
  return {
    // A field that is missing from the state is as it was shown.
    values: { ...readInitial({ blocks }), ...readState(view.state) },
    metadata: private_metadata,
    view: { type: 'modal', id, hash, callback_id, private_metadata, title, blocks, ...labels },
  };
}

/** The clicked message; undefined without its blocks, because it cannot be drawn again. */
function readMessage({ message }: ActionBody): Message | undefined {
  return message?.blocks.length ? { text: message.text, blocks: message.blocks } : undefined;
}

/** Id of the installation: of the organisation, which serves all its workspaces, or of the team. @throws ZodError if both are missing */
function findWorkspaceId(
  enterprise: string | undefined,
  team: string | undefined,
  isEnterpriseInstall: boolean,
): string {
  return Id.parse(isEnterpriseInstall ? (enterprise ?? team) : (team ?? enterprise));
}

/**
 * Events about the installation itself. They are stored apart from the workspace's records, because they may erase those
 * together with the trace that the event has come.
 */
export const LIFECYCLE_EVENTS: readonly string[] = ['app_uninstalled', 'tokens_revoked'];

/** An event as it is stored, with the workspace that stores it. */
export interface EventUnder {
  workspaceId: string;
  event: StoredEvent;
}

export function readEvent(body: EventBody): EventUnder {
  const source = body.authorizations?.[0] ?? body;
  const about = findWorkspaceId(source.enterprise_id, source.team_id, source.is_enterprise_install);
  const workspaceId = LIFECYCLE_EVENTS.includes(body.event.type) ? GLOBAL : about;
  return { workspaceId, event: { about, body: withoutSecrets(body) } };
}

/** Job data is not sealed, so it holds neither Slack's legacy token nor that of a workflow step. */
function withoutSecrets({ token: _, event, ...body }: EventBody): EventBody {
  const { bot_access_token: __, ...rest } = event;
  return { ...body, event: rest };
}
