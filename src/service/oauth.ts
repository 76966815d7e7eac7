import * as openid from 'openid-client';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { type HttpAnswer, sendRequest, trimSlashes } from '../core/http.ts';
import { defined, isObject, parseJson, parseObject } from '../core/json.ts';
import { findAddressFault } from './addresses.ts';

/** All scopes of API 5.3 (docs/service-api.md). */
const SCOPES = 'email_address assignments';
const TIMEOUT_S = 15;
const MAX_BYTES = 64 * 1024;
/** Lifetime of the metadata. */
const DISCOVERY_TTL_MS = 10 * 60_000;

export interface OauthOptions {
  /** The main site, which has the metadata. https unless its host is loopback. */
  siteUrl: string;
  /** The authorisation server, with the endpoints of API 5.3. */
  authUrl: string;
  clientId: string;
  clientSecret: string;
  /** Deckhand's version, for the User-Agent. */
  version: string;
  agent: Dispatcher;
  now: () => number;
}

export type Tokens = openid.TokenEndpointResponse;

/** A person at the service, as far as it tells. */
export interface Identity {
  name?: string;
  email?: string;
}

export type OauthFailure = 'denied' | 'refused' | 'unexpected' | 'unreachable';

/** A failed authorisation. The message holds no code, token or secret. */
export class OauthError extends Error {
  readonly code = 'oauth_error';
  readonly kind: OauthFailure;

  constructor(kind: OauthFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OauthError';
    this.kind = kind;
  }
}

/** The authorisation code flow of API 5.3. Its functions reject with an OauthError. */
export type ServiceOauth = ReturnType<typeof createOauth>;

export function createOauth(options: OauthOptions) {
  let cached: { configuration: openid.Configuration; until: number } | undefined;

  async function configure(): Promise<openid.Configuration> {
    if (cached !== undefined && options.now() < cached.until) return cached.configuration;
    const configuration = await discover(options);
    cached = { configuration, until: options.now() + DISCOVERY_TTL_MS };
    return configuration;
  }

  return {
    /** Makes the address for the person's browser. `exchange` needs the `verifier`, if the service offers PKCE. */
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
    /** Exchanges the code in the address to which the browser came back. */
    exchange: (callback: URL, { state, verifier }: { state: string; verifier: string | undefined }) =>
      explaining(async () => {
        const checks = { expectedState: state, ...defined({ pkceCodeVerifier: verifier }) };
        return openid.authorizationCodeGrant(await configure(), callback, checks);
      }),
    /** Finds out who the tokens' owner is. Empty if the service does not tell. */
    identify: (tokens: Tokens) =>
      explaining(async () => {
        const identity = readIdentity(tokens);
        if (identity.email !== undefined) return identity;
        return { ...identity, ...(await requestIdentity(await configure(), tokens, options)) };
      }),
    /** Revokes the tokens. Returns false if the metadata names no address for that. RFC 7009. */
    revoke: (tokens: Tokens) => explaining(async () => revokeTokens(await configure(), tokens, options)),
  };
}

/**
 * Reads the metadata of the main site. The secret goes only to the token endpoint in it, or without metadata to the one of
 * API 5.3. The issuer in it may have another address than the site, and `iss` in a callback must equal it.
 */
async function discover(options: OauthOptions): Promise<openid.Configuration> {
  try {
    return await discoverAtSite(options);
  } catch (error) {
    const answer = error instanceof Error ? error.cause : undefined;
    if (answer instanceof Response && answer.status === 404) return useDocumented(options);
    throw error;
  }
}

