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

/** JSON-RPC's word for a request that is none. */
const INVALID_REQUEST = -32_600;

/**
 * `POST /mcp`: the tools for Slack's own assistant, where they are switched on. Each request is signed by Slack like every
 * other, and stands by itself: there are no sessions, and nothing is streamed.
 */
export function mcpRoutes(parts: McpParts): Routes {
  const { config, metrics, log, readSignedBody } = parts;
  if (config.MCP === 'off' || config.SLACK_SIGNING_SECRET === undefined) return {};

  function refuse(response: ServerResponse, { status, reason }: Refused): void {
    log.warn({ event: 'request_refused', status, reason }, 'a request to the MCP endpoint was refused');
    metrics.refused(reason);
    const error = { code: INVALID_REQUEST, message: 'Invalid request' };
    response
      .writeHead(status, { connection: 'close', 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await readSignedBody(request);
    if (raw instanceof Refused) return refuse(response, raw);
    // One message a request: a batch would be many under one signature.
    const message = parseObject(raw.toString('utf8'));
    if (message === undefined) return refuse(response, new Refused(400, 'malformed'));
    // Loaded with the first request, because most installations do without it.
    const { answerMcp } = await import('./server.ts');
    const answer = await answerMcp(message, request.headers, parts);
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
  }

  return { 'POST /mcp': handle };
}
