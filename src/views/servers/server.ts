import type { Button } from '@slack/types';
import type { KnownBlock, Message, News } from '../../core/message.ts';
import { bold, code, count, dateTime, duration, mrkdwn, sanitize, takeStart } from '../../core/mrkdwn.ts';
import { findProjectPage, type Pages } from '../../core/service-pages.ts';
import type { Draft } from '../../records/known-servers.ts';
import type { Target } from '../../records/test-runs.ts';
import type { Project } from '../../service/projects.ts';
import { type BuildConfiguration, managedStatus, type Server } from '../../service/servers.ts';
import { firstClause, splitReason } from '../blocks/formats.ts';
import { listBlocks } from '../blocks/lists.ts';
import {
  button,
  buttons,
  context,
  header,
  linkButton,
  notes,
  say,
  section,
  UNENDED,
} from '../blocks/make-blocks.ts';
import { linkName, projectLink, serverLink } from '../blocks/page-links.ts';

/** A server's record, with its managed block or its connection (API 2.5 and 2.9). */
export function serverMessage(server: Server, target: Target, pages?: Pages): Message {
  const facts = [...managedFacts(server), ...reachFacts(server), ...deployFacts(server)];
  const { account, project } = target;
  const place = { account, permalink: project.permalink };
  const protocol = describeProtocol(server.protocol_type);
  return {
    text: [`Server ${mrkdwn(server.name)} of ${mrkdwn(project.name)}`, protocol].filter(Boolean).join(', '),
    blocks: [
      section(
        `${serverLink(pages, place, server)} of ${projectLink(pages, account, project)}  ${protocol}`.trim(),
      ),
      ...factBlocks(facts),
      ...buttons(testServerButton(target), siteButton(server)),
      placeLine(server.identifier, target.account, target.project),
    ],
  };
}

/** "managed server", "static hosting", or the service's own word; mrkdwn. Empty for none. */
export function describeProtocol(type: string): string {
  if (type === '') return '';
  return type === 'managed_vps' ? 'managed server' : mrkdwn(type.replaceAll('_', ' '), 40);
}

/** A row of a record. `words` is escaped mrkdwn; a row without words is left out. */
export type Fact = readonly [name: string, words: string | false | null | undefined];

/** "*Name*  words" lines. */
export function factLines(facts: readonly Fact[]): string {
  const visible = facts.filter(([, words]) => words);
  return visible.map(([name, words]) => `*${name}*  ${words}`).join('\n');
}

function factBlocks(facts: readonly Fact[]): KnownBlock[] {
  const lines = factLines(facts);
  return lines === '' ? [] : [section(lines)];
}

/** The last line of a record: its identifier and its project. */
export function placeLine(
  identifier: string,
  account: string,
  project?: { permalink: string },
  note?: string,
): KnownBlock {
  const inProject = project && `project ${code(project.permalink)}`;
  return context(`Identifier ${code(identifier)}`, inProject, `account ${code(account)}`, note);
}

/** Facts of the managed block; empty for any other server. */
export function managedFacts({ static_hosting: site, managed_vps: machine }: Server): Fact[] {
  const status = site?.status ?? machine?.status;
  const siteFacts: Fact[] = site
    ? [
        ['Address', site.url && mrkdwn(site.url, 300)],
        ['Subdomain', code(site.subdomain)],
        ['Single-page app', site.spa_mode ? 'yes, every path shows the index page' : 'no'],
        ['Active deployment', codeOrNone(site.active_deployment_uuid)],
        ['Website', site.hosted_website_identifier && code(site.hosted_website_identifier)],
      ]
    : [];
  const machineFacts: Fact[] = machine
    ? [
        ['IP address', codeOrNone(machine.ip_address)],
        ['Region', code(machine.region)],
        ['Size', code(machine.size)],
        ['Managed server', machine.hosted_resource_identifier && code(machine.hosted_resource_identifier)],
      ]
    : [];
  return [['Status', status && describeStatus(status)], ...siteFacts, ...machineFacts];
}

export function codeOrNone(text: string | null): string {
  return text === null ? 'none yet' : code(text);
}

/** Host and port in the form that people type; undefined without a host. */
function hostWords(server: Pick<Server, 'hostname' | 'port'>): string | undefined {
  if (!server.hostname) return undefined;
  const host = server.hostname.includes(':') ? `[${server.hostname}]` : server.hostname;
  return code(server.port === null ? host : `${host}:${server.port}`, 160);
}

export function shortRevision(revision: string | null): string {
  return revision ? code(takeStart(sanitize(revision, 80), 7), 7) : 'never deployed';
}

