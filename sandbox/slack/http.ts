import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { answerResponseUrl } from './deliver/response-url.ts';
import { handleApiCall } from './web-api/handle.ts';
import type { World } from './world.ts';

export interface HttpEnv {
  Bindings: { incoming: IncomingMessage };
}

/** The addresses that Slack serves to apps. */
export function createHttp(world: World): Hono<HttpEnv> {
  const http = new Hono<HttpEnv>();
  http.on(['GET', 'POST'], '/api/:method{[A-Za-z0-9.]+}', async (context) => {
    const answer = await handleApiCall(world, context.req.param('method'), context.req.raw);
    if (answer.status === 0) return dropConnection(context.env.incoming);
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  });
  http.on('POST', ['/commands/*', '/actions/*'], async (context) => {
    const answer = answerResponseUrl(world, context.req.path, await context.req.text());
    return new Response(answer.body, {
      status: answer.status,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
  });
  return http;
}

/** Cuts the connection as a network would; the answer made here reaches nobody. */
function dropConnection(incoming: IncomingMessage): Response {
  incoming.socket.destroy();
  return new Response(null, { status: 500 });
}
