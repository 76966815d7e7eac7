import type { KnownBlock } from '../../core/message.ts';
import { bold, code, mrkdwn } from '../../core/mrkdwn.ts';
import type { Project } from '../../service/projects.ts';
import type { Server } from '../../service/servers.ts';
import { buttons, context, section } from '../blocks/message.ts';
import { dateTime } from '../blocks/time.ts';
import { testButton } from '../projects/test-button.ts';
import { factLines, managedFacts } from '../servers/server.ts';
import { runWords, type ShownRun } from '../test-access/runs.ts';

/** The preview under a link to a project. */
export function projectUnfurl(
  account: string,
  project: Pick<Project, 'name' | 'permalink' | 'last_deployed_at'>,
  latest: ShownRun | undefined,
): KnownBlock[] {
  const deployed =
    project.last_deployed_at === null
      ? 'Never deployed'
      : `Last deployed ${dateTime(project.last_deployed_at)}`;
  const tested = latest === undefined ? 'Not tested with Deckhand yet' : `Test access: ${runWords(latest)}`;
  return [
    section(`${bold(project.name)}\n${deployed}\n${tested}`),
    context(`Project ${code(project.permalink)}`, `account ${code(account)}`),
    ...buttons(testButton({ account, project: { permalink: project.permalink, name: project.name } })),
  ];
}

/** The preview under a link to a server: its status, because that changes. */
export function serverUnfurl(account: string, project: string, server: Server): KnownBlock[] {
  const { identifier, name } = server;
  const target = { account, project: { permalink: project, name: project }, server: { identifier, name } };
  const status = managedFacts(server).filter(([name]) => name === 'Status');
  const facts = status.length === 0 ? '' : `\n${factLines(status)}`;
  return [
    section(`${bold(server.name)}  ${mrkdwn(server.protocol_type.replaceAll('_', ' '))}${facts}`),
    context(`Server ${code(server.identifier)}`, `project ${code(project)}`, `account ${code(account)}`),
    ...buttons(testButton(target)),
  ];
}
