import type { Button } from '@slack/types';
import type { KnownBlock, Message, News } from '../../core/message.ts';
import { beginningOf, bold, code, count, dateTime, duration, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import type { Target } from '../../records/test-runs.ts';
import type { Project } from '../../service/projects.ts';
import { type BuildConfiguration, managedStatus, type Server } from '../../service/servers.ts';
import { listBlocks } from '../blocks/lists.ts';
import { button, buttons, context, header, linkButton, say, section, UNENDED } from '../blocks/message.ts';

/** A server's record with the block of its managed protocol, or with how it is reached (API 2.5 and 2.9). */
export function serverMessage(server: Server, target: Target): Message {
  const facts = [...managedFacts(server), ...reachFacts(server), ...deployFacts(server)];
  return {
    text: `Server ${mrkdwn(server.name)} of ${mrkdwn(target.project.name)}`,
    blocks: [
      section(`${bold(server.name)}  ${mrkdwn(server.protocol_type)}`),
      ...(facts.length === 0 ? [] : [section(factLines(facts))]),
      ...buttons(testServerButton(target), siteButton(server)),
      context(
        `Identifier ${code(server.identifier)}`,
        `project ${code(target.project.permalink)}`,
        `account ${code(target.account)}`,
      ),
    ],
  };
}

export type Fact = readonly [name: string, words: string];

/** "Name  words" lines; `words` is mrkdwn, escaped. */
export function factLines(facts: readonly Fact[]): string {
  return facts.map(([name, words]) => `*${name}*  ${words}`).join('\n');
}

/** The facts of the managed block; none for any other server. */
export function managedFacts({ static_hosting: site, managed_vps: machine }: Server): Fact[] {
  const facts: Fact[] = [];
  const status = site?.status ?? machine?.status;
  if (status !== undefined) facts.push(['Status', `${statusIcon(status)} ${statusWords(status)}`]);
  if (site) {
    facts.push(['Address', mrkdwn(site.url, 300)], ['Subdomain', code(site.subdomain)]);
    facts.push(['Single-page app', site.spa_mode ? 'yes, every path shows the index page' : 'no']);
    const deployed = site.active_deployment_uuid;
    facts.push(['Active deployment', deployed === null ? 'none yet' : code(deployed)]);
    facts.push(['Website', code(site.hosted_website_identifier)]);
  }
  if (machine) {
    facts.push(['IP address', machine.ip_address === null ? 'none yet' : code(machine.ip_address)]);
    facts.push(['Region', code(machine.region)], ['Size', code(machine.size)]);
    facts.push(['Managed resource', code(machine.hosted_resource_identifier)]);
  }
  return facts;
}

/** Host and port as one types them; undefined where there is no host. */
export function hostWords(server: Pick<Server, 'hostname' | 'port'>): string | undefined {
  if (!server.hostname) return undefined;
  const host = server.hostname.includes(':') ? `[${server.hostname}]` : server.hostname;
  return code(server.port === null ? host : `${host}:${server.port}`, 160);
}

export function shortRevision(revision: string | null): string {
  return revision ? code(beginningOf(sanitize(revision, 80), 7), 7) : 'never deployed';
}

function reachFacts(server: Server): Fact[] {
  const host = hostWords(server);
  const facts: Fact[] = [];
  if (server.isDisabled) facts.push(['Disabled', ':no_entry_sign: nothing is deployed to it']);
  if (server.connectionError !== undefined)
    facts.push(['Last connection error', mrkdwn(server.connectionError, 300)]);
  if (host === undefined) return facts;
  const login = server.username ? ` as ${code(server.username)}` : '';
  return [...facts, ['Host', `${host}${login}${server.use_ssh_keys ? ', with SSH keys' : ''}`]];
}

function deployFacts(server: Server): Fact[] {
  const facts: Fact[] = [];
  if (server.server_path) facts.push(['Path', code(server.server_path, 300)]);
  if (server.preferred_branch) facts.push(['Branch', code(server.preferred_branch)]);
  if (server.last_revision !== undefined) facts.push(['Revision', shortRevision(server.last_revision)]);
  if (server.server_group_identifier) facts.push(['Group', code(server.server_group_identifier)]);
  return facts;
}

export function testServerButton(target: Target): Button {
  return button('Test this server', 'test:server', { value: { target } });
}

/** None for a server without a site. */
export function siteButton({ static_hosting: site }: Server): Button | undefined {
  return linkButton('Open the site', 'link:site', site?.url);
}

/** The states of a hosted resource and a managed server, with their meanings (API 3.1, docs/service-api.md). */
const STATUSES: Readonly<Record<string, { icon: string; meaning: string }>> = {
  provisioning: { icon: ':hourglass_flowing_sand:', meaning: 'being created' },
  active: { icon: ':white_check_mark:', meaning: 'running and ready for deployments' },
  suspended: { icon: ':double_vertical_bar:', meaning: 'powered off, because the account is suspended' },
  disabled: { icon: ':no_entry_sign:', meaning: 'switched off' },
  error: { icon: ':x:', meaning: 'broken, because it could not be created or refreshed' },
  destroying: { icon: ':wastebasket:', meaning: 'being destroyed' },
};

/** "active: running and ready…", in mrkdwn; an unknown status is shown as it is. */
export function statusWords(status: string): string {
  const known = knownStatus(status);
  return known === undefined ? code(status, 60) : `*${status}*: ${known.meaning}`;
}

/** "running and ready…", to go on from "is". */
export function statusMeaning(status: string): string {
  return knownStatus(status)?.meaning ?? code(status, 60);
}

export function statusIcon(status: string): string {
  return knownStatus(status)?.icon ?? ':grey_question:';
}

function knownStatus(status: string): { icon: string; meaning: string } | undefined {
  return Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined;
}

/** What a project builds with, and the servers that use it (API 2.9, docs/service-api.md). */
export function buildMessage(
  account: string,
  project: Pick<Project, 'permalink' | 'name'>,
  configuration: BuildConfiguration,
): Message {
  const { packages, servers } = configuration;
  const kind = configuration.default ? 'Default build configuration' : 'Build configuration';
  const versions = Object.entries(packages).map(
    ([name, version]) => `${bold(name, 60)}  ${code(version, 60)}`,
  );
  return {
    text: `${kind} of ${mrkdwn(project.name)}: ${count(versions.length, 'package')}, ${count(servers.length, 'server')}`,
    blocks: [
      header(`${kind} of ${sanitize(project.name, 80)}`),
      ...listBlocks(versions.length === 0 ? ['No languages or tools are set.'] : versions),
      section(servers.length === 0 ? '*No servers* use it.' : `*${count(servers.length, 'server')}*`),
      ...listBlocks(servers.map(serverLine)),
      context(
        `Identifier ${code(configuration.identifier)}`,
        `project ${code(project.permalink)}`,
        `account ${code(account)}`,
        configuration.default ? 'used where no other is chosen' : 'not the default',
      ),
    ],
  };
}

function serverLine(server: Server): string {
  const first = [bold(server.name, 60), mrkdwn(server.protocol_type, 40), hostWords(server)];
  const second = [
    server.username && `${code(server.username, 40)}${server.use_ssh_keys ? ' with SSH keys' : ''}`,
    server.server_path && code(server.server_path, 120),
    server.preferred_branch && `branch ${code(server.preferred_branch, 60)}`,
    server.last_revision !== undefined && `revision ${shortRevision(server.last_revision)}`,
    server.server_group_identifier && `group ${code(server.server_group_identifier, 60)}`,
    server.notify_email && 'notifies by e-mail',
    server.host_key && `host key ${code(server.host_key, 60)}`,
  ];
  const lines = [first.filter(Boolean).join('  '), second.filter(Boolean).join(', ')];
  return lines.filter(Boolean).join('\n      ');
}

/** A server of a project; `cost` in words. */
export type ServerTarget = Target & { server: NonNullable<Target['server']>; cost?: string | undefined };

/** The state of a followed managed server; `server` is its latest known record. */
export type ProvisioningState =
  | { kind: 'running'; server?: Server | undefined; trouble?: string | undefined }
  | { kind: 'ended'; server: Server }
  /** It could not be followed; `reason` is mrkdwn, escaped. */
  | { kind: 'stopped'; reason: string }
  /** No longer followed; it may still be created. */
  | { kind: 'lost'; server?: Server | undefined };

export interface ProvisioningView {
  target: ServerTarget;
  askedBy: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  now: number;
  state: ProvisioningState;
}

/** The root message: what is created, who asked, its state; buttons only once it has ended. */
export function provisioningMessage(view: ProvisioningView): Message {
  const { target, state } = view;
  const { icon, words } = headline(state);
  const name = `${bold(target.server.name)} in ${bold(target.project.name)}`;
  const elapsed = duration(view.now - view.startedAt);
  return {
    text: `Server ${name}: ${words}`,
    blocks: [
      section(`${icon} *Server* ${name}: ${words}`),
      ...detailBlocks(view),
      context(
        code(target.account),
        `asked by <@${view.askedBy}>`,
        `started ${dateTime(view.startedAt)}`,
        state.kind === 'running' ? `${elapsed} so far` : `took ${elapsed}`,
      ),
      ...buttonsOf(view),
    ],
  };
}

/** The first news of the thread. */
export function orderedNews(target: ServerTarget): News {
  const said = `:package: The service has accepted the order for ${bold(target.server.name)} and is creating it.`;
  return { key: 'ordered', message: say(said) };
}

/** The news of a state, once for each. */
export function statusNews(server: Server): News[] {
  const status = managedStatus(server);
  // The order is the news of the beginning already.
  if (status === undefined || status === 'provisioning') return [];
  const address = server.static_hosting?.url ?? server.managed_vps?.ip_address;
  const where = status === 'active' && address ? `, at ${mrkdwn(address, 300)}` : '';
  const said = `${statusIcon(status)} ${bold(server.name)} is ${statusMeaning(status)}${where}`;
  return [{ key: `status:${status.slice(0, 60)}`, message: say(said) }];
}

function headline(state: ProvisioningState): { icon: string; words: string } {
  if (state.kind === 'stopped' || state.kind === 'lost') return UNENDED[state.kind];
  const status = state.server === undefined ? 'provisioning' : managedStatus(state.server);
  if (status === undefined) return { icon: ':hourglass_flowing_sand:', words: 'no state given yet' };
  return { icon: statusIcon(status), words: mrkdwn(status, 60) };
}

/** What a channel reads of a server; `server show` has the rest. */
const TOLD: ReadonlySet<string> = new Set(['Address', 'IP address', 'Region', 'Size']);

function detailBlocks({ state, target }: ProvisioningView): KnownBlock[] {
  if (state.kind === 'stopped') return [section(state.reason)];
  const all = state.server === undefined ? [] : managedFacts(state.server);
  const facts: Fact[] = all.filter(([name]) => TOLD.has(name));
  if (target.cost !== undefined) facts.push(['Price', mrkdwn(target.cost)]);
  const trouble = state.kind === 'running' && state.trouble && `:warning: ${state.trouble}`;
  const note = state.kind === 'lost' ? LOST : trouble;
  return [...(facts.length === 0 ? [] : [section(factLines(facts))]), ...(note ? [context(note)] : [])];
}

const LOST = 'It took too long, so I stopped following it. The service may still be creating it.';

function buttonsOf({ state, target, askedBy, startedAt, now }: ProvisioningView): KnownBlock[] {
  if (state.kind === 'running') return [];
  if (state.kind === 'ended') return endedButtons(state.server, target);
  // `at` makes it another button each time: a used one stays used.
  const value = { target, askedBy, startedAt, at: now };
  return buttons(button('Check again', 'server.add:check', { style: 'primary', value }));
}

function endedButtons(record: Server, { account, project, server }: ServerTarget): KnownBlock[] {
  if (managedStatus(record) !== 'active') return [];
  return buttons(siteButton(record), testServerButton({ account, project, server }));
}
