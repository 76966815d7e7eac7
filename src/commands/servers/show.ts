import { z } from 'zod';
import { code } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import { rememberServers } from '../../records/servers.ts';
import type { SkippedRows } from '../../service/call.ts';
import { getBuildConfiguration, getServer } from '../../service/servers.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { buildMessage, serverMessage } from '../../views/servers/server.ts';
import { defineMenu } from '../action.ts';
import { defineCommand } from '../command.ts';
import { serverPicker } from '../option-sources.ts';
import { replyPrivately } from '../replies.ts';
import { resolveServer } from '../targets/targets.ts';

export const serverShow = defineCommand({
  name: 'server show',
  phrase: 'shows a server, or a build configuration',
  synonyms: ['server list', 'servers'],
  alone: 'server',
  summary: 'Shows a server of a project, with the state of a managed one',
  usage: '[server] [project]',
  examples: ['server show', 'server show web-1', 'server show web-1 storefront'],
  role: 'member',
  target: 'server',
  rest: true,
  args: z.object({ server: z.string().optional(), project: z.string().optional() }),
  async run(_, context, { account, project, server: serverText }) {
    const { identifier } = await resolveServer(context, account, project, serverText);
    const server = await context.workspace.accounts.use(
      account,
      (client) => getServer(client, projectId(project), identifier),
      { what: `server ${code(serverText ?? identifier)} in ${code(project.permalink)}`, list: 'projects' },
    );
    const { name } = server;
    const tested = { identifier: server.identifier, name: name.slice(0, 200) };
    return replyPrivately(serverMessage(server, { account: account.name, project, server: tested }));
  },
  optionSources: [serverPicker],
  actions: [defineMenu('server', (server) => ({ server, isAnswer: true }))],
});

/** The service lists no build configurations, so no menu can offer them. */
const WHERE_IDENTIFIERS_ARE = 'Which build? Copy the id from the end of the build settings page’s address.';

export const build = defineCommand({
  name: 'build',
  phrase: 'shows a server, or a build configuration',
  synonyms: ['builds'],
  summary: 'Shows a build configuration: its languages and versions, and its servers',
  usage: '<id> [project]',
  examples: ['build 5f8a2c31 storefront'],
  role: 'member',
  target: 'project',
  rest: true,
  args: z.object({
    id: z.custom<string>((id) => typeof id === 'string', WHERE_IDENTIFIERS_ARE),
    project: z.string().optional(),
  }),
  async run({ id }, { workspace }, { account, project }) {
    const skipped: SkippedRows[] = [];
    const configuration = await workspace.accounts.use(
      account,
      (client) => getBuildConfiguration(client, projectId(project), id, { skipped }),
      { what: `build configuration ${code(id)} in ${code(project.permalink)}`, list: 'projects' },
    );
    await rememberServers(workspace.store, account.name, project, configuration.servers);
    return replyPrivately(withSkipped(buildMessage(account.name, project, configuration), skipped));
  },
});
