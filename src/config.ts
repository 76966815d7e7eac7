import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Proxies } from './core/http.ts';
import { parseJson } from './core/json.ts';
import { findAddressFault, findBaseUrlFault, isLoopbackBaseUrl } from './service/addresses.ts';
import { EncryptionKeysError, parseEncryptionKeys } from './store/sealer.ts';

/** The process ends with this code when its configuration is at fault (EX_CONFIG of sysexits.h). */
export const CONFIG_EXIT_CODE = 78;
/** And with this one where the same start may succeed later (EX_TEMPFAIL). */
export const TEMPORARY_EXIT_CODE = 75;

const OTLP_PROTOCOLS = 'must be grpc, http/protobuf or http/json';

const text = z.string().trim().min(1);
const webAddress = text.pipe(z.url({ protocol: /^https?$/, error: 'is not an http(s) address' }));
const supportAddress = text.pipe(
  z.url({ protocol: /^(https?|mailto)$/, error: 'is not an http(s) or mailto address' }),
);
const safeAddress = text.check(faultIn(findAddressFault));
const hosts = text.regex(/^[^/]+$/, 'must be hosts, without https:// and path');
/** Slack's tokens say by their beginning what they are for; that of a bot has several. */
const botToken = text.refine((value) => !value.startsWith('xapp-'), {
  message: 'is an app-level token (xapp-); the bot token begins with xoxb-',
});
const appToken = text.startsWith('xapp-', 'must begin with xapp-');
const proxyAddress = text.pipe(
  z.url({
    protocol: /^(https?|socks5?)$/,
    error: 'must be an address such as http://proxy.example.com:3128',
  }),
);
/** OpenTelemetry's SDK takes any other word for the default, without a word. */
const otlpProtocol = z.enum(['grpc', 'http/protobuf', 'http/json'], OTLP_PROTOCOLS);
const positiveInteger = wholeNumber(1);
const port = wholeNumber(0, 65_535);
const HOOK_TYPES = 'must be a JSON object of strings';
const ABOVE_0 = 'must be a number above 0';
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const hookTypes = text
  .transform(parseJson)
  .pipe(z.record(z.string(), z.string(HOOK_TYPES).trim().min(1, HOOK_TYPES), HOOK_TYPES));

const encryptionKeys = text.transform((value, ctx) => {
  try {
    return parseEncryptionKeys(value);
  } catch (error) {
    if (!(error instanceof EncryptionKeysError)) throw error;
    for (const fault of error.faults) ctx.addIssue({ code: 'custom', message: fault });
    return z.NEVER;
  }
});

