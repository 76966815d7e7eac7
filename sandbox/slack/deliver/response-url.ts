import { z } from 'zod';
import { pause, takeFault } from '../faults.ts';
import { readContent } from '../methods/message-args.ts';
import type { Fault } from '../state/fault.ts';
import { digits, secretHex } from '../state/ids.ts';
import { botAuthor } from '../state/installs.ts';
import { changeMessage, deleteMessage, findMessage, storeMessage } from '../state/messages.ts';
import { policyOf } from '../state/policies.ts';
import type { StoredMessage, Workspace } from '../state/types.ts';
import { workspaceOf } from '../state/workspaces.ts';
import { flag } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import type { ApiAnswer } from '../web-api/handle.ts';
import type { ResponseTarget, World } from '../world.ts';
import { isTheirs } from './result.ts';

const LIFE_MS = 30 * 60_000;
const MAX_USES = 5;

type Owner = Pick<ResponseTarget, 'teamId' | 'userId' | 'channel' | 'messageTs'>;

/** Makes a response_url, good for five answers within 30 minutes. */
export function issueResponseUrl(world: World, owner: Owner, kind: 'commands' | 'actions'): string {
  const path = `/${kind}/${owner.teamId}/${digits(13)}/${secretHex(12)}`;
  world.responseTargets.set(path, { path, ...owner, issuedAt: world.time.now(), uses: 0 });
  return world.origin + path;
}

/** What an app may say to a response_url, or in the body of its answer to a command. */
const Response = z.object({
  text: z.string().optional(),
  blocks: z.unknown().optional(),
  attachments: z.unknown().optional(),
  response_type: z.enum(['ephemeral', 'in_channel']).optional(),
  replace_original: flag.optional(),
  delete_original: flag.optional(),
  thread_ts: z.string().optional(),
  metadata: z.unknown().optional(),
});

type ResponseBody = z.infer<typeof Response>;

/** Answers a POST to a response_url; a status of 0 means that the connection is cut. */
export async function answerResponseUrl(world: World, path: string, json: string): Promise<ApiAnswer> {
  const target = world.responseTargets.get(path);
  if (!target) return refuse(404, 'no_such_url');
  const fault = takeFault(world, { method: 'response_url', teamId: target.teamId, args: { ...target } });
  if (fault?.delayMs) await pause(world, fault.delayMs);
  const answer = faultyAnswer(fault) ?? carryOut(world, target, json);
  return fault?.drop ? { ...answer, status: 0 } : answer;
}

function faultyAnswer(fault: Fault | undefined): ApiAnswer | undefined {
  if (fault?.drop === 'before') return refuse(0, 'dropped');
  if (fault?.status === 429) {
    const headers = { 'retry-after': String(fault.retryAfter ?? 1) };
    return toAnswer(429, { ok: false, error: 'ratelimited' }, headers);
  }
  if (fault?.status) return refuse(fault.status, fault.error ?? 'internal_error');
  return fault?.error ? refuse(404, fault.error) : undefined;
}

function carryOut(world: World, target: ResponseTarget, json: string): ApiAnswer {
  if (world.time.now() - target.issuedAt > LIFE_MS) return refuse(404, 'expired_url');
  if (target.uses >= MAX_USES) return refuse(404, 'used_url');
  const workspace = workspaceOf(world, target.teamId);
  const channel = workspace.channels.get(target.channel);
  const word = policyOf(workspace, 'responseUrls', channel ? { channel } : {});
  if (word) return refuse(404, word);
  try {
    respond(world, target, JSON.parse(json));
  } catch (error) {
    if (error instanceof SlackError) return refuse(400, error.code, error.extra);
    if (isTheirs(error)) return refuse(400, 'invalid_payload');
    throw error;
  }
  target.uses += 1;
  return toAnswer(200, { ok: true });
}

function refuse(status: number, error: string, extra: object = {}): ApiAnswer {
  return toAnswer(status, { ok: false, error, ...extra });
}

function toAnswer(status: number, body: object, headers: Record<string, string> = {}): ApiAnswer {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(body) };
}

/**
 * Does what an app's answer asks for.
 *
 * @throws SlackError where Slack would refuse its content, ZodError where its shape is wrong
 */
export function respond(world: World, target: ResponseTarget, body: unknown): void {
  const response = Response.parse(body);
  const workspace = workspaceOf(world, target.teamId);
  const original = originalOf(workspace, target);
  if (response.delete_original) removeOriginal(world, workspace, original);
  else if (response.replace_original && (target.messageTs || original))
    replace(world, workspace, original, response);
  else post(world, workspace, target, response);
}

/** The message that was clicked; for a command, which has none, what it was answered with last. */
function originalOf(workspace: Workspace, { channel, messageTs, answerTs }: ResponseTarget) {
  const ts = messageTs ?? answerTs;
  return ts === undefined ? undefined : findMessage(workspace, channel, ts);
}

function removeOriginal(world: World, workspace: Workspace, original: StoredMessage | undefined): void {
  if (!original) throw new SlackError('message_not_found');
  deleteMessage(world, workspace, original);
}

function replace(
  world: World,
  workspace: Workspace,
  original: StoredMessage | undefined,
  response: ResponseBody,
): void {
  if (!original) throw new SlackError('message_not_found');
  changeMessage(world, workspace, original, readContent(workspace, response), false);
}

function post(world: World, workspace: Workspace, target: ResponseTarget, response: ResponseBody): void {
  const { installation } = workspace;
  if (!installation) throw new SlackError('account_inactive');
  const channel = workspace.channels.get(target.channel);
  if (!channel) throw new SlackError('channel_not_found');
  if (channel.archived) throw new SlackError('is_archived');
  const content = readContent(workspace, response);
  // Only who used the app sees the answer, unless it says `in_channel`; it is in a thread only where it says so.
  const ephemeral = response.response_type !== 'in_channel';
  const stored = storeMessage(
    world,
    workspace,
    channel,
    botAuthor(world, installation),
    { ...content, thread_ts: response.thread_ts },
    ephemeral ? target.userId : undefined,
  );
  target.answerTs = stored.record.ts;
}
