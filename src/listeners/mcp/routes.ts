import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseObject } from '../../core/json.ts';
import type { Parts, Workspaces } from '../../workspace/workspace.ts';
import type { Routes } from '../receivers/http-server.ts';
import { type ReadBody, Refused } from '../receivers/signed-body.ts';

export interface McpParts extends Parts {
  workspaces: Workspaces;
  readSignedBody: ReadBody;
  version: string;
  config: Parts['config'] & { MCP: 'on' | 'off'; SLACK_SIGNING_SECRET?: string | undefined };
}

/**
 * `POST /mcp`: the tools for Slack's own assistant, where they are switched on. Each request is signed by Slack like every
 * other, and stands by itself: there are no sessions, and nothing is streamed.
 */
export function mcpRoutes(parts: McpParts): Routes {
  const { config, readSignedBody } = parts;
  if (config.MCP === 'off' || config.SLACK_SIGNING_SECRET === undefined) return {};

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // One message a request: a batch would be many under one signature.
    const message = parseObject(await readSignedBody(request));
    if (message === undefined) throw new Refused(400, 'malformed');
    // Loaded with the first request, because most installations do without it.
    const { answerMcp } = await import('./server.ts');
    const answer = await answerMcp(message, request.headers, parts);
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
  }

  return { 'POST /mcp': handle };
}