function reachFacts(server: Server): Fact[] {
  const { connectionError, connectionCheckedAt: at, isDisabled, use_ssh_keys, username } = server;
  const checked = at === undefined ? '' : `, checked ${dateTime(at)}`;
  const host = hostWords(server);
  const login = `${username ? ` as ${code(username)}` : ''}${use_ssh_keys ? ', with SSH keys' : ''}`;
  return [
    ['Disabled', isDisabled && ':no_entry_sign: nothing is deployed to it'],
    ['Last connection error', connectionError !== undefined && `${mrkdwn(connectionError, 300)}${checked}`],
    ['Host', host && `${host}${login}`],
  ];
}

function deployFacts(server: Server): Fact[] {
  const { last_revision, preferred_branch, server_group_identifier, server_path } = server;
  return [
    ['Path', server_path && code(server_path, 300)],
    ['Branch', preferred_branch && code(preferred_branch)],
    ['Revision', last_revision !== undefined && shortRevision(last_revision)],
    ['Group', server_group_identifier && code(server_group_identifier)],
  ];
}

function testServerButton(target: Target): Button {
  return button('Test this server', 'test:server', { value: { target } });
}

/** Empty for a server without a site. */
function siteButton({ static_hosting: site }: Server): Button | undefined {
  return linkButton('Open the site', 'link:site', site?.url);
}

/** States of a hosted resource and a managed server, with their meanings (API 3.1, docs/service-api.md). */
const STATUSES: ReadonlyMap<string, { icon: string; meaning: string }> = new Map(
  Object.entries({
    provisioning: { icon: ':hourglass_flowing_sand:', meaning: 'being created' },
    active: { icon: ':white_check_mark:', meaning: 'running and ready for deployments' },
    suspended: { icon: ':double_vertical_bar:', meaning: 'powered off, because the account is suspended' },
    disabled: { icon: ':no_entry_sign:', meaning: 'switched off' },
    error: { icon: ':x:', meaning: 'broken, because it could not be created or refreshed' },
    destroying: { icon: ':wastebasket:', meaning: 'being destroyed' },
  }),
);

/** A status with its icon, as mrkdwn. */
export function describeStatus(status: string): string {
  return `${statusIcon(status)} ${statusWords(status)}`;
}

/** "active: running and ready…", in mrkdwn. An unknown status stays as it is. */
export function statusWords(status: string): string {
  const meaning = STATUSES.get(status)?.meaning;
  return meaning === undefined ? code(status, 60) : `*${status}*: ${meaning}`;
}

/** "running and ready…", for use after "is". */
function statusMeaning(status: string): string {
  return STATUSES.get(status)?.meaning ?? code(status, 60);
}

function statusIcon(status: string): string {
  return STATUSES.get(status)?.icon ?? ':grey_question:';
}

/** Languages and tools of a project's build, and its servers (API 2.9, docs/service-api.md). */
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
    text: `${kind} of ${mrkdwn(project.name)}`,
    blocks: [
      header(`${kind} of ${sanitize(project.name, 80)}`),
      ...listBlocks(versions.length === 0 ? ['No languages or tools are set.'] : versions),
      section(servers.length === 0 ? '*No servers* use it.' : `*${count(servers.length, 'server')}*`),
      ...listBlocks(servers.map(serverLine)),
      placeLine(
        configuration.identifier,
        account,
        project,
        configuration.default ? 'used if no other is chosen' : 'not the default',
      ),
    ],
  };
}

