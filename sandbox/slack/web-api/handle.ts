import { explain } from '../block-kit/explain.ts';
import { pause, takeFault } from '../faults.ts';
import { METHODS } from '../methods/all.ts';
import type { Fault } from '../state/fault.ts';
import type { Json } from '../state/types.ts';
import type { Token, World } from '../world.ts';
import { createCall, findToken } from './call.ts';
import { missingScope, refusal, SlackError } from './errors.ts';
import { logCall } from './log.ts';
import type { Method } from './method.ts';
import { overRate } from './rates.ts';
import { type ApiRequest, readRequest } from './request.ts';

export interface ApiAnswer {
  /** 0: close the connection without an answer. */
  status: number;
  headers: Record<string, string>;
  body: string;
}

interface Outcome {
  status: number;
  headers: Record<string, string>;
  body: Json;
}

/** Answers one Web API call, faults and rates included. */
export async function handleApiCall(world: World, name: string, request: Request): Promise<ApiAnswer> {
  const started = performance.now();
  const at = world.time.wall();
  const method = METHODS.get(name);
  const read = await readRequest(request, method?.json ?? true).catch(asRefusal);
  const given = read instanceof SlackError ? undefined : read;
  const token = given?.token === undefined ? undefined : world.tokens.get(given.token);
  const fault = takeFault(world, { method: name, teamId: token?.teamId, args: given?.args ?? {} });
  if (fault?.delayMs) await pause(world, fault.delayMs);
  const outcome =
    read instanceof SlackError
      ? refuse(read)
      : (faulty(fault) ?? (await run(world, name, method, read, token)));
  logCall(world, {
    at,
    method: name,
    team: token?.teamId ?? token?.enterpriseId,
    args: given?.args ?? {},
    status: fault?.drop ? 0 : outcome.status,
    ok: outcome.body.ok === true,
    ...(typeof outcome.body.error === 'string' ? { error: outcome.body.error } : {}),
    ms: Math.round(performance.now() - started),
  });
  return toAnswer(outcome, fault, given?.warning);
}

function toAnswer({ status, headers, body }: Outcome, fault: Fault | undefined, warning?: string): ApiAnswer {
  if (fault?.drop) return { status: 0, headers: {}, body: '' };
  if (fault?.malformed) return { status, headers, body: '<html><body>Bad gateway</body>' };
  const warned = warning
    ? { ...body, warning, response_metadata: { ...(body.response_metadata ?? {}), warnings: [warning] } }
    : body;
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify({ ...warned, ...fault?.fields }),
  };
}

/** The outcome of faults that keep the work from being done. */
function faulty(fault: Fault | undefined): Outcome | undefined {
  if (fault?.drop === 'before') return { status: 0, headers: {}, body: { ok: false, error: 'dropped' } };
  if (fault?.status === 429) return tooMany(fault.retryAfter ?? 1);
  if (fault?.status)
    return { status: fault.status, headers: {}, body: { ok: false, error: 'internal_error' } };
  if (fault?.error) return { status: 200, headers: {}, body: { ok: false, error: fault.error } };
  return undefined;
}

function tooMany(seconds: number): Outcome {
  return {
    status: 429,
    headers: { 'retry-after': String(seconds) },
    body: { ok: false, error: 'ratelimited' },
  };
}

async function run(
  world: World,
  name: string,
  method: Method | undefined,
  request: ApiRequest,
  known: Token | undefined,
): Promise<Outcome> {
  try {
    if (!method) throw new SlackError('unknown_method', { req_method: name });
    const token = method.auth === 'none' ? NOBODY : findToken(world, request.token);
    const wait = world.realRates
      ? overRate(world, method.tier, rateKey(name, method, known, request.args))
      : undefined;
    if (wait !== undefined) return tooMany(wait);
    checkToken(method, token);
    const body = await method.run(createCall(world, token), parseArgs(method, withBasic(request)));
    return { status: 200, headers: scopeHeaders(method, token), body: { ok: true, ...body } };
  } catch (error) {
    return refuse(asRefusal(error));
  }
}

const NOBODY: Token = { token: '', kind: 'bot', scopes: [], state: 'active' };

function rateKey(name: string, method: Method, token: Token | undefined, args: Json): string {
  const owner = token?.teamId ?? token?.enterpriseId ?? '';
  return method.tier === 'posting' ? `${name} ${owner} ${String(args.channel)}` : `${name} ${owner}`;
}

function checkToken(method: Method, token: Token): void {
  if (method.auth === 'none') return;
  const isAppToken = token.kind === 'app';
  if (isAppToken !== (method.auth === 'app')) throw new SlackError('not_allowed_token_type');
  const { scopes } = method;
  if (!scopes || scopes.some((scope) => token.scopes.includes(scope))) return;
  throw missingScope(scopes.join(','), token.scopes);
}

function parseArgs(method: Method, args: Json): unknown {
  const parsed = method.args.safeParse(args, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw refusal('invalid_arguments', explain(parsed.error.issues, ''));
}

function withBasic({ args, basic }: ApiRequest): Json {
  return basic ? { ...args, client_id: basic.id, client_secret: basic.secret } : args;
}

function scopeHeaders(method: Method, token: Token): Record<string, string> {
  if (method.auth === 'none') return {};
  return {
    'x-oauth-scopes': token.scopes.join(','),
    'x-accepted-oauth-scopes': (method.scopes ?? []).join(','),
  };
}

function refuse(error: SlackError): Outcome {
  return { status: 200, headers: {}, body: { ok: false, error: error.code, ...error.extra } };
}

function asRefusal(error: unknown): SlackError {
  if (error instanceof SlackError) return error;
  throw error;
}
