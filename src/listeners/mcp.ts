import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CommandContext } from '../commands/context.ts';
import { TOOLS, type Tool, type ToolResult } from '../commands/mcp/tools.ts';
import { AccountNeeded } from '../core/errors.ts';
import { parseObject } from '../core/json.ts';
import type { Audited, Invocation, KnownBlock, Message } from '../core/message.ts';
import { code, sanitize } from '../core/mrkdwn.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { splitAnswer } from '../views/blocks/lists.ts';
import { NotServed } from '../workspace/installations.ts';
import { ProjectNeeded, ServerNeeded } from '../workspace/project-list.ts';
import type { Parts, Workspace, Workspaces } from '../workspace/workspace.ts';
import { SEEN_MS } from './inbox.ts';
import { Id, MaybeId } from './payloads/schemas.ts';
import { createContext, handleRequest } from './pipeline/pipeline.ts';
import { type ReadBody, Refused, type Routes } from './receivers/http-server.ts';

interface ToolParts extends Pick<Parts, 'installations'> {
  workspaces: Workspaces;
  version: string;
}

interface McpParts extends ToolParts {
  readSignedBody: ReadBody;
  config: { MCP: 'on' | 'off'; SLACK_SIGNING_SECRET?: string | undefined };
}

/**
 * `POST /mcp`: the tools for Slack's own assistant, if they are switched on. Slack signs each request like every other.
 * There are no sessions, and nothing is streamed.
 */
export function mcpRoutes(parts: McpParts): Routes {
  const { config, readSignedBody } = parts;
  if (config.MCP === 'off' || config.SLACK_SIGNING_SECRET === undefined) return {};
  return {
    async 'POST /mcp'(request, response) {
      // One message a request: a batch would be many under one signature.
      const message = parseObject(await readSignedBody(request));
      if (message === undefined) throw new Refused(400, 'malformed');
      const answer = await answerMcp(message, request.headers, parts);
      response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
    },
  };
}

/** Answers one message with a server of its own. A client need not accept a stream: each answer is JSON. */
async function answerMcp(
  message: Record<string, unknown>,
  headers: IncomingHttpHeaders,
  parts: ToolParts,
): Promise<{ status: number; type: string; body: string }> {
  // Loaded with the first request, because most installations do without it.
  const mcp = await import('@modelcontextprotocol/server');
  // Slack gives its requests no ids, but each has a signature of its own.
  const requestId = `mcp ${hash('sha256', String(headers['x-slack-signature']), 'base64url')}`;
  const server = new mcp.McpServer({ name: 'deckhand', title: 'Deckhand', version: parts.version });
  registerTools(server, { ...parts, requestId });
  const request = createRequest(headers);
  const body = { parsedBody: message };
  try {
    // The handler would answer older revisions with a stream.
    const transport = new mcp.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const isOlder = await mcp.isLegacyRequest(request, message);
    if (isOlder) await server.connect(transport);
    const answer = isOlder
      ? await transport.handleRequest(request, body)
      : await mcp.createMcpHandler(() => server).fetch(request, body);
    const type = answer.headers.get('content-type') ?? 'application/json';
    return { status: answer.status, type, body: await answer.text() };
  } finally {
    await server.close();
  }
}

function registerTools(server: McpServer, parts: Call): void {
  for (const tool of TOOLS) {
    const { name, description, inputs: inputSchema, isChange } = tool;
    const annotations = { readOnlyHint: isChange !== true, destructiveHint: false, openWorldHint: true };
    server.registerTool(name, { description, inputSchema, annotations }, async (inputs, { mcpReq }) => {
      const answer = await handleTool(parts, tool, inputs, mcpReq._meta);
      if ('refusal' in answer) return { content: [{ type: 'text', text: answer.refusal }], isError: true };
      const { data, next, message } = answer;
      const text = JSON.stringify({ ...data, next }, cleanText);
      return { content: [{ type: 'text', text }], _meta: { slack: { blocks: takeBlocks(message) } } };
    });
  }
}

/** Blocks for a person, cut to one message; a fallback replaces blocks that Slack may not accept here. */
function takeBlocks({ fallback, ...message }: Message): KnownBlock[] {
  const [first = message] = splitAnswer(fallback?.() ?? message);
  return first.blocks;
}

