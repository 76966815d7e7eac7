import { execSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { ManifestError, manifestFor } from '../../scripts/slack-manifest.ts';
import { SlackManifest } from '../../scripts/slack-manifest-schema.ts';
import { readText } from '../support/deployment-files.ts';
import { openSurroundings } from '../support/surroundings.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const template = readText('manifest.yml');
const ADDRESS = 'https://bot.example.org';

const print = (...words: string[]) => SlackManifest.parse(parse(manifestFor(words, template)));

function faultsOf(words: readonly string[], source = template): string {
  try {
    manifestFor(words, source);
    return '';
  } catch (error) {
    if (error instanceof ManifestError) return error.message;
    throw error;
  }
}

describe('the printed manifest', () => {
  it('leads Slack to the given address wherever it asks for one, and nowhere else', () => {
    const text = manifestFor([`${ADDRESS}/`, '--oauth', '--unfurl-domain', 'example.org'], template);
    const addresses = [...new Set([...text.matchAll(/https:\/\/\S+/g)].map(([address]) => address))];
    expect(addresses.toSorted()).toEqual([`${ADDRESS}/slack/events`, `${ADDRESS}/slack/oauth_redirect`]);
    expect(text).not.toContain('example.com');
  });

  it('changes nothing but what was asked for', () => {
    const { oauth_config: oauth, ...rest } = print('https://deckhand.example.com');
    const { oauth_config: before, ...others } = parse(template);
    expect(rest).toEqual(others);
    expect(oauth).toEqual({ scopes: before.scopes });
    expect(manifestFor([ADDRESS], template)).toContain('# Steps for Workflow Builder.');
  });

  it('needs no address in Socket Mode, and takes another slash word and the domains of links', () => {
    const domains = ['one.example', 'two.example'];
    const unfurl = domains.flatMap((domain) => ['--unfurl-domain', domain]);
    const words = ['--socket-mode', '--command', '/ship', ...unfurl];
    const { features, settings } = print(...words);
    expect(settings.socket_mode_enabled).toBe(true);
    expect(manifestFor(words, template)).not.toContain('https://');
    expect(features.slash_commands[0]?.command).toBe('/ship');
    expect(features.unfurl_domains).toEqual(domains);
    expect(faultsOf([...words, ...unfurl, ...unfurl])).toContain('features.unfurl_domains');
  });

  it('has the install page’s address for many workspaces, in Socket Mode too', () => {
    const redirects = [`${ADDRESS}/slack/oauth_redirect`];
    expect(print(ADDRESS, '--oauth').oauth_config.redirect_urls).toEqual(redirects);
    expect(print(ADDRESS, '--oauth', '--socket-mode').oauth_config.redirect_urls).toEqual(redirects);
    expect(print(ADDRESS).oauth_config.redirect_urls).toBeUndefined();
  });

  it('has the server of the assistant’s tools and its scope, as operations.md asks for them', () => {
    const { mcp_servers: servers, oauth_config: oauth } = print(ADDRESS, '--mcp');
    expect(servers).toEqual({ deckhand: { url: `${ADDRESS}/mcp`, auth_type: 'slack_identity_auth' } });
    expect(oauth.scopes.bot).toContain('mcp:connect');
    expect(print(ADDRESS)).not.toHaveProperty('mcp_servers');
    const by = (url: string, amount = 1) =>
      `${template}mcp_servers:\n${Array.from({ length: amount }, (_, at) => `  s${at}: {url: ${url}, auth_type: no_auth}\n`).join('')}`;
    expect(faultsOf([ADDRESS], by(`${ADDRESS}/mcp`, 20))).toBe('');
    expect(faultsOf([ADDRESS], by(`${ADDRESS}/mcp`, 21))).toContain('more than 20');
    expect(faultsOf([ADDRESS], by('http://bot.example.org/mcp'))).toContain('mcp_servers.s0.url');
    expect(faultsOf([ADDRESS], by(`${ADDRESS}/${'m'.repeat(500)}`))).toContain('mcp_servers.s0.url');
  });

  it.each([
    ['no address', [], 'The public address of Deckhand is missing'],
    ['no address for many workspaces', ['--socket-mode', '--oauth'], 'is missing'],
    ['an address that Slack refuses', ['http://bot.example.org'], 'is not an https address'],
    ['an address with a path', [`${ADDRESS}/bot`], 'has more than a host'],
    ['two addresses', [ADDRESS, 'https://other.example.org'], 'is too much'],
    ['a domain that is an address', [ADDRESS, '--unfurl-domain', 'https://example.org'], 'is not a domain'],
  ])('refuses %s, and shows how it is used', (_, words, fault) => {
    expect(faultsOf(words)).toContain(fault);
    expect(faultsOf(words)).toContain('npm run --silent manifest -- <https address>');
  });
});

describe('the check of a manifest', () => {
  it.each([
    ['a name that is too long', 'name: Deckhand', `name: ${'D'.repeat(36)}`, 'display_information.name'],
    ['a key that Slack does not know', 'always_online: true', 'always_onlne: true', 'features.bot_user'],
    ['an event twice', '- link_shared', '- app_uninstalled', 'settings.event_subscriptions.bot_events'],
    ['links without the right to see them', '- links:read', '- users:read.email', 'features.unfurl_domains'],
  ])('finds %s', (_, from, to, path) => {
    expect(template).toContain(from);
    expect(faultsOf([ADDRESS], template.replace(from, to))).toContain(`The manifest's ${path}`);
  });

  it('asks for addresses where there is no Socket Mode', () => {
    const { settings, ...rest } = print('--socket-mode');
    const checked = SlackManifest.safeParse({
      ...rest,
      settings: { ...settings, socket_mode_enabled: false },
    });
    expect(checked.error?.issues.map(({ path }) => path.join('.'))).toEqual([
      'settings.event_subscriptions.request_url',
      'settings.interactivity.request_url',
      'features.slash_commands.0.url',
    ]);
  });
});

describe('the hooks of the Slack CLI', () => {
  const { hooks } = JSON.parse(readText('.slack/hooks.json')) as { hooks: Record<string, string> };
  const run = (hook: string, ...words: string[]) =>
    execSync([hook, ...words].join(' '), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  it('print a manifest for Socket Mode between the boundaries that the CLI names', () => {
    const printed = run(hooks['get-manifest'] ?? '', '--protocol=message-boundaries', '--boundary=edge');
    const [before, json = '', after] = printed.split('edge');
    expect([before, after]).toEqual(['', '']);
    const { features, settings } = SlackManifest.parse(JSON.parse(json));
    expect(settings.socket_mode_enabled).toBe(true);
    expect(features.slash_commands[0]).not.toHaveProperty('url');
    // The published schema does not know it.
    expect(features).not.toHaveProperty('rich_previews');
  });

  it('start Deckhand with the two tokens of the CLI, and end it within its five seconds', async () => {
    const { slack, close, ...around } = await openSurroundings({ socketMode: true });
    onTestFinished(close);
    const { SLACK_API_URL = '', ENCRYPTION_KEYS = '', STORE_URL = '', NODE_COMPILE_CACHE = '' } = around.env;
    const tokens = { SLACK_CLI_XAPP: slack.appToken, SLACK_CLI_XOXB: around.env.SLACK_BOT_TOKEN ?? '' };
    const settings = { SLACK_API_URL, ENCRYPTION_KEYS, STORE_URL, NODE_COMPILE_CACHE, HOST: '127.0.0.1' };
    // As the CLI does: split at spaces, joined again, by a shell; the signal goes to the shell alone.
    const script = (hooks.start ?? '').split(/\s+/).join(' ');
    const env = { PATH: process.env.PATH ?? '', ...settings, ...tokens };
    const shell = spawn('sh', ['-c', script], { env, stdio: 'ignore', cwd: ROOT });
    onTestFinished(() => void shell.kill('SIGKILL'));
    const ended = once(shell, 'exit');
    await slack.until(() => slack.connections().length === 1);
    const from = performance.now();
    shell.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(performance.now() - from).toBeLessThan(5_000);
    await slack.until(() => slack.connections().length === 0);
  });
});
