import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { z } from 'zod';
import type { CommandContext } from '../../commands/command.ts';
import { TOOLS, type Tool, type ToolResult } from '../../commands/mcp/tools.ts';
import { AccountNeeded } from '../../core/errors.ts';
import type { Audited, Caller } from '../../core/message.ts';
import { code, sanitize } from '../../core/mrkdwn.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { NotServed } from '../../workspace/installations.ts';
import { ProjectNeeded, ServerNeeded } from '../../workspace/projects.ts';
import type { Parts, Workspace, Workspaces } from '../../workspace/workspace.ts';
import { SEEN_MS } from '../inbox.ts';
import { Id, MaybeId } from '../payloads/schemas.ts';
import { carryOut, createContext } from '../pipeline/pipeline.ts';

/** Answers one message of the protocol. A server of its own for each, as the SDK wants it where there are no sessions. */
export async function answerMcp(
  message: Record<string, unknown>,
  headers: IncomingHttpHeaders,
  parts: ToolParts,
): Promise<{ status: number; type: string; body: string }> {
  // Slack gives its requests no ids, and signs each anew.
  const requestId = `mcp ${hash('sha256', String(headers['x-slack-signature']), 'base64url')}`;
  const server = createServer({ ...parts, requestId });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    const answer = await transport.handleRequest(requestOf(headers), { parsedBody: message });
    const type = answer.headers.get('content-type') ?? 'application/json';
    return { status: answer.status, type, body: await answer.text() };
  } finally {
    await server.close();
  }
}

function createServer(parts: Call): McpServer {
  const server = new McpServer({ name: 'deckhand', title: 'Deckhand', version: parts.version });
  for (const tool of TOOLS) {
    const { name, description, inputs: inputSchema, isChange } = tool;
    const annotations = { readOnlyHint: isChange !== true, destructiveHint: false, openWorldHint: true };
    server.registerTool(name, { description, inputSchema, annotations }, async (inputs, { _meta }) => {
      const answer = await runTool(parts, tool, inputs, _meta);
      if ('refusal' in answer) return { content: [{ type: 'text', text: answer.refusal }], isError: true };
      return { content: [{ type: 'text', text: JSON.stringify(answer.data, cleaned) }] };
    });
  }
  return server;
}

/** An assistant reads a foreign text as a person sees it: without what is invisible, and no longer. */
function cleaned(_field: string, value: unknown): unknown {
  return typeof value === 'string' && value !== '' ? sanitize(value, MAX_TEXT) : value;
}

const MAX_TEXT = 300;

/**
 * As the SDK reads it: the headers that it needs, of a request whose body is parsed already. Every answer is JSON, so a
 * caller need not say that it takes a stream as well.
 */
function requestOf({ 'content-type': type, 'mcp-protocol-version': version }: IncomingHttpHeaders): Request {
  const headers = new Headers({ accept: 'application/json, text/event-stream' });
  if (type !== undefined) headers.set('content-type', type);
  if (typeof version === 'string') headers.set('mcp-protocol-version', version);
  return new Request('http://localhost/mcp', { method: 'POST', headers });
}

/** An id, or an object that has it, as Slack's interactions give them. */
const Entity = z.union([MaybeId, z.object({ id: Id }).transform(({ id }) => id)]);

/** Who asks, as Slack's MCP client says in `params._meta.slack` of each call: `user_id`, or `user`, and so on. */
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
  .transform((said) => ({
    user: said.user_id ?? said.user,
    team: said.team_id ?? said.team,
    enterprise: said.enterprise_id ?? said.enterprise,
    channel: said.channel_id ?? said.channel,
  }));
type Identity = z.infer<typeof Identity>;

/** A tool's data, or a sentence that says why there is none. */
type ToolAnswer = Audited & ({ data: Record<string, unknown> } | { refusal: string });

interface ToolParts extends Pick<Parts, 'installations'> {
  workspaces: Workspaces;
  version: string;
}

interface Call extends ToolParts {
  requestId: string;
}

/**
 * Carries out a tool for the person whom Slack names, as a command of that person.
 * @param meta `params._meta` of the call
 */
async function runTool(
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
  const caller: Caller = { user, team, channel, requestId: parts.requestId };
  if (tool.isChange === true && !(await workspace.once(['tool', caller.requestId], SEEN_MS)))
    return { refusal: 'This request was carried out already.' };
  const context = createContext(workspace, caller);
  return carryOut<ToolAnswer>({
    kind: 'tool',
    workspace,
    caller,
    command: tool.command,
    what: tool.name,
    role: tool.role,
    isChange: tool.isChange === true,
    run: (): Promise<ToolResult> => tool.run(inputs, context),
    explain: async (error) => ({ refusal: sentenceOf(error, context, tool) }),
  });
}

/** By the team's own installation, else by that of its organisation. */
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

const MAX_NAMED = 20;

function sentenceOf(error: unknown, { workspace, explain }: CommandContext, tool: Tool): string {
  if (error instanceof ProjectNeeded) {
    const names = error.projects.slice(0, MAX_NAMED).map(({ permalink }) => code(permalink));
    return `Which project is meant? The account has ${names.join(', ') || 'none'}.`;
  }
  if (error instanceof ServerNeeded) return error.message;
  if (error instanceof AccountNeeded)
    return `No account is connected yet. An admin connects one with ${code(`${workspace.word} connect`)}.`;
  return failureWords(explain(error, { command: tool.command }));
}
