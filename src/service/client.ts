import { ServiceError } from '../core/errors.ts';
import type { HttpAnswer, Proxies } from '../core/http.ts';
import { type Clock, HOUR_MS } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import { NO_TRACING, type Span, type SpanStart, type Tracing } from '../observability/tracing.ts';
import { BaseUrl, findAddressFault, isAccountName } from './addresses.ts';
import { type Address, type Call, type Endpoint, readValue, type SkippedRows } from './call.ts';
import { checkDrift, type DriftReport } from './drift.ts';
import { createOauth } from './oauth.ts';
import { type Agents, openAgents, requestOf, send, withRetries } from './transport.ts';

const DEFAULTS = {
  timeoutMs: 15_000,
  maxBytes: 5 * 1024 * 1024,
  maxPdfBytes: 20 * 1024 * 1024,
  connections: 32,
  random: Math.random,
  tracing: NO_TRACING,
};
const DEFAULT_RETRIES = 3;

export interface Credentials {
  account: string;
  email: string;
  apiKey: string;
}

/** One attempt at a call, for metrics and logs. Never a body, path parameter or credential. */
export interface Observed {
  operation: string;
  method: string;
  status: number | undefined;
  /** `ok`, `aborted`, or the kind of the ServiceError. */
  kind: string;
  ms: number;
  /** 1 is the first. */
  attempt: number;
}

export interface ServiceOptions {
  /** Template with `{account}` in host or path. */
  baseUrl: string;
  signupUrl?: string | undefined;
  /** Deckhand's, for the User-Agent. */
  version: string;
  /** Our registered OAuth client. API 5.3 (docs/service-api.md). */
  oauth?: { siteUrl: string; authUrl: string; clientId: string; clientSecret: string } | undefined;
  /** Waits between repetitions go through it. */
  clock: Clock;
  /** In [0, 1), for jitter. */
  random?: () => number;
  /** For one whole attempt; no repetition starts later than this after the first. */
  timeoutMs?: number;
  /** Most bytes of a JSON answer. */
  maxBytes?: number;
  maxPdfBytes?: number;
  proxies?: Proxies | undefined;
  /** Most connections of one account to one origin. */
  connections?: number;
  /** From the neutral hook_type labels of API 4.8 to the values on the wire; identity where absent. */
  hookTypes?: Readonly<Record<string, string>>;
  tracing?: Tracing;
  observe?: (call: Observed) => void;
  /** Rows that no list shows, for the log. */
  onSkipped?: (rows: SkippedRows) => void;
}

/** One account with one person's credentials, which cannot be read from it. */
export interface AccountClient extends Endpoint {
  readonly account: string;
  readonly hookTypes: Readonly<Record<string, string>>;
}

export type Service = ReturnType<typeof createService>;

/**
 * The deployment service's API (1 and 5). Opens nothing until the first call.
 * Throws a TypeError if an address is unsound: not https beyond loopback, or a template without `{account}`.
 */
export function createService(options: ServiceOptions) {
  const settings = { ...DEFAULTS, ...options };
  const baseUrl = new BaseUrl(options.baseUrl);
  const signup = options.signupUrl === undefined ? undefined : addressOf(options.signupUrl);
  const agents = openAgents(settings);
  const endpoint = signup && openEndpoint(agents, settings, signup);
  const drift = new TtlCache<DriftReport>(options.clock, HOUR_MS);
  return {
    /** Throws a ServiceError of kind `account_not_found` if the account's name is not a slug. */
    account({ account, email, apiKey }: Credentials): AccountClient {
      if (!isAccountName(account))
        throw new ServiceError('account_not_found', 'account', {
          detail: 'not a slug',
          certainlyNotDone: true,
        });
      const authorization = `Basic ${Buffer.from(`${email}:${apiKey}`, 'utf8').toString('base64')}`;
      const endpoint = openEndpoint(agents, settings, baseUrl.of(account), authorization);
      return { account, hookTypes: options.hookTypes ?? {}, ...endpoint };
    },
    /** Undefined where no sign-up address is configured. */
    signup: endpoint,
    /** Compares our calls with the description that the service publishes, at most once an hour. */
    checkDrift: () => drift.get([], () => checkDrift(endpoint)),
    /** Undefined where no OAuth client is configured. */
    oauth:
      options.oauth &&
      createOauth({
        ...options.oauth,
        version: options.version,
        agent: agents.of(undefined),
        now: () => options.clock.now(),
      }),
    /** Resolves when the calls in flight have ended and every connection is closed. */
    close: () => agents.close(),
  };
}

/** Every option has its value; `undefined` cannot stand for a default (exactOptionalPropertyTypes). */
type Settings = Omit<ServiceOptions, keyof typeof DEFAULTS> & typeof DEFAULTS;

function openEndpoint(
  agents: Agents,
  settings: Settings,
  address: Address,
  authorization?: string,
): Endpoint {
  const { clock, random, timeoutMs } = settings;
  return {
    reportSkipped: (rows) => settings.onSkipped?.(rows),
    async send(call, { signal, retries = DEFAULT_RETRIES } = {}) {
      const maxBytes = call.pdf ? settings.maxPdfBytes : settings.maxBytes;
      const request = requestOf(call, address, { version: settings.version, authorization, maxBytes });
      const sendOnce = () => send(agents.of(authorization), call.operation, request, { timeoutMs, signal });
      const rules = { method: call.method, retries, budgetMs: timeoutMs, clock, random, signal };
      const tryOnce = (attempt: number) => {
        const start = spanOf(call, attempt);
        return settings.tracing.run(start, (span) => observed(call, sendOnce, attempt, settings, span));
      };
      // Returned and not awaited: thousands of polls are under way at once, and each step that waits takes memory.
      return retries === 0 ? tryOnce(1) : withRetries(tryOnce, rules);
    },
  };
}

/** Attributes by OpenTelemetry's conventions for HTTP, without any part of the address: host and path hold names. */
function spanOf({ operation, method }: Call<unknown>, attempt: number): SpanStart {
  const attributes = () => ({
    'http.request.method': method,
    'deckhand.operation': operation,
    'http.request.resend_count': attempt === 1 ? undefined : attempt - 1,
  });
  return { name: `${method} ${operation}`, kind: 'client', attributes };
}

/** Reads the answer and reports how the attempt ended, then returns its value or throws its error. */
async function observed<T>(
  call: Call<T>,
  send: () => Promise<HttpAnswer>,
  attempt: number,
  { clock, observe }: Settings,
  span: Span,
): Promise<T> {
  const { operation, method } = call;
  const start = clock.now();
  const report = (kind: string, status: number | undefined): void => {
    span.set({ 'http.response.status_code': status });
    observe?.({ operation, method, status, kind, ms: clock.now() - start, attempt });
  };
  try {
    const answer = await send();
    const value = readValue(call, answer, clock.now());
    report('ok', answer.status);
    return value;
  } catch (error) {
    if (error instanceof ServiceError) report(error.kind, error.status);
    else report('aborted', undefined);
    throw error;
  }
}

function addressOf(text: string): Address {
  const fault = findAddressFault(text);
  if (fault !== undefined) throw new TypeError(`the service's signup url ${fault}`);
  const url = new URL(text);
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}
