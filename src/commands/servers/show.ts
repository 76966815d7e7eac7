import { z } from 'zod';
import { code } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import { rememberServers } from '../../records/known-servers.ts';
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
  synonyms: ['server list', 'servers', 'hosts', 'machines'],
  phrases: {
    'servers|server|hosts|machines|environments|nodes|boxes|targets of|in|for|on +': '$1',
    'what|which servers|hosts|machines|environments does|do|has|have|is|are|in|of|on|there|belong|for + have|there|in|on|to?':
      '$1',
    'which|what servers|hosts|machines|environments *': '',
    'is|are there a|any? server|servers|host|machine called|named? *': '',
    'list? all servers|hosts|machines of|in|for? *': '$1',
    'ssh|branch|branches|ip|hostname|port|path of|to|on|for? *': '$1',
    'what is the? ip|address|host|hostname|port|path|branch address|name? of|to|on|for +': '$1',
    'environments|nodes|boxes|targets|server|host|machine list|all?': '',
    'inspect|describe|info|details|about server|host|machine? +': '$1',
    'where does|is + live|run|deploy|deployed|hosted|running to?': '$1',
  },
  alone: 'server',
  summary: 'Shows a server of a project, with the state of a managed one',
  usage: '[server] [project]',
  examples: ['server show', 'server show web-1', 'server show web-1 storefront'],
  role: 'member',
  target: 'server',
  rest: true,
  args: z.object({ server: z.string().optional(), project: z.string().optional() }),
  async handle(_, context, { account, project, server: serverText }) {
    const { identifier } = await resolveServer(context, account, project, serverText);
    const server = await context.workspace.accounts.use(
      account,
      (client) => getServer(client, projectId(project), identifier),
      { what: `server ${code(serverText ?? identifier)} in ${code(project.permalink)}`, list: 'projects' },
    );
    const { name } = server;
    const tested = { identifier: server.identifier, name: name.slice(0, 200) };
    return replyPrivately(
      serverMessage(server, { account: account.name, project, server: tested }, context.workspace.pages),
    );
  },
  optionSources: [serverPicker],
  actions: [defineMenu('server', (server) => ({ server, isAnswer: true }))],
});

/** The service lists no build configurations, so no menu can offer them. */
const WHERE_IDENTIFIERS_ARE =
  'Which build configuration? The service lists none, so give its id: open it in the project’s build settings there, and copy the end of the page’s address.';

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
  async handle({ id }, { workspace }, { account, project }) {
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