const Environment = z.object({
  SLACK_SIGNING_SECRET: text.optional(),
  SLACK_BOT_TOKEN: botToken.optional(),
  SLACK_CLIENT_ID: text.optional(),
  SLACK_CLIENT_SECRET: text.optional(),
  SLACK_APP_TOKEN: appToken.optional(),
  SLACK_API_URL: safeAddress.default('https://slack.com/api/'),
  SLACK_AUTHORIZE_URL: safeAddress.default('https://slack.com/oauth/v2/authorize'),
  SLACK_RESPONSE_HOSTS: hosts.default('hooks.slack.com'),
  SLACK_COMMAND: text.regex(/^\/[a-z0-9_-]{1,31}$/, 'must look like /word').default('/deckhand'),
  HOST: text.default('0.0.0.0'),
  PORT: port.default(3000),
  METRICS_PORT: port.optional(),
  PUBLIC_URL: webAddress.optional(),
  SUPPORT_URL: supportAddress.optional(),
  SERVICE_BASE_URL: text.check(faultIn(findBaseUrlFault)),
  SERVICE_SIGNUP_URL: safeAddress.optional(),
  SERVICE_AUTH_URL: safeAddress.optional(),
  SERVICE_SITE_URL: safeAddress.optional(),
  SERVICE_OAUTH_CLIENT_ID: text.optional(),
  SERVICE_OAUTH_CLIENT_SECRET: text.optional(),
  SERVICE_SITES_DOMAIN: text.regex(/^[a-z0-9.-]+(:\d+)?$/i, 'is not a domain').optional(),
  SERVICE_HOOK_TYPES: hookTypes.default({}),
  STORE_URL: text
    .regex(/^(sqlite|postgres|postgresql):\/\//, 'must start with sqlite:// or postgres://')
    .refine((value) => value !== 'sqlite://' && (value.startsWith('sqlite:') || URL.canParse(value)), {
      message: 'is not a path or an address',
    })
    .default('sqlite://data/deckhand.sqlite'),
  ENCRYPTION_KEYS: encryptionKeys,
  POLL_INTERVAL_MS: positiveInteger.default(2500),
  FOLLOW_TIMEOUT_MINUTES: z.coerce.number(ABOVE_0).positive(ABOVE_0).default(30),
  NOTICE_INTERVAL_MS: positiveInteger.optional(),
  MCP: z.enum(['on', 'off'], 'must be on or off').default('off'),
  HTTPS_PROXY: proxyAddress.optional(),
  HTTP_PROXY: proxyAddress.optional(),
  NO_PROXY: text.optional(),
  OTEL_TRACES_EXPORTER: text
    .regex(
      /^(otlp|zipkin|console|none)(\s*,\s*(otlp|zipkin|console))*$/,
      'must be otlp, zipkin, console or none',
    )
    .optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol.optional(),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
});

/** Names that count before ours, as for other programs: the small ones of proxies. */
const OTHER_NAMES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].map(
  (name) => [name, name.toLowerCase()] as const,
);

/** Tokens that `slack run` gives to its start hook; ours count before them. */
const CLI_NAMES = [
  ['SLACK_APP_TOKEN', 'SLACK_CLI_XAPP'],
  ['SLACK_BOT_TOKEN', 'SLACK_CLI_XOXB'],
] as const;

const TRACES = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_TRACES_EXPORTER'];

/** The one parsed configuration; the variables' names are kept, because operators know them by these. */
export type Config = z.output<typeof Environment> & {
  /** Whether one of the variables is set by which OpenTelemetry's SDK would send them; it reads them itself. */
  hasTraces: boolean;
  proxies: Proxies | undefined;
};

/** The variables that commands and jobs may know: no secret is among them. */
export type Settings = Pick<
  Config,
  | 'SLACK_COMMAND'
  | 'PUBLIC_URL'
  | 'SUPPORT_URL'
  | 'SERVICE_BASE_URL'
  | 'SERVICE_SIGNUP_URL'
  | 'SERVICE_AUTH_URL'
  | 'SERVICE_OAUTH_CLIENT_ID'
  | 'SERVICE_SITES_DOMAIN'
  | 'SERVICE_HOOK_TYPES'
  | 'POLL_INTERVAL_MS'
  | 'FOLLOW_TIMEOUT_MINUTES'
  | 'NOTICE_INTERVAL_MS'
>;

/** Every fault of the environment, each by the name of its variable. Never holds a value. */
export class ConfigError extends Error {
  readonly code = 'config_error';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  const error = `must be a whole number ${range}`;
  return z.coerce.number(error).int(error).min(least, error).max(most, error);
}

/** @throws ConfigError naming every fault at once */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  for (const [name, other] of OTHER_NAMES) if (given[other] !== undefined) given[name] = given[other];
  for (const [name, other] of CLI_NAMES) given[name] ??= given[other];
  const parsed = Environment.safeParse(given);
  const faults = parsed.success
    ? []
    : parsed.error.issues.map((issue) => {
        const name = String(issue.path[0]);
        return `${name} ${given[name] === undefined ? 'is required' : issue.message}`;
      });
  faults.push(...contradictions(given));
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  const hasTraces = TRACES.some((name) => given[name] !== undefined);
  return { ...parsed.data, hasTraces, proxies: readProxies(parsed.data) };
}

