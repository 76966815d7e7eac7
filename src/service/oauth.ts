import * as openid from 'openid-client';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { type HttpAnswer, sendRequest } from '../core/http.ts';
import { defined, isObject, parseJson, parseObject } from '../core/json.ts';
import { findAddressFault } from './addresses.ts';

/** All scopes of API 5.3 (docs/service-api.md). */
const SCOPES = 'email_address assignments';
const TIMEOUT_S = 15;
const MAX_BYTES = 64 * 1024;
/** How long the result of discovery is used. */
const DISCOVERY_TTL_MS = 10 * 60_000;

export interface OauthOptions {
  /** The main site, which has the metadata; https unless its host is loopback. */
  siteUrl: string;
  /** The authorisation server, whose endpoints API 5.3 names. */
  authUrl: string;
  clientId: string;
  clientSecret: string;
  /** Deckhand's, for the User-Agent. */
  version: string;
  agent: Dispatcher;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export type Tokens = openid.TokenEndpointResponse;

export type OauthFailure = 'denied' | 'refused' | 'unexpected' | 'unreachable';

/** Why there is no token. Its text holds no code, token or secret. */
export class OauthError extends Error {
  readonly code = 'oauth_error';
  readonly kind: OauthFailure;

  constructor(kind: OauthFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OauthError';
    this.kind = kind;
  }
}

/** The authorisation code flow of API 5.3. All reject with an OauthError. */
export type ServiceOauth = ReturnType<typeof createOauth>;

export function createOauth(options: OauthOptions) {
  let known: { configuration: openid.Configuration; until: number } | undefined;

  async function configure(): Promise<openid.Configuration> {
    if (known !== undefined && options.now() < known.until) return known.configuration;
    const configuration = await discover(options);
    known = { configuration, until: options.now() + DISCOVERY_TTL_MS };
    return configuration;
  }

  return {
    /** Where the person's browser goes; `verifier` must come back with the code, where the service offers PKCE. */
    begin: (redirectUri: string, state: string) =>
      explaining(async () => {
        const configuration = await configure();
        const parameters = { redirect_uri: redirectUri, scope: SCOPES, state };
        if (!configuration.serverMetadata().supportsPKCE())
          return { url: openid.buildAuthorizationUrl(configuration, parameters), verifier: undefined };
        const verifier = openid.randomPKCECodeVerifier();
        const url = openid.buildAuthorizationUrl(configuration, {
          ...parameters,
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        });
        return { url, verifier };
      }),
    /** Exchanges the code in the address that the browser came back to. */
    exchange: (callback: URL, { state, verifier }: { state: string; verifier: string | undefined }) =>
      explaining(async () => {
        const checks = { expectedState: state, ...defined({ pkceCodeVerifier: verifier }) };
        return openid.authorizationCodeGrant(await configure(), callback, checks);
      }),
    /** The e-mail address of the person that the tokens are of; undefined where the service does not say. */
    identify: (tokens: Tokens) =>
      explaining(async () => emailIn(tokens) ?? (await askWho(await configure(), tokens, options))),
  };
}

/**
 * The metadata that the main site publishes. The secret goes only to the token endpoint named there, or where none is
 * published to the one that API 5.3 names. Its issuer may be another address than the site's; `iss` in a callback is
 * checked against it.
 */
async function discover(options: OauthOptions): Promise<openid.Configuration> {
  try {
    return await discoverAtSite(options);
  } catch (error) {
    const answer = error instanceof Error ? error.cause : undefined;
    if (answer instanceof Response && answer.status === 404) return documented(options);
    throw error;
  }
}

/** The addresses of API 5.3, for a service that publishes no metadata: then without PKCE. */
function documented(options: OauthOptions): openid.Configuration {
  const base = options.authUrl.replace(/\/+$/, '');
  const configuration = new openid.Configuration(
    {
      issuer: options.siteUrl,
      authorization_endpoint: `${base}/oauth/authorize`,
      token_endpoint: `${base}/oauth/token`,
    },
    options.clientId,
    {},
    openid.ClientSecretPost(options.clientSecret),
  );
  Object.assign(configuration, { [openid.customFetch]: fetchFor(options), timeout: TIMEOUT_S });
  if (new URL(base).protocol === 'http:') openid.allowInsecureRequests(configuration);
  return configuration;
}

async function discoverAtSite(options: OauthOptions): Promise<openid.Configuration> {
  const { siteUrl, clientId, clientSecret } = options;
  const isLocal = new URL(siteUrl).protocol === 'http:';
  const configuration = await openid.discovery(
    new URL(`${siteUrl.replace(/\/+$/, '')}/.well-known/oauth-authorization-server`),
    clientId,
    {},
    openid.ClientSecretPost(clientSecret),
    {
      [openid.customFetch]: fetchFor(options),
      timeout: TIMEOUT_S,
      ...(isLocal ? { execute: [openid.allowInsecureRequests] } : {}),
    },
  );
  const { authorization_endpoint, token_endpoint } = configuration.serverMetadata();
  for (const endpoint of [authorization_endpoint, token_endpoint])
    if (!isSafeEndpoint(endpoint, isLocal))
      throw new OauthError('unexpected', 'the metadata names no endpoint over https');
  return configuration;
}

/** Asks where the metadata names an address for it, as authorisation servers have it; nowhere else is a token sent. */
async function askWho(
  configuration: openid.Configuration,
  { access_token: token }: Tokens,
  { siteUrl }: OauthOptions,
): Promise<string | undefined> {
  const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
  if (endpoint === undefined || !isSafeEndpoint(endpoint, new URL(siteUrl).protocol === 'http:'))
    return undefined;
  const answer = await openid.fetchProtectedResource(configuration, token, new URL(endpoint), 'GET');
  return answer.ok ? emailIn(parseJson(await answer.text())) : undefined;
}

/** Over https, or on this machine where the site is too. */
function isSafeEndpoint(endpoint: string | undefined, isLocal: boolean): boolean {
  const url = URL.parse(endpoint ?? '');
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (isLocal && findAddressFault(url.origin) === undefined);
}

/** Over the connections of the service's client: no redirects, a size limit, our own name. */
function fetchFor({ agent, version }: OauthOptions): openid.CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const { origin, pathname, search } = new URL(url);
    const isPost = method === 'POST';
    const request = {
      origin,
      path: `${pathname}${search}`,
      method: isPost ? 'POST' : 'GET',
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': `deckhand/${version}` },
      body: body == null ? null : String(body),
      maxBytes: () => MAX_BYTES,
    } as const;
    const answer = await sendRequest(agent, request, signal ?? AbortSignal.timeout(TIMEOUT_S * 1000)).catch(
      (error: unknown) => {
        if (signal?.aborted) throw error;
        throw new OauthError('unreachable', `there was no answer: ${codeOf(error) ?? 'dropped'}`);
      },
    );
    const { status } = answer;
    if (answer.tooLarge) throw new OauthError('unexpected', 'the answer is too long');
    if (status >= 500) throw new OauthError('unreachable', `the answer has the status ${status}`);
    return makeResponse(answer, isPost);
  };
}

