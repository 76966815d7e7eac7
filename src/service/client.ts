import { ServiceError } from '../core/errors.ts';
import { type HttpAnswer, type Proxies, trimSlashes } from '../core/http.ts';
import type { Clock } from '../core/time/clock.ts';
import { NO_TRACING, type Span, type SpanStart, type Tracing } from '../observability/tracing.ts';
import { BaseUrl, findAddressFault, isAccountName } from './addresses.ts';
import { type Address, type Call, type Endpoint, readValue, type SkippedRows } from './call.ts';
import { createDescriptionSource, type DescriptionSource, MAX_DESCRIPTION_BYTES } from './description.ts';
import { createOauth } from './oauth.ts';
import { type Agents, createRequest, openAgents, send, withRetries } from './transport.ts';

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

/** One attempt at a call, for metrics and logs. Holds no body, path parameter or credential. */
export interface Observed {
  operation: string;
  method: string;
  status: number | undefined;
  /** `ok`, `aborted`, or the kind of the ServiceError. */
  kind: string;
  ms: number;
  /** From 1. */
  attempt: number;
}

export interface ServiceOptions {
  /** Template with `{account}` in host or path. */
  baseUrl: string;
  signupUrl?: string | undefined;
  /** Address of the service's published description. */
  descriptionUrl?: string | undefined;
  /** Deckhand's version, for the User-Agent. */
  version: string;
  /** Deckhand's registered OAuth client. API 5.3 (docs/service-api.md). */
  oauth?: { siteUrl: string; authUrl: string; clientId: string; clientSecret: string } | undefined;
  clock: Clock;
  /** In [0, 1), for jitter. */
  random?: () => number;
  /** Limit for a whole attempt. No repetition starts later than this after the first attempt. */
  timeoutMs?: number;
  /** Largest JSON answer. */
  maxBytes?: number;
  maxPdfBytes?: number;
  proxies?: Proxies | undefined;
  /** Largest number of connections of one account to one origin. */
  connections?: number;
  /** Values on the wire by the neutral hook_type labels of API 4.8. A label without a value is sent as it is. */
  hookTypes?: Readonly<Record<string, string>>;
  tracing?: Tracing;
  observe?: (call: Observed) => void;
  /** Called for the log with rows that could not be read. */
  onSkipped?: (rows: SkippedRows) => void;
}

/** Sends calls to one account, with one person's credentials. */
export interface AccountClient extends Endpoint {
  readonly account: string;
  readonly hookTypes: Readonly<Record<string, string>>;
}

export type Service = ReturnType<typeof createService>;

/**
 * Opens the deployment service's API (1 and 5). Connects with the first call.
 * @throws TypeError for an address without https that is not loopback, or a template without `{account}`
 */
export function createService(options: ServiceOptions) {
  const settings = { ...DEFAULTS, ...options };
  const baseUrl = new BaseUrl(options.baseUrl);
  const signup = options.signupUrl === undefined ? undefined : parseAddress(options.signupUrl);
  const agents = openAgents(settings);
  return {
    /** @throws ServiceError of kind `account_not_found` if the account's name is not a slug */
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
    /** Undefined if no sign-up address is configured. */
    signup: signup && openEndpoint(agents, settings, signup),
    /** Undefined if its address is not configured. */
    description: openDescription(agents, settings),
    /** Undefined if no OAuth client is configured. */
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
      const request = createRequest(call, address, { version: settings.version, authorization, maxBytes });
      const sendOnce = () => send(agents.of(authorization), call.operation, request, { timeoutMs, signal });
      const rules = { method: call.method, retries, budgetMs: timeoutMs, clock, random, signal };
      const tryOnce = (attempt: number) => {
        const start = describeOperationSpan(call, attempt);
        return settings.tracing.trace(start, (span) => observed(call, sendOnce, attempt, settings, span));
      };
      // Not awaited: each waiting step of thousands of polls takes memory.
      return retries === 0 ? tryOnce(1) : withRetries(tryOnce, rules);
    },
  };
}

function openDescription(agents: Agents, settings: Settings): DescriptionSource | undefined {
  const { descriptionUrl } = settings;
  if (descriptionUrl === undefined) return undefined;
  const { origin } = parseAddress(descriptionUrl);
  const limited = { ...settings, maxBytes: MAX_DESCRIPTION_BYTES };
  return createDescriptionSource(openEndpoint(agents, limited, { origin, path: '' }), descriptionUrl);
}

/** Names attributes by OpenTelemetry's conventions for HTTP. Leaves the address out: host and path hold names. */
function describeOperationSpan({ operation, method }: Call<unknown>, attempt: number): SpanStart {
  const attributes = () => ({
    'http.request.method': method,
    'deckhand.operation': operation,
    'http.request.resend_count': attempt === 1 ? undefined : attempt - 1,
  });
  return { name: `${method} ${operation}`, kind: 'client', attributes };
}

/** Reads the answer and reports how the attempt ended. */
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

function parseAddress(text: string): Address {
  const fault = findAddressFault(text);
  if (fault !== undefined) throw new TypeError(`the service's signup or description url ${fault}`);
  const url = new URL(text);
  return { origin: url.origin, path: trimSlashes(url.pathname) };
}
