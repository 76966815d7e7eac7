import { setTimeout as sleep } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { auth as readBasicAuth } from 'hono/utils/basic-auth';
import { type Address, readAddress } from './address.ts';
import { isJson } from './api/app.ts';
import { usualBody } from './api/failure.ts';
import type { Fault, Faults } from './faults.ts';
import { type RequestRecorder, withoutSecrets } from './requests.ts';
import type { World } from './world/records.ts';

/** A request as the apps behind the door get it: addressed, its body read. */
export interface Visit {
  address: Address;
  request: Request;
  body: string;
  contentType: string | undefined;
  ip: string;
}

/** What the door needs of the connection beneath. */
interface Connection {
  incoming: { socket: { remoteAddress?: string | undefined } };
  outgoing: { destroy(): unknown };
}

export interface FrontDoorParts {
  world: World;
  faults: Faults;
  requests: RequestRecorder;
  /** Ends delays when the service stops. */
  stopped: AbortSignal;
  /** Answers a request that no fault keeps. */
  dispatch(visit: Visit): Promise<Response>;
}

/** The way in: time moves on, the request is recorded, faults strike, and the rest is dispatched. */
export function createFrontDoor({ world, faults, requests, stopped, dispatch }: FrontDoorParts) {
  /** Undefined where the connection is to be dropped. */
  async function answer(visit: Visit, fault: Fault | undefined): Promise<Response | undefined> {
    if (fault === undefined) return dispatch(visit);
    if (!(await waitFor(fault.delayMs ?? 0, stopped))) return undefined;
    if (onlyDelays(fault)) return dispatch(visit);
    if (fault.afterHandling) await dispatch(visit);
    return fault.drop ? undefined : faultyResponse(fault, visit.address.path);
  }

  return async (incoming: Request, { incoming: raw, outgoing }: Connection): Promise<Response> => {
    const visit = await readVisit(incoming, world.origin, raw.socket.remoteAddress ?? 'unknown');
    if (visit.address.path.startsWith('/_control/')) return dispatch(visit);
    world.clock.tick();
    const path = pathByPermalink(world, visit.address);
    const entry = requests.arrived({ ...describe(visit, world.clock.now()), path });
    const response = await answer(visit, faults.take(incoming.method, fullPath({ ...visit.address, path })));
    requests.done(entry, response?.status);
    if (response !== undefined) return response;
    outgoing.destroy();
    return RESPONSE_ALREADY_SENT;
  };
}

/** Faults and records name a project by its permalink, also if the request has its identifier. */
function pathByPermalink(world: World, { account = '', path }: Address): string {
  const [, reference = ''] = /^\/projects\/([^/]+)/.exec(path) ?? [];
  const projects = world.accounts.get(account)?.projects ?? [];
  const project = projects.find(({ identifier }) => identifier === reference);
  return project === undefined ? path : path.replace(reference, project.permalink);
}

function fullPath({ account, path }: Address): string {
  return account === undefined ? path : `/${account}${path}`;
}

async function readVisit(incoming: Request, origin: string, remote: string): Promise<Visit> {
  const url = new URL(incoming.url);
  const address = readAddress(url, origin);
  url.pathname = address.path;
  // The adapter makes a whole request of one without a body, only to read nothing from it.
  const body = incoming.method === 'GET' ? '' : await incoming.text();
  const { headers } = incoming;
  const contentType = headers.get('content-type') ?? undefined;
  // Accounts speak JSON only, so whatever is sent there is read as JSON, and nothing as nothing. Spec 1.
  if (body === '') headers.delete('content-type');
  else if (address.account !== undefined) headers.set('content-type', 'application/json');
  // The real service stands behind a proxy; tests use the header to come from elsewhere.
  const forwarded = headers.get('x-forwarded-for')?.split(',')[0]?.trim();
  return {
    address,
    body,
    request: new Request(url, { method: incoming.method, headers, ...(body !== '' && { body }) }),
    contentType,
    ip: forwarded ?? remote,
  };
}

function describe({ address, request, body, contentType }: Visit, at: number) {
  const query = [...new URL(request.url).searchParams].map(([key, value]) => [key, value]);
  return {
    at,
    method: request.method,
    path: address.path,
    query: withoutSecrets(Object.fromEntries(query)) as Record<string, string>,
    account: address.account,
    user: readBasicAuth(request)?.username,
    userAgent: request.headers.get('user-agent') ?? undefined,
    accept: request.headers.get('accept') ?? undefined,
    contentType,
    body: body === '' ? undefined : withoutSecrets(parse(body)),
  };
}

function parse(body: string): unknown {
  return isJson(body) ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
}

/** True once the time is over, false when the service stopped first. */
async function waitFor(ms: number, stopped: AbortSignal): Promise<boolean> {
  if (ms === 0) return true;
  return sleep(ms, true, { signal: stopped }).catch(() => false);
}

function onlyDelays({ status, body, headers, retryAfter, drop, badJson }: Fault): boolean {
  return [status, body, headers, retryAfter, drop, badJson].every((value) => value === undefined);
}

function faultyResponse(fault: Fault, path: string): Response {
  const { status, body, badJson, headers = {}, retryAfter } = fault;
  const code = status ?? (retryAfter === undefined ? 200 : 503);
  const sent = new Headers({ 'content-type': 'application/json', ...headers });
  if (retryAfter !== undefined) sent.set('retry-after', retryAfter);
  if (badJson) return new Response('{"identifier":"0b7c', { status: code, headers: sent });
  const text =
    typeof body === 'string' ? body : JSON.stringify(body === undefined ? usualBody(code, path) : body);
  return new Response(code === 204 || code === 304 ? null : text, { status: code, headers: sent });
}