function readProxies({
  HTTPS_PROXY: httpsProxy = '',
  HTTP_PROXY: httpProxy = '',
  NO_PROXY: noProxy = '',
}: z.output<typeof Environment>): Proxies | undefined {
  return httpsProxy === '' && httpProxy === '' ? undefined : { httpsProxy, httpProxy, noProxy };
}

/**
 * Our OAuth client at the service (API 5.3, docs/service-api.md), and the main site, which has the metadata; undefined
 * unless its three variables are set.
 */
export function oauthClientOf(
  config: Config,
): { siteUrl: string; authUrl: string; clientId: string; clientSecret: string } | undefined {
  const {
    SERVICE_AUTH_URL: authUrl,
    SERVICE_OAUTH_CLIENT_ID: clientId,
    SERVICE_OAUTH_CLIENT_SECRET: clientSecret,
  } = config;
  if (authUrl === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const siteUrl = config.SERVICE_SITE_URL ?? new URL(authUrl).origin;
  return { siteUrl, authUrl, clientId, clientSecret };
}

/** What is wrong between variables, each of which may be valid alone. */
function contradictions(given: Record<string, string | undefined>): string[] {
  const faults: string[] = [];
  if (!given.SLACK_APP_TOKEN && !given.SLACK_SIGNING_SECRET)
    faults.push('SLACK_SIGNING_SECRET is required, unless SLACK_APP_TOKEN switches Socket Mode on');
  if (given.MCP?.trim() === 'on' && !given.SLACK_SIGNING_SECRET)
    faults.push(
      'SLACK_SIGNING_SECRET is required where MCP is on: its requests are signed, and come over HTTP',
    );
  if (given.SLACK_BOT_TOKEN && (given.SLACK_CLIENT_ID || given.SLACK_CLIENT_SECRET))
    faults.push('SLACK_BOT_TOKEN excludes SLACK_CLIENT_ID and SLACK_CLIENT_SECRET: one workspace, or many');
  if (!given.SLACK_BOT_TOKEN && !given.SLACK_CLIENT_ID && !given.SLACK_CLIENT_SECRET)
    faults.push(
      'SLACK_BOT_TOKEN is required, or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for many workspaces',
    );
  if (!isAllowedInterval(given))
    faults.push(
      'POLL_INTERVAL_MS must be from 2000 to 3000, unless the host of SERVICE_BASE_URL is loopback',
    );
  const port = given.PORT?.trim() || '3000';
  if (given.METRICS_PORT?.trim() === port && port !== '0') faults.push('METRICS_PORT must not be PORT');
  faults.push(...halves(given, 'SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'));
  faults.push(...halves(given, 'SERVICE_OAUTH_CLIENT_ID', 'SERVICE_OAUTH_CLIENT_SECRET'));
  return faults;
}

/** The service recommends polling every 2 to 3 seconds; only one on this machine may be polled at another pace. */
function isAllowedInterval({
  POLL_INTERVAL_MS: interval,
  SERVICE_BASE_URL: address,
}: Record<string, string | undefined>): boolean {
  const ms = Number(interval?.trim() || 2500);
  const isOutside = ms < 2000 || ms > 3000;
  return !isOutside || isLoopbackBaseUrl(address ?? '');
}

function halves(given: Record<string, string | undefined>, id: string, secret: string): string[] {
  if (Boolean(given[id]) === Boolean(given[secret])) return [];
  return given[id] ? [`${secret} is required with ${id}`] : [`${id} is required with ${secret}`];
}

/** The checks of the part that uses a value, so that its faults are reported with all others. */
function faultIn(find: (value: string) => string | undefined): z.core.CheckFn<string> {
  return ({ value, issues }) => {
    const message = find(value);
    if (message !== undefined) issues.push({ code: 'custom', input: value, message });
  };
}

/** Deckhand's version, as package.json has it, which stands beside `src` and beside the bundle. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