function makeResponse({ status, headers, body }: HttpAnswer, isPost: boolean): Response {
  const text = body.toString('utf8');
  if (isPost && status >= 200 && status < 300) return Response.json(readTokenAnswer(text));
  const type = headers['content-type'];
  return new Response(text || null, {
    status,
    headers: type === undefined ? {} : { 'content-type': String(type) },
  });
}

const Unread = z.unknown().optional();

/**
 * The fields of a token answer that Deckhand needs. API 5.3 does not show them, and the library refuses an answer for a
 * field of an unusual type, or a status beside 200, that nobody needs.
 */
const TokenAnswer = z.object({
  access_token: Unread,
  refresh_token: z.string().min(1).optional().catch(undefined),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
  email_address: Unread,
  email: Unread,
  email_verified: Unread,
});

/** The library says what is wrong with an answer that is no JSON. */
function readTokenAnswer(text: string): unknown {
  return { token_type: 'Bearer', ...TokenAnswer.parse(parseObject(text) ?? {}) };
}

async function explaining<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OauthError) throw error;
    // The library wraps what a request of ours throws.
    if (error instanceof Error && error.cause instanceof OauthError) throw error.cause;
    const kind = kindOf(error);
    throw new OauthError(kind, `the service’s authorisation: ${kind}${reasonOf(error)}`);
  }
}

function kindOf(error: unknown): OauthFailure {
  if (error instanceof openid.AuthorizationResponseError)
    return error.error === 'access_denied' ? 'denied' : 'refused';
  if (error instanceof openid.ResponseBodyError) return 'refused';
  if (codeOf(error) === 'OAUTH_TIMEOUT') return 'unreachable';
  return 'unexpected';
}

/** The library's errors carry whole requests and answers: only their codes are passed on. */
function reasonOf(error: unknown): string {
  const isNamed =
    error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError;
  const reason = isNamed ? error.error : codeOf(error);
  return reason === undefined ? '' : ` (${reason.replace(/[^\w.-]/g, '').slice(0, 60)})`;
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

const Email = z.email().max(200);

/**
 * The person's e-mail address, where an answer of the service has it under the name of its scope or the usual one.
 * API 5.3 (docs/service-api.md) shows neither the fields of a token's answer nor a place to ask with a token.
 */
function emailIn(answer: unknown): string | undefined {
  if (!isObject(answer) || answer.email_verified === false) return undefined;
  const found = [answer.email_address, answer.email].find((value) => Email.safeParse(value).success);
  return typeof found === 'string' ? found : undefined;
}
