import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import type { Proxies } from './core/http.ts';
import { parseJson } from './core/json.ts';
import { findAddressFault, findBaseUrlFault, isLoopbackBaseUrl } from './service/addresses.ts';
import { EncryptionKeysError, parseEncryptionKeys } from './store/encryption-keys.ts';

/** Exit code for a fault of the configuration (EX_CONFIG of sysexits.h). */
export const CONFIG_EXIT_CODE = 78;
/** Exit code if the same start may succeed later (EX_TEMPFAIL). */
export const TEMPORARY_EXIT_CODE = 75;

const text = z.string();
const webAddress = text.pipe(z.url({ protocol: /^https?$/, error: 'is not an http(s) address' }));
const supportAddress = text.pipe(
  z.url({ protocol: /^(https?|mailto)$/, error: 'is not an http(s) or mailto address' }),
);
const safeAddress = text.check(checkWith(findAddressFault));
const hosts = text.regex(/^[^/]+$/, 'must be hosts, without https:// and path');
// A wrong one is found by the first request that it refuses.
const signingSecret = text.regex(/^\S+$/, 'must be the Signing Secret of the app, without spaces');
const botToken = text
  .refine((value) => !value.startsWith('xapp-'), {
    message: 'is an app-level token (xapp-); the bot token begins with xoxb-',
    abort: true,
  })
  .regex(/^(xoxe\.)?xoxb-[\w-]+$/, 'must be a bot token, which begins with xoxb-');