/** Uses the addresses of API 5.3 for a service without metadata, without PKCE. */
function useDocumented(options: OauthOptions): openid.Configuration {
  const base = trimSlashes(options.authUrl);
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
    new URL(`${trimSlashes(siteUrl)}/.well-known/oauth-authorization-server`),
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

/** Sends the token only to an address in the metadata. */
async function requestIdentity(
  configuration: openid.Configuration,
  { access_token: token }: Tokens,
  { siteUrl }: OauthOptions,
): Promise<Identity> {
  const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
  if (endpoint === undefined || !isSafeEndpoint(endpoint, new URL(siteUrl).protocol === 'http:')) return {};
  const answer = await openid.fetchProtectedResource(configuration, token, new URL(endpoint), 'GET');
  return answer.ok ? readIdentity(parseJson(await answer.text())) : {};
}

async function revokeTokens(
  configuration: openid.Configuration,
  { access_token, refresh_token }: Tokens,
  { siteUrl }: OauthOptions,
): Promise<boolean> {
  const { revocation_endpoint: endpoint } = configuration.serverMetadata();
  if (!isSafeEndpoint(endpoint, new URL(siteUrl).protocol === 'http:')) return false;
  // The refresh token first, because it could make new ones.
  if (refresh_token !== undefined)
    await openid.tokenRevocation(configuration, refresh_token, { token_type_hint: 'refresh_token' });
  await openid.tokenRevocation(configuration, access_token, { token_type_hint: 'access_token' });
  return true;
}

/** Allows https, and http on this machine if the site is there too. */
function isSafeEndpoint(endpoint: string | undefined, isLocal: boolean): boolean {
  const url = URL.parse(endpoint ?? '');
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (isLocal && findAddressFault(url.origin) === undefined);
}

/** Makes a `fetch` that uses the connections of the service's client. It limits the size and follows no redirects. */
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
        throw new OauthError('unreachable', `there was no answer: ${readCode(error) ?? 'dropped'}`);
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
 * The fields of a token answer that Deckhand needs. API 5.3 does not show them. The library refuses an answer for an
 * unusual type of any field, or for another 2xx status than 200.
 */
const TokenAnswer = z.object({
  access_token: Unread,
  refresh_token: z.string().min(1).optional().catch(undefined),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
  email_address: Unread,
  email: Unread,
  email_verified: Unread,
  name: Unread,
  first_name: Unread,
  last_name: Unread,
});

/** The library reports an answer that is not JSON. */
function readTokenAnswer(text: string): unknown {
  return { token_type: 'Bearer', ...TokenAnswer.parse(parseObject(text) ?? {}) };
}

async function explaining<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OauthError) throw error;
    // The library wraps errors of `fetch`.
    if (error instanceof Error && error.cause instanceof OauthError) throw error.cause;
    const kind = classifyError(error);
    throw new OauthError(kind, `the service’s authorisation: ${kind}${formatCode(error)}`);
  }
}

function classifyError(error: unknown): OauthFailure {
  if (error instanceof openid.AuthorizationResponseError)
    return error.error === 'access_denied' ? 'denied' : 'refused';
  if (error instanceof openid.ResponseBodyError) return 'refused';
  if (readCode(error) === 'OAUTH_TIMEOUT') return 'unreachable';
  return 'unexpected';
}

/** Returns only the code, because the library's errors hold whole requests and answers. */
function formatCode(error: unknown): string {
  const hasWord =
    error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError;
  const reason = hasWord ? error.error : readCode(error);
  return reason === undefined ? '' : ` (${reason.replace(/[^\w.-]/g, '').slice(0, 60)})`;
}

function readCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

const Email = z.email().max(200);
const PersonName = z.string().trim().min(1).max(100);

/** Reads a token answer, or an answer about its owner. API 5.3 (docs/service-api.md) shows the fields of neither. */
function readIdentity(answer: unknown): Identity {
  if (!isObject(answer)) return {};
  const { name, first_name, last_name } = answer;
  const parts = [first_name, last_name].filter((part) => typeof part === 'string');
  const names = [name, parts.join(' ')].map((value) => PersonName.safeParse(value).data);
  return defined({ name: names.find((one) => one !== undefined), email: findEmail(answer) });
}

/** Finds the person's e-mail address under the name of its scope or the usual name. */
function findEmail(answer: Readonly<Record<string, unknown>>): string | undefined {
  if (answer.email_verified === false) return undefined;
  const addresses = [answer.email_address, answer.email].map((value) => Email.safeParse(value).data);
  return addresses.find((address) => address !== undefined);
}
