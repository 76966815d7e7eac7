import type { Message } from '../../core/message.ts';
import { bold, code, count, linesWithin, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import type { Project } from '../../service/projects.ts';
import type { BuildConfiguration, Server } from '../../service/servers.ts';
import { LIMITS } from '../blocks/limits.ts';
import { listBlocks } from '../blocks/lists.ts';
import { context, header, section } from '../blocks/message.ts';
import { hostWords, shortRevision } from './server.ts';

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
      section(
        versions.length === 0
          ? 'No languages or tools are set.'
          : linesWithin(versions, LIMITS.sectionText, 'more languages and tools'),
      ),
      section(servers.length === 0 ? '*No servers* use it.' : `*${count(servers.length, 'server')}*`),
      ...listBlocks(servers.map(serverLine), 'more servers'),
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
  const login = server.username
    ? `${code(server.username, 40)}${server.use_ssh_keys ? ' with SSH keys' : ''}`
    : undefined;
  const second = [
    login,
    server.server_path ? code(server.server_path, 120) : undefined,
    server.preferred_branch ? `branch ${code(server.preferred_branch, 60)}` : undefined,
    server.last_revision === undefined ? undefined : `revision ${shortRevision(server.last_revision)}`,
    server.server_group_identifier ? `group ${code(server.server_group_identifier, 60)}` : undefined,
    server.notify_email ? 'notifies by e-mail' : undefined,
    server.host_key ? `host key ${hostKeyWords(server.host_key)}` : undefined,
  ];
  const lines = [first.filter(Boolean).join('  '), second.filter(Boolean).join(', ')];
  return lines.filter(Boolean).join('\n      ');
}

const SHOWN_KEY = 12;

/** The kind of key and its end, because all keys begin alike. A short text is shown whole. */
export function hostKeyWords(key: string): string {
  const line = sanitize(key, 10_000);
  const parts = line.split(' ');
  const at = parts.findIndex((part) => part.length > 40);
  const body = parts[at];
  if (body === undefined) return code(line, 60);
  const kind = parts[at - 1];
  const end = `…${body.slice(-SHOWN_KEY)}`;
  return code(kind === undefined ? end : `${kind} ${end}`, 60);
}
