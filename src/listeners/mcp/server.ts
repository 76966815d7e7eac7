import type { IncomingHttpHeaders } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Tool } from '../../commands/mcp/tool.ts';
import type { ToolAnswer } from './run-tool.ts';

export interface McpOptions {
  tools: readonly Tool[];
  version: string;
  /** @param meta `params._meta` of the call */
  run(tool: Tool, inputs: unknown, meta: Record<string, unknown> | undefined): Promise<ToolAnswer>;
}

export interface McpAnswer {
  status: number;
  type: string;
  body: string;
}

/** Answers one message of the protocol. A server of its own for each, as the SDK wants it where there are no sessions. */
export async function answerMcp(
  message: Record<string, unknown>,
  headers: IncomingHttpHeaders,
  options: McpOptions,
): Promise<McpAnswer> {
  const server = createServer(options);
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

function createServer({ tools, version, run }: McpOptions): McpServer {
  const server = new McpServer({ name: 'deckhand', title: 'Deckhand', version });
  for (const tool of tools) {
    const { name, description, inputs: inputSchema, isChange } = tool;
    const annotations = { readOnlyHint: isChange !== true, destructiveHint: false, openWorldHint: true };
    server.registerTool(name, { description, inputSchema, annotations }, async (inputs, { _meta }) =>
      resultOf(await run(tool, inputs, _meta)),
    );
  }
  return server;
}

function resultOf(answer: ToolAnswer): CallToolResult {
  if ('refusal' in answer) return { content: [{ type: 'text', text: answer.refusal }], isError: true };
  return { content: [{ type: 'text', text: JSON.stringify(answer.data) }] };
}

/** As the SDK reads it: the two headers that it needs, of a request whose body is parsed already. */
function requestOf({
  accept,
  'content-type': type,
  'mcp-protocol-version': version,
}: IncomingHttpHeaders): Request {
  const headers = new Headers();
  if (accept !== undefined) headers.set('accept', accept);
  if (type !== undefined) headers.set('content-type', type);
  if (typeof version === 'string') headers.set('mcp-protocol-version', version);
  return new Request('http://localhost/mcp', { method: 'POST', headers });
}
