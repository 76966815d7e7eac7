import type { Json } from '../state/types.ts';
import { SlackError } from './errors.ts';

export interface ApiRequest {
  args: Json;
  token: string | undefined;
  warning?: string;
  /** `id:secret` of HTTP Basic, as oauth.v2.access takes it. */
  basic?: { id: string; secret: string };
}

/**
 * Reads a Web API call. Arguments come in the query, a form or a JSON body; a token in the Authorization header or
 * in a form, for Slack takes none from the query any more.
 */
export async function readRequest(request: Request, jsonAllowed: boolean): Promise<ApiRequest> {
  const query = Object.fromEntries(new URL(request.url).searchParams);
  delete query.token;
  const type = request.headers.get('content-type') ?? '';
  const [scheme = '', credential = ''] = (request.headers.get('authorization') ?? '').split(' ');
  const basic = scheme.toLowerCase() === 'basic' ? readBasic(credential) : undefined;
  const bearer = scheme.toLowerCase() === 'bearer' ? credential : undefined;
  const body = await readBody(request, type, jsonAllowed);
  const formToken = type.includes('json') || typeof body.token !== 'string' ? undefined : body.token;
  return {
    args: { ...query, ...body },
    token: bearer ?? formToken,
    ...(basic ? { basic } : {}),
    ...(type.includes('json') && !type.includes('charset') ? { warning: 'missing_charset' } : {}),
  };
}

async function readBody(request: Request, type: string, jsonAllowed: boolean): Promise<Json> {
  if (request.method === 'GET') return {};
  if (type.startsWith('application/json')) {
    const body = parseJson(await request.text());
    return jsonAllowed ? body : {};
  }
  if (type.startsWith('multipart/form-data')) return Object.fromEntries(await request.formData());
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(await request.text()));
  }
  const text = await request.text();
  if (text.length > 0) throw new SlackError('invalid_post_type');
  return {};
}

function parseJson(text: string): Json {
  if (text === '') return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new SlackError('invalid_json');
    throw cause;
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new SlackError('json_not_object');
  return body as Json;
}

function readBasic(credential: string): { id: string; secret: string } {
  const [id = '', ...rest] = Buffer.from(credential, 'base64').toString().split(':');
  return { id: decodeURIComponent(id), secret: decodeURIComponent(rest.join(':')) };
}
