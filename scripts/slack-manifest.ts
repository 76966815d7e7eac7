import { parseArgs } from 'node:util';
import { type Document, parseDocument } from 'yaml';
import { SlackManifest } from './slack-manifest-schema.ts';

export const USAGE = `npm run --silent manifest -- <https address> [options]

  --socket-mode             for Socket Mode; without --oauth no address is needed
  --oauth                   for many workspaces, which install Deckhand at <address>/slack/install
  --unfurl-domain <domain>  the domain of your accounts, whose links show their state; up to five times
  --mcp                     with MCP=on: the tools for Slack's assistant, at <address>/mcp
  --command </word>         the slash word; set SLACK_COMMAND to the same
  --slack-cli               for \`slack run\`: Socket Mode, as JSON, of what Slack's published schema (1.0.0) knows`;

/** What is wrong with the words or with the manifest, as the person at the terminal reads it. */
export class ManifestError extends Error {
  readonly code = 'manifest_error';

  constructor(faults: readonly string[]) {
    super(`${faults.join('\n')}\n\n${USAGE}`);
    this.name = 'ManifestError';
  }
}

interface Wanted {
  /** The public origin, without a slash at its end; undefined where Slack needs no way in. */
  address: string | undefined;
  isSocketMode: boolean;
  isOauth: boolean;
  unfurlDomains: readonly string[];
  command: string | undefined;
  isForSlackCli: boolean;
  hasMcp: boolean;
}

/**
 * The template with address, domains and slash word set, comments kept, checked against Slack's limits.
 *
 * @throws ManifestError naming every fault at once
 */
export function manifestFor(words: readonly string[], template: string): string {
  const document = parseDocument(template);
  const wanted = readWishes(words);
  applyWishes(document, wanted);
  const checked = SlackManifest.safeParse(document.toJS());
  if (checked.success)
    return wanted.isForSlackCli
      ? JSON.stringify(checked.data)
      : document.toString({ lineWidth: 120, flowCollectionPadding: false });
  throw new ManifestError(
    checked.error.issues.map(({ path, message }) => `The manifest's ${path.join('.')}: ${message}.`),
  );
}

function readWishes(words: readonly string[]): Wanted {
  const { values, positionals } = parseWords(words);
  const isForSlackCli = values['slack-cli'] ?? false;
  const isSocketMode = isForSlackCli || (values['socket-mode'] ?? false);
  const isOauth = values.oauth ?? false;
  const hasMcp = values.mcp ?? false;
  const [address, ...others] = positionals;
  const faults = [
    ...(others.length > 0 ? [`One address is enough: ${others.join(' ')} is too much.`] : []),
    ...addressFaults(address, !isSocketMode || isOauth || hasMcp),
    ...(values['unfurl-domain'] ?? [])
      .filter((domain) => !isDomain(domain))
      .map((domain) => `${domain} is not a domain such as example.com.`),
  ];
  if (values.command !== undefined && !/^\/[a-z0-9_-]{1,31}$/.test(values.command))
    faults.push(`${values.command} is not a slash word such as /deckhand.`);
  if (faults.length > 0) throw new ManifestError(faults);
  return {
    address: address?.replace(/\/$/, ''),
    isSocketMode,
    isOauth,
    unfurlDomains: values['unfurl-domain'] ?? [],
    command: values.command,
    isForSlackCli,
    hasMcp,
  };
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        'socket-mode': { type: 'boolean' },
        oauth: { type: 'boolean' },
        mcp: { type: 'boolean' },
        'unfurl-domain': { type: 'string', multiple: true },
        command: { type: 'string' },
        'slack-cli': { type: 'boolean' },
        // How the Slack CLI wants its hooks to answer.
        protocol: { type: 'string' },
        boundary: { type: 'string' },
      },
    });
  } catch (error) {
    throw new ManifestError([error instanceof Error ? error.message : String(error)]);
  }
}

function addressFaults(address: string | undefined, isNeeded: boolean): string[] {
  if (address === undefined) return isNeeded ? ['The public address of Deckhand is missing.'] : [];
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return [`${address} is not an https address, and Slack takes no other.`];
  if (address.replace(/\/$/, '') === url.origin) return [];
  return [`${address} has more than a host: Deckhand answers at the top of its address, ${url.origin}.`];
}

function isDomain(text: string): boolean {
  return /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(text);
}

function applyWishes(document: Document, wanted: Wanted): void {
  const slashCommand = ['features', 'slash_commands', 0];
  const events = ['settings', 'event_subscriptions'];
  const interactivity = ['settings', 'interactivity'];
  if (wanted.command !== undefined) document.setIn([...slashCommand, 'command'], wanted.command);
  if (wanted.unfurlDomains.length > 0)
    document.setIn(['features', 'unfurl_domains'], document.createNode(wanted.unfurlDomains));
  for (const path of [
    [...slashCommand, 'url'],
    [...events, 'request_url'],
    [...interactivity, 'request_url'],
    [...interactivity, 'message_menu_options_url'],
  ]) {
    if (wanted.isSocketMode) document.deleteIn(path);
    else document.setIn(path, `${wanted.address}/slack/events`);
  }
  document.setIn(['settings', 'socket_mode_enabled'], wanted.isSocketMode);
  const redirects = ['oauth_config', 'redirect_urls'];
  if (wanted.isOauth)
    document.setIn(redirects, document.createNode([`${wanted.address}/slack/oauth_redirect`]));
  else document.deleteIn(redirects);
  if (wanted.hasMcp) {
    const url = `${wanted.address}/mcp`;
    document.set('mcp_servers', document.createNode({ deckhand: { url, auth_type: 'slack_identity_auth' } }));
    document.addIn(['oauth_config', 'scopes', 'bot'], 'mcp:connect');
  }
  // Newer than the schema.
  if (wanted.isForSlackCli) document.deleteIn(['features', 'rich_previews']);
}
