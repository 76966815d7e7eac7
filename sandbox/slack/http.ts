import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { answerResponseUrl } from './deliver/response-url.ts';
import { decideInstall, readInstallAsk } from './oauth.ts';
import { installFault, installPage } from './oauth-page.ts';
import { findToken, workspacesOf } from './web-api/call.ts';
import { SlackError } from './web-api/errors.ts';
import { type ApiAnswer, handleApiCall } from './web-api/handle.ts';
import type { World } from './world.ts';

export interface HttpEnv {
  Bindings: {
    /** The local Slack that is asked. */
    world: World;
    /** What is served to this machine's page and tests, beside what Slack serves. */
    ownPages: () => Hono;
    incoming: IncomingMessage;
    outgoing: ServerResponse;
  };
}

/** The addresses that Slack serves to apps and to browsers on their way through an install. */
export function createHttp(): Hono<HttpEnv> {
  const http = new Hono<HttpEnv>();
  http.on(['GET', 'POST'], '/api/:method{[A-Za-z0-9.]+}', async (context) => {
    const { env, req } = context;
    return send(env, await handleApiCall(env.world, req.param('method'), req.raw));
  });
  http.on('POST', ['/commands/*', '/actions/*'], async (context) => {
    const { env, req } = context;
    return send(env, await answerResponseUrl(env.world, req.path, await req.text()));
  });
  http.on(['POST', 'PUT'], '/upload/v1/:key', (context) => takeUpload(context, context.req.param('key')));
  http.get('/files-pri/:id/:name', (context) => giveFile(context, context.req.param('id')));
  http.get('/oauth/v2/authorize', (context) => {
    const { world } = context.env;
    const ask = readInstallAsk(world, context.req.query());
    context.header('content-security-policy', "default-src 'none'");
    return typeof ask === 'string'
      ? context.html(installFault(ask), 400)
      : context.html(installPage(world, ask));
  });
  http.post('/oauth/v2/authorize', decide);
  http.all('*', ({ env, req }) => env.ownPages().fetch(req.raw, env));
  return http;
}

/** Answers past the adapter, whose way through a stream takes longer than the call; or cuts the connection as a network would. */
function send({ outgoing }: HttpEnv['Bindings'], { status, headers, body }: ApiAnswer): Response {
  if (status === 0) outgoing.destroy();
  else outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  return RESPONSE_ALREADY_SENT;
}

/** Takes a file's bytes, raw or as the one file of a multipart form. */
async function takeUpload(context: Context<HttpEnv>, key: string): Promise<Response> {
  const file = context.env.world.uploads.get(key);
  if (!file) return context.text('no such upload', 404);
  const bytes = await readBytes(context);
  if (bytes.length === 0) return context.text('no bytes came', 400);
  file.bytes = bytes;
  file.size = bytes.length;
  return context.text(`OK - ${bytes.length}`);
}

async function readBytes(context: Context<HttpEnv>): Promise<Buffer> {
  if (!context.req.header('content-type')?.startsWith('multipart/form-data')) {
    return Buffer.from(await context.req.arrayBuffer());
  }
  const part = [...(await context.req.raw.formData()).values()].find((value) => value instanceof File);
  return part instanceof File ? Buffer.from(await part.arrayBuffer()) : Buffer.alloc(0);
}

/** A file's private address: only with a token of its workspace that may read files. */
function giveFile(context: Context<HttpEnv>, id: string): Response {
  const { world } = context.env;
  const [teamId = '', fileId = ''] = id.split('-');
  const bearer = context.req.header('authorization')?.replace(/^Bearer /i, '');
  try {
    const token = findToken(world, bearer);
    const workspace = workspacesOf(world, token).find((one) => one.id === teamId);
    const file = workspace?.files.get(fileId);
    if (!file?.bytes || !token.scopes.includes('files:read')) return context.text('not found', 404);
    return new Response(new Uint8Array(file.bytes), { headers: { 'content-type': file.mimetype } });
  } catch (error) {
    if (error instanceof SlackError) return context.text(error.code, 403);
    throw error;
  }
}

async function decide(context: Context<HttpEnv>): Promise<Response> {
  const { world } = context.env;
  const form = Object.fromEntries(new URLSearchParams(await context.req.text()));
  const ask = readInstallAsk(world, form);
  if (typeof ask === 'string') return context.html(installFault(ask), 400);
  const [teamId = '', userId = ''] = (form.who ?? '').split(' ');
  const decision = { teamId, userId, allow: form.decision === 'allow', orgWide: form.org_wide === '1' };
  if (decision.allow && teamId === '') return context.html(installFault('no workspace was chosen'), 400);
  return context.redirect(decideInstall(world, ask, decision), 302);
}