const appToken = text.regex(/^xapp-[\w-]+$/, 'must be an app-level token, which begins with xapp-');
const clientPart = text.regex(/^[\w.-]+$/, 'must be letters, digits, dots and hyphens');
const A_PROXY = 'must be an address such as http://proxy.example.com:3128';
const proxyAddress = text.pipe(
  z.url({ protocol: /^(https?|socks5?)$/, error: A_PROXY, abort: true }).check(checkWith(findProxyFault)),
);
/** OpenTelemetry's SDK silently uses the default for any other word. */
const otlpProtocol = z.enum(
  ['grpc', 'http/protobuf', 'http/json'],
  'must be grpc, http/protobuf or http/json',
);
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
  SLACK_SIGNING_SECRET: signingSecret.optional(),
  SLACK_BOT_TOKEN: botToken.optional(),
  SLACK_CLIENT_ID: clientPart.optional(),
  SLACK_CLIENT_SECRET: clientPart.optional(),
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
  SERVICE_BASE_URL: text.check(checkWith(findBaseUrlFault)),
  SERVICE_SIGNUP_URL: safeAddress.optional(),
  SERVICE_DESCRIPTION_URL: safeAddress.optional(),
  SERVICE_AUTH_URL: safeAddress.optional(),
  SERVICE_SITE_URL: safeAddress.optional(),
  SERVICE_OAUTH_CLIENT_ID: text.optional(),
  SERVICE_OAUTH_CLIENT_SECRET: text.optional(),
  SERVICE_SITES_DOMAIN: text.regex(/^[a-z0-9.-]+(:\d+)?$/i, 'is not a domain').optional(),
  SERVICE_HOOK_TYPES: hookTypes.default({}),
  STORE_URL: text
    .regex(/^(sqlite|postgres|postgresql):\/\//, 'must start with sqlite:// or postgres://')
    .check(checkWith(findStoreFault))
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

const TRACES = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_TRACES_EXPORTER'];

/** Variables that may also be in a file, which `NAME_FILE` names. */
export const SECRETS = [
  'SLACK_SIGNING_SECRET',
  'SLACK_BOT_TOKEN',
  'SLACK_CLIENT_SECRET',
  'SLACK_APP_TOKEN',
  'SERVICE_OAUTH_CLIENT_SECRET',
  'STORE_URL',
  'ENCRYPTION_KEYS',
] as const satisfies ReadonlyArray<keyof z.input<typeof Environment>>;

/** The parsed configuration, by the names of the variables, which operators know. */
export type Config = z.output<typeof Environment> & {
  /** True if a variable makes OpenTelemetry's SDK send traces. The SDK reads its variables itself. */
  hasTraces: boolean;
  /** Addresses to listen on, in the order in which to try them. Every one of the machine if `HOST` is not set. */
  hosts: readonly [string, ...string[]];
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

/** Every fault of the environment, by the name of the variable. Never holds a value. */
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

/** @throws ConfigError with every fault */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const values = readVariables(env);
  const { data, error } = Environment.safeParse(values);
  const issues = error?.issues ?? [];
  const wrapped = Object.keys(Environment.shape).flatMap((name) => {
    const fault = findWrapping(values[name] ?? '');
    return fault === undefined ? [] : [[name, fault] as const];
  });
  const names = new Set<PropertyKey | undefined>(wrapped.map(([name]) => name));
  const others = issues.flatMap(({ path: [variable], message }) => {
    const name = String(variable);
    if (names.has(name)) return [];
    return [[name, values[name] === undefined ? 'is required' : message] as const];
  });
  const faults = [...wrapped, ...others].map(([name, fault]) => `${name} ${fault}`);
  faults.push(...findContradictions(values));
  if (data === undefined || faults.length > 0) throw new ConfigError(faults);
  const hasTraces = TRACES.some((name) => values[name] !== undefined);
  const SERVICE_DESCRIPTION_URL = data.SERVICE_DESCRIPTION_URL ?? findDescription(data.SERVICE_SIGNUP_URL);
  // One socket for `::` takes IPv4 too. A machine without IPv6 has no such address.
  const hosts: Config['hosts'] = values.HOST === undefined ? ['::', data.HOST] : [data.HOST];
  return { ...data, SERVICE_DESCRIPTION_URL, hasTraces, hosts, proxies: readProxies(data) };
}

/** The address of the service's description, by default. API 10 (docs/service-api.md). */
function findDescription(signupUrl: string | undefined): string | undefined {
  return signupUrl === undefined ? undefined : `${signupUrl.replace(/\/$/, '')}/docs.json`;
}

type Values = Record<string, string | undefined>;

/** Docker's `--env-file` and kubectl's `--from-env-file` keep the quotes and the comment of a line. */
function findWrapping(value: string): string | undefined {
  if (/^(["'`]).*\1$/s.test(value)) return 'is in quotes; write it without them';
  return /\s#/.test(value) ? 'has a comment behind it; write that on a line of its own' : undefined;
}

/** Trims the variables, and leaves out empty ones. */
function readVariables(env: Values): Values {
  const trimmed = Object.entries(env).map(([name, value]) => [name, value?.trim() || undefined] as const);
  const values: Values = Object.fromEntries(trimmed);
  // Other programs too read the lower-case name of a proxy first.
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'])
    values[name] = values[name.toLowerCase()] ?? values[name];
  // `slack run` gives these tokens to its start hook.
  values.SLACK_APP_TOKEN ??= values.SLACK_CLI_XAPP;
  values.SLACK_BOT_TOKEN ??= values.SLACK_CLI_XOXB;
  return values;
}

/** The client for proxies decodes the user and the password, and does not say what is wrong with them. */
function findProxyFault(address: string): string | undefined {
  const { hostname, username, password } = new URL(address);
  if (hostname === '') return A_PROXY;
  try {
    decodeURIComponent(`${username}${password}`);
    return undefined;
  } catch {
    return 'has a user or password with a bare %; write it as %25';
  }
}

function findStoreFault(url: string): string | undefined {
  if (url.startsWith('sqlite:')) return url === 'sqlite://' ? 'must have a path after sqlite://' : undefined;
  const address = URL.parse(url);
  if (address === null) return 'is not an address';
  const isNamed = /^\/./.test(address.pathname);
  return isNamed ? undefined : 'must name a database: postgres://user:password@host/database';
}

function readProxies(config: z.output<typeof Environment>): Proxies | undefined {
  const { HTTPS_PROXY: httpsProxy = '', HTTP_PROXY: httpProxy = '', NO_PROXY: noProxy = '' } = config;
  return httpsProxy === '' && httpProxy === ''
    ? undefined
    : {
        httpsProxy,
        httpProxy,
        noProxy: [noProxy, ...listHostsIn(noProxy, config)].filter(Boolean).join(','),
      };
}

/** Our own hosts that are addresses in a network of NO_PROXY, such as 10.0.0.0/8. The client for proxies compares names only. */
function listHostsIn(noProxy: string, config: z.output<typeof Environment>): string[] {
  const networks = new BlockList();
  for (const entry of noProxy.split(/[,\s]+/)) {
    const [network = '', bits = ''] = entry.split('/');
    const family = isIP(network);
    if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) continue;
    networks.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  }
  const { SLACK_API_URL, SERVICE_BASE_URL, SERVICE_SIGNUP_URL, SERVICE_AUTH_URL, SERVICE_SITE_URL } = config;
  const addresses = [SLACK_API_URL, SERVICE_BASE_URL, SERVICE_SIGNUP_URL, SERVICE_AUTH_URL, SERVICE_SITE_URL];
  const others = config.SLACK_RESPONSE_HOSTS.split(',').map((host) => `https://${host.trim()}`);
  const hosts = [...addresses, ...others].map((address = '') =>
    (URL.parse(address)?.hostname ?? '').replace(/^\[|\]$/g, ''),
  );
  return [...new Set(hosts)].filter((host) => {
    const family = isIP(host);
    return family !== 0 && networks.check(host, family === 4 ? 'ipv4' : 'ipv6');
  });
}

/**
 * Deckhand's OAuth client at the service (API 5.3, docs/service-api.md), and the main site, which has the metadata.
 * Undefined unless its three variables are set.
 */
export function readOauthClient(
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

/** Finds faults between variables that may each be valid alone. */
function findContradictions(values: Values): string[] {
  const { SLACK_BOT_TOKEN: token, SLACK_SIGNING_SECRET: signingSecret } = values;
  const { data: port } = Environment.shape.PORT.safeParse(values.PORT);
  const { data: metricsPort } = Environment.shape.METRICS_PORT.safeParse(values.METRICS_PORT);
  const { data: interval } = Environment.shape.POLL_INTERVAL_MS.safeParse(values.POLL_INTERVAL_MS);
  const isOauth = Boolean(values.SLACK_CLIENT_ID ?? values.SLACK_CLIENT_SECRET);
  // The service recommends an interval of 2 to 3 seconds. A service on this machine takes any.
  const isAllowed =
    interval === undefined ||
    (interval >= 2000 && interval <= 3000) ||
    isLoopbackBaseUrl(values.SERVICE_BASE_URL ?? '');
  const isHalf = (one: string, other: string) => values[one] !== undefined && values[other] === undefined;
  const pairs = ['SLACK_CLIENT', 'SERVICE_OAUTH_CLIENT'].flatMap((client) => [
    [`${client}_ID`, `${client}_SECRET`] as const,
    [`${client}_SECRET`, `${client}_ID`] as const,
  ]);
  const faults = [
    !values.SLACK_APP_TOKEN &&
      !signingSecret &&
      'SLACK_SIGNING_SECRET is required, unless SLACK_APP_TOKEN switches Socket Mode on',
    values.MCP === 'on' &&
      !signingSecret &&
      'SLACK_SIGNING_SECRET is required if MCP is on: Slack signs its requests, and sends them over HTTP',
    token &&
      isOauth &&
      'SLACK_BOT_TOKEN excludes SLACK_CLIENT_ID and SLACK_CLIENT_SECRET: one workspace, or many',
    !token &&
      !isOauth &&
      'SLACK_BOT_TOKEN is required, or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for many workspaces',
    !isAllowed &&
      'POLL_INTERVAL_MS must be from 2000 to 3000, unless the host of SERVICE_BASE_URL is loopback',
    port !== undefined && metricsPort === port && port !== 0 && 'METRICS_PORT must not be PORT',
    ...pairs.map(([one, other]) => isHalf(one, other) && `${other} is required with ${one}`),
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

/** Makes a zod check of a function that returns a fault. */
function checkWith(find: (value: string) => string | undefined): z.core.CheckFn<string> {
  return ({ value, issues }) => {
    const message = find(value);
    if (message !== undefined) issues.push({ code: 'custom', input: value, message });
  };
}

/** Reads Deckhand's version from package.json, which is beside `src` and beside the bundle. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