function serverLine(server: Server): string {
  const first = [bold(server.name, 60), describeProtocol(server.protocol_type), hostWords(server)];
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

/** A server of a project, with `cost` as text and the `names` of its region and size. */
export type ServerTarget = Target & { server: NonNullable<Target['server']> } & Pick<Draft, 'cost' | 'names'>;

/** State of a followed managed server; `server` is its latest known record. */
export type ProvisioningState =
  | { kind: 'running'; server?: Server | undefined; trouble?: string | undefined }
  | { kind: 'ended'; server: Server }
  /** Following failed; `reason` is escaped mrkdwn. */
  | { kind: 'stopped'; reason: string }
  /** Deckhand no longer follows it. The service may still create it. */
  | { kind: 'lost'; server?: Server | undefined };

export interface ProvisioningView {
  target: ServerTarget;
  /** Undefined for a message without links. */
  pages?: Pages | undefined;
  requestedBy: string;
  /** True to name the account in the headline. */
  isAccountShown?: boolean | undefined;
  /** Milliseconds since the epoch. */
  startedAt: number;
  now: number;
  state: ProvisioningState;
}

/** The root message: the server, its state and the person. Buttons appear once following has ended. */
export function provisioningMessage(view: ProvisioningView): Message {
  const { target, state, pages } = view;
  const { icon, words } = drawServerHeadline(state);
  const account = view.isAccountShown ? ` in ${mrkdwn(target.account)}` : '';
  const { permalink, name: project } = target.project;
  const page = findProjectPage(pages, { account: target.account, permalink });
  const own = pages?.server(target.account, permalink, target.server.identifier);
  const name = `${linkName(mrkdwn(target.server.name, 80), own)} in ${linkName(mrkdwn(project, 80), page)}${account}`;
  const title = `Server ${name} ${words}`;
  const elapsed = duration(view.now - view.startedAt);
  return {
    text: title,
    blocks: [
      section(`${icon} *${title}*`),
      ...detailBlocks(view),
      context(
        [
          code(target.account),
          `asked by <@${view.requestedBy}>`,
          `started ${dateTime(view.startedAt)}`,
          state.kind === 'running' ? `${elapsed} so far` : `took ${elapsed}`,
        ].join(' · '),
      ),
      ...drawServerButtons(view),
    ],
  };
}

/** The first reply in the thread. */
export function orderedNews(target: ServerTarget): News {
  const text = `:package: The service has accepted the order for ${bold(target.server.name)} and is creating it.`;
  return { key: 'ordered', message: say(text) };
}

/** One reply for each state. */
export function statusNews(server: Server): News[] {
  const status = managedStatus(server);
  // The first reply already announced the order.
  if (status === undefined || status === 'provisioning') return [];
  const address = server.static_hosting?.url ?? server.managed_vps?.ip_address;
  const where = status === 'active' && address ? `, at ${mrkdwn(address, 300)}` : '';
  const text = `${statusIcon(status)} ${bold(server.name)} is ${statusMeaning(status)}${where}`;
  return [{ key: `status:${status.slice(0, 60)}`, message: say(text) }];
}

/** "is being created", "is active: running and ready for deployments" */
function drawServerHeadline(state: ProvisioningState): { icon: string; words: string } {
  if (state.kind === 'lost') return UNENDED.lost;
  if (state.kind === 'stopped') {
    const { icon } = UNENDED.stopped;
    return { icon, words: `${UNENDED.lost.words}: ${firstClause(state.reason)}` };
  }
  const status = readStatus(state.server);
  if (status === 'provisioning') return { icon: statusIcon(status), words: 'is being created' };
  const meaning = STATUSES.get(status)?.meaning;
  const words = meaning === undefined ? `has the status ${mrkdwn(status, 60)}` : `is ${status}: ${meaning}`;
  return { icon: statusIcon(status), words: status === 'error' ? `has an error: it is ${meaning}` : words };
}

function readStatus(server: Server | undefined): string {
  return (server && managedStatus(server)) ?? 'provisioning';
}

/** The facts that a channel sees; `server show` has the others. */
const PUBLIC_FACTS: ReadonlySet<string> = new Set(['Address', 'IP address', 'Region', 'Size']);

function detailBlocks({ state, target }: ProvisioningView): KnownBlock[] {
  if (state.kind === 'stopped') {
    const [, others] = splitReason(state.reason);
    return others === '' ? [] : [section(others)];
  }
  const all = state.server === undefined ? [] : managedFacts(state.server);
  const { region, size } = target.names ?? {};
  const chosen: Readonly<Record<string, string | undefined>> = { Region: region, Size: size };
  const facts = all
    .filter(([name]) => PUBLIC_FACTS.has(name))
    .map(([name, words]): Fact => {
      const label = chosen[name];
      return [name, label === undefined ? words : mrkdwn(label)];
    });
  const price: Fact = ['Price', target.cost !== undefined && mrkdwn(target.cost)];
  const trouble = state.kind === 'running' && state.trouble && `:warning: ${state.trouble}`;
  const isBroken = state.kind === 'ended' && managedStatus(state.server) === 'error';
  const next = [isBroken && BROKEN, state.kind === 'lost' && LOST];
  return [...factBlocks([...facts, price]), ...notes(trouble, ...next)];
}

const BROKEN = 'Its page at the service may say why. If not, ask the service’s support.';
const LOST = 'It took too long. The service may still be creating it.';

function drawServerButtons({ state, target, requestedBy, startedAt, now }: ProvisioningView): KnownBlock[] {
  if (state.kind === 'running') return [];
  if (state.kind === 'ended') return endedButtons(state.server, target);
  // `at` makes the new button differ, because a used button stays used.
  const value = { target, requestedBy, startedAt, at: now };
  return buttons(button('Check again', 'server.add:check', { style: 'primary', value }));
}

function endedButtons(record: Server, { account, project, server }: ServerTarget): KnownBlock[] {
  if (managedStatus(record) !== 'active') return [];
  return buttons(siteButton(record), testServerButton({ account, project, server }));
}