/** Shows the assistant foreign text as a person sees it: without invisible characters, and cut to the same length. */
function cleanText(_field: string, value: unknown): unknown {
  return typeof value === 'string' && value !== '' ? sanitize(value, MAX_TEXT) : value;
}

const MAX_TEXT = 300;

/** The request for the SDK, with the headers of the protocol; the body is parsed already. */
function createRequest(headers: IncomingHttpHeaders): Request {
  const own = Object.entries(headers).filter(([name]) => name.startsWith('mcp-') || name === 'content-type');
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { ...Object.fromEntries(own.map(([name, value]) => [name, String(value)])), accept: ACCEPTED },
  });
}

const ACCEPTED = 'application/json, text/event-stream';

/** An id, or an object with an id, as in Slack's interactions. */
const Entity = z.union([MaybeId, z.object({ id: Id }).transform(({ id }) => id)]);

/** The person, from `params._meta.slack` of each call: `user_id`, or `user`, and so on. */
const Identity = z
  .object({
    user_id: MaybeId,
    user: Entity,
    team_id: MaybeId,
    team: Entity,
    enterprise_id: MaybeId,
    enterprise: Entity,
    channel_id: MaybeId,
    channel: Entity,
  })
  .transform((identity) => ({
    user: identity.user_id ?? identity.user,
    team: identity.team_id ?? identity.team,
    enterprise: identity.enterprise_id ?? identity.enterprise,
    channel: identity.channel_id ?? identity.channel,
  }));
type Identity = z.infer<typeof Identity>;

/** Result of a tool, or the sentence that refuses it. */
type ToolAnswer = ToolResult | (Audited & { refusal: string });

interface Call extends ToolParts {
  requestId: string;
}

/**
 * Runs a tool for the person whom Slack names, like a command of that person.
 * @param meta `params._meta` of the call
 */
async function handleTool(
  parts: Call,
  tool: Tool,
  inputs: unknown,
  meta: Readonly<Record<string, unknown>> | undefined,
): Promise<ToolAnswer> {
  const { data: identity } = Identity.safeParse(meta?.slack);
  if (identity?.user === undefined) return { refusal: 'Slack did not say who asks, so nothing was done.' };
  const workspace = await enterNamed(parts, identity);
  if (workspace instanceof NotServed) return { refusal: workspace.message };
  const { user, team, channel } = identity;
  const invocation: Invocation = { user, team, channel, requestId: parts.requestId };
  if (tool.isChange === true && !(await workspace.once(['tool', invocation.requestId], SEEN_MS)))
    return { refusal: 'This request was carried out already.' };
  const context = createContext(workspace, invocation);
  return handleRequest<ToolAnswer>({
    kind: 'tool',
    workspace,
    invocation,
    command: tool.command,
    what: tool.name,
    role: tool.role,
    isChange: tool.isChange === true,
    handle: (): Promise<ToolResult> => tool.handle(inputs, context),
    explain: async (error) => ({ refusal: describeError(error, context, tool) }),
  });
}

/** Finds the team's own installation, or that of its organisation. */
async function enterNamed(
  { installations, workspaces }: ToolParts,
  { team, enterprise }: Identity,
): Promise<Workspace | NotServed> {
  let refusal = new NotServed('Deckhand is not installed in that workspace.', true);
  for (const id of [team, enterprise].filter((one) => one !== undefined)) {
    if (installations.byOauth !== undefined && (await installations.about(id)) === undefined) continue;
    try {
      return await workspaces.admit(id);
    } catch (error) {
      if (!(error instanceof NotServed)) throw error;
      refusal = error;
    }
  }
  return refusal;
}

const MAX_NAMES = 20;

function describeError(error: unknown, { workspace, explain }: CommandContext, tool: Tool): string {
  if (error instanceof ProjectNeeded) {
    const names = error.projects.slice(0, MAX_NAMES).map(({ permalink }) => code(permalink));
    return `Which project is meant? The account has ${names.join(', ') || 'none'}.`;
  }
  if (error instanceof ServerNeeded) return error.message;
  if (error instanceof AccountNeeded)
    return `No account is connected yet. An admin connects one with ${code(`${workspace.word} connect`)}.`;
  return failureWords(explain(error, { command: tool.command }));
}
