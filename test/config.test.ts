import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from '../src/config.ts';

const key = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const good = {
  SLACK_SIGNING_SECRET: 'e'.repeat(32),
  SLACK_BOT_TOKEN: 'xoxb-1',
  SERVICE_BASE_URL: 'https://{account}.service.test',
  ENCRYPTION_KEYS: key,
};

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('the configuration', () => {
  it('takes the least there is, with the documented defaults', () => {
    expect(parseConfig(good)).toMatchObject({
      SLACK_API_URL: 'https://slack.com/api/',
      SLACK_COMMAND: '/deckhand',
      PORT: 3000,
      POLL_INTERVAL_MS: 2500,
      FOLLOW_TIMEOUT_MINUTES: 30,
      STORE_URL: 'sqlite://data/deckhand.sqlite',
      SERVICE_HOOK_TYPES: {},
    });
  });

  it('takes the tokens of `slack run`, after those of its own names', () => {
    const { SLACK_SIGNING_SECRET: _, SLACK_BOT_TOKEN: __, ...rest } = good;
    const cli = { SLACK_CLI_XAPP: 'xapp-cli', SLACK_CLI_XOXB: 'xoxb-cli' };
    expect(parseConfig({ ...rest, ...cli })).toMatchObject({
      SLACK_APP_TOKEN: 'xapp-cli',
      SLACK_BOT_TOKEN: 'xoxb-cli',
    });
    const own = { SLACK_APP_TOKEN: 'xapp-own', SLACK_BOT_TOKEN: 'xoxb-own' };
    expect(parseConfig({ ...rest, ...cli, ...own })).toMatchObject(own);
    expect(parseConfig({ ...rest, ...cli, SLACK_APP_TOKEN: '' }).SLACK_APP_TOKEN).toBe('xapp-cli');
  });

  it('takes the proxies of other programs, small letters first, and names no password of a wrong one', () => {
    const proxy = 'http://u:p@proxy.test:3128';
    expect(parseConfig({ ...good, HTTPS_PROXY: 'http://other', https_proxy: proxy }).proxies).toEqual({
      httpsProxy: proxy,
      httpProxy: '',
      noProxy: '',
    });
    expect(parseConfig({ ...good, NO_PROXY: 'x' }).proxies).toBeUndefined();
    const faults = faultsOf({
      ...good,
      HTTPS_PROXY: 'u:s3cret@proxy:3128',
      http_proxy: 'ftp://u:s3cret@proxy',
    });
    expect(faults).toEqual([
      'HTTPS_PROXY must be an address such as http://proxy.example.com:3128',
      'HTTP_PROXY must be an address such as http://proxy.example.com:3128',
    ]);
  });

  it.each([
    ['10.0.0.0/8, 2001:db8::/32', '10.1.2.3,2001:db8::5'],
    ['10.1.2.3/32', '10.1.2.3'],
    ['10.2.0.0/16 .internal', undefined],
    ['10.0.0.0/99,10/8,/8', undefined],
  ])('takes the networks of NO_PROXY=%s', (NO_PROXY, hosts) => {
    const env = {
      ...good,
      HTTPS_PROXY: 'http://proxy:3128',
      NO_PROXY,
      SERVICE_BASE_URL: 'https://10.1.2.3/{account}',
      SERVICE_SIGNUP_URL: 'https://[2001:db8::5]',
    };
    expect(parseConfig(env).proxies?.noProxy).toBe(hosts === undefined ? NO_PROXY : `${NO_PROXY},${hosts}`);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'GRPC'],
    ['OTEL_TRACES_EXPORTER', 'jaeger'],
    ['OTEL_TRACES_EXPORTER', 'otlp,jaeger'],
  ])('refuses %s=%s, which OpenTelemetry would ignore', (name, value) => {
    expect(faultsOf({ ...good, [name]: value })).toEqual([expect.stringMatching(`^${name} must be `)]);
    expect(faultsOf({ ...good, OTEL_TRACES_EXPORTER: 'otlp, console' })).toEqual([]);
  });

  it('says what a number, a switch or a level may be', () => {
    const wrong = {
      PORT: '70000',
      FOLLOW_TIMEOUT_MINUTES: '0',
      NOTICE_INTERVAL_MS: '1.5',
      MCP: 'yes',
      LOG_LEVEL: 'x',
      SERVICE_HOOK_TYPES: '{"a":1}',
    };
    expect(faultsOf({ ...good, ...wrong })).toEqual([
      'PORT must be a whole number from 0 to 65535',
      'SERVICE_HOOK_TYPES must be a JSON object of strings',
      'FOLLOW_TIMEOUT_MINUTES must be a number above 0',
      'NOTICE_INTERVAL_MS must be a whole number of at least 1',
      'MCP must be on or off',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
    ]);
  });

  it.each([
    ['a client without its secret', { SLACK_BOT_TOKEN: '', SLACK_CLIENT_ID: 'a' }, 'SLACK_CLIENT_SECRET'],
    ['a token beside a client', { SLACK_CLIENT_ID: 'a', SLACK_CLIENT_SECRET: 'b' }, 'SLACK_BOT_TOKEN'],
    ['plain http beyond loopback', { SERVICE_BASE_URL: 'http://{account}.example.com' }, 'SERVICE_BASE_URL'],
    ['a template without account', { SERVICE_BASE_URL: 'https://example.com' }, 'SERVICE_BASE_URL'],
    ['an account in the query', { SERVICE_BASE_URL: 'https://example.com/?a={account}' }, 'SERVICE_BASE_URL'],
    [
      'a sign-up address with a query',
      { SERVICE_SIGNUP_URL: 'https://example.com/?a=b' },
      'SERVICE_SIGNUP_URL',
    ],
    ['a bot token that is an app token', { SLACK_BOT_TOKEN: 'xapp-1-A' }, 'SLACK_BOT_TOKEN'],
    ['an app token that is a bot token', { SLACK_APP_TOKEN: 'xoxb-1' }, 'SLACK_APP_TOKEN'],
    ['an unknown store', { STORE_URL: 'mysql://x' }, 'STORE_URL'],
    [
      'a host that is an address',
      { SLACK_RESPONSE_HOSTS: 'https://hooks.slack.com' },
      'SLACK_RESPONSE_HOSTS',
    ],
    ['hook types that are no JSON', { SERVICE_HOOK_TYPES: '{' }, 'SERVICE_HOOK_TYPES'],
    ['a key that is too short', { ENCRYPTION_KEYS: 'k1:YWJj' }, 'ENCRYPTION_KEYS'],
    ['polling more often than the service recommends', { POLL_INTERVAL_MS: '1999' }, 'POLL_INTERVAL_MS'],
    ['polling less often than the service recommends', { POLL_INTERVAL_MS: '3001' }, 'POLL_INTERVAL_MS'],
    ['metrics on the port itself', { METRICS_PORT: '3000' }, 'METRICS_PORT'],
    [
      'the assistant without a secret',
      { MCP: 'on', SLACK_SIGNING_SECRET: '', SLACK_APP_TOKEN: 'xapp-1' },
      'SLACK_SIGNING_SECRET',
    ],
    ['a way to help that is no address', { SUPPORT_URL: 'javascript:alert(1)' }, 'SUPPORT_URL'],
    ['a database that is no address', { STORE_URL: 'postgres://a:b:c' }, 'STORE_URL'],
    ['a main site over plain http', { SERVICE_SITE_URL: 'http://www.service.test' }, 'SERVICE_SITE_URL'],
    ['a word in place of the bot token', { SLACK_BOT_TOKEN: 'foo' }, 'SLACK_BOT_TOKEN'],
    ["a person's token", { SLACK_BOT_TOKEN: 'xoxp-1-2' }, 'SLACK_BOT_TOKEN'],
    ['a signing secret of two words', { SLACK_SIGNING_SECRET: 'not set' }, 'SLACK_SIGNING_SECRET'],
    ['a database without host and name', { STORE_URL: 'postgres://' }, 'STORE_URL'],
    ['a database without name', { STORE_URL: 'postgres://deck:pass@db.test' }, 'STORE_URL'],
    ['a proxy with a bare % in its password', { HTTP_PROXY: 'http://u:50%@proxy:3128' }, 'HTTP_PROXY'],
    ['a proxy with a bare % in its user', { HTTPS_PROXY: 'http://a%zz:p@proxy:3128' }, 'HTTPS_PROXY'],
  ])('refuses %s', (_, env, name) => {
    expect(faultsOf({ ...good, ...env }).map((fault) => fault.split(' ')[0])).toContain(name);
  });

  it.each([
    ['SLACK_SIGNING_SECRET', good.SLACK_SIGNING_SECRET],
    ['SLACK_BOT_TOKEN', good.SLACK_BOT_TOKEN],
    ['ENCRYPTION_KEYS', key],
    ['SERVICE_BASE_URL', good.SERVICE_BASE_URL],
    ['SERVICE_OAUTH_CLIENT_SECRET', 'canary'],
  ])('refuses %s in quotes, or with a comment behind it', (name, value) => {
    const env = { ...good, SERVICE_OAUTH_CLIENT_ID: 'a', SERVICE_OAUTH_CLIENT_SECRET: 'b' };
    for (const quote of [`"`, `'`])
      expect(faultsOf({ ...env, [name]: `${quote}${value}${quote}` })).toEqual([
        `${name} is in quotes; write it without them`,
      ]);
    expect(faultsOf({ ...env, [name]: `${value} # from the vault` })).toEqual([
      `${name} has a comment behind it; write that on a line of its own`,
    ]);
  });

  it.each([
    ['a signing secret of any form', { SLACK_SIGNING_SECRET: 'shared.secret' }],
    [
      'many workspaces without a public address',
      { SLACK_BOT_TOKEN: '', SLACK_CLIENT_ID: '1.2', SLACK_CLIENT_SECRET: 'b' },
    ],
    ['http on loopback', { SERVICE_BASE_URL: 'http://127.0.0.1:4000/{account}' }],
    ['http on a name of this machine', { SERVICE_BASE_URL: 'http://{account}.localhost:4000' }],
    ['polling every two seconds', { POLL_INTERVAL_MS: '2000' }],
    ['polling every three seconds', { POLL_INTERVAL_MS: '3000' }],
    [
      'quick polling of a service on this machine',
      { POLL_INTERVAL_MS: '40', SERVICE_BASE_URL: 'http://{account}.localhost:4000' },
    ],
    ['two hosts, one with a port', { SLACK_RESPONSE_HOSTS: 'hooks.slack.com, 127.0.0.1:4100' }],
    ['a token that rotates', { SLACK_BOT_TOKEN: 'xoxe.xoxb-1-Mi0yLTk' }],
    ['a database by its socket', { STORE_URL: 'postgres:///deckhand?host=/run/postgresql' }],
    ['the service of the guide', { SERVICE_BASE_URL: 'https://{account}.example.com' }],
    ['the public address of the guide', { PUBLIC_URL: 'https://deckhand.example.com' }],
    ['the database of the guide', { STORE_URL: 'postgres://d:p@postgres.example.com/d' }],
    ['a proxy with %25 in its password', { HTTP_PROXY: 'http://u:50%25@proxy:3128' }],
    ['help by e-mail', { SUPPORT_URL: 'mailto:help@example.com' }],
    ['blank for not set', { SLACK_CLIENT_ID: ' ' }],
    ['a fraction of a minute', { FOLLOW_TIMEOUT_MINUTES: '0.05' }],
    ['socket mode without a signing secret', { SLACK_SIGNING_SECRET: '', SLACK_APP_TOKEN: 'xapp-1' }],
  ])('takes %s', (_, env) => {
    expect(faultsOf({ ...good, ...env })).toEqual([]);
  });
});
