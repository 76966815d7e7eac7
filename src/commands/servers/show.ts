import { z } from 'zod';
import { outdated } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { getServer } from '../../service/servers.ts';
import { menuTarget } from '../../views/blocks/choices.ts';
import { serverMessage } from '../../views/servers/server.ts';
import { defineCommand } from '../command.ts';
import { serverPicker } from '../option-sources.ts';
import { projectOf, serverOf } from '../resolve-target.ts';

export const serverShow = defineCommand({
  name: 'server show',
  summary: 'Shows a server of a project, and how a managed one stands',
  usage: '[server] [project]',
  examples: ['server show', 'server show web-1', 'server show web-1 storefront'],
  role: 'member',
  needsAccount: true,
  positionals: ['server', 'project'],
  args: z.object({ server: z.string().optional(), project: z.string().optional() }),
  async run({ server: named, project: inProject }, context) {
    const { account, project } = await projectOf(context, inProject);
    const { permalink, name } = project;
    const { identifier } = await serverOf(context, account, permalink, named);
    const server = await context.workspace.accounts.use(
      account,
      (client) => getServer(client, permalink, identifier),
      { what: `server ${code(named ?? identifier)} in ${code(permalink)}`, list: 'projects' },
    );
    const target = {
      account: account.name,
      project: { permalink, name: name.slice(0, 200) },
      server: { identifier: server.identifier, name: server.name.slice(0, 200) },
    };
    return { kind: 'private', message: serverMessage(server, target) };
  },
  optionSources: [serverPicker],
  actions: [
    {
      actionId: 'server',
      role: 'member',
      durable: true,
      leadsTo: (blockId) => menuTarget(blockId)?.run,
      run: async (server, { blockId }) => chosen(server, blockId),
    },
  ],
});

/** A server picked from the menu of a message: what was typed runs again with it. */
function chosen(server: string | undefined, blockId: string): Reply {
  const { run: text, project, thread } = menuTarget(blockId) ?? {};
  if (text === undefined || server === undefined) throw outdated('menu');
  return { kind: 'run', text, server, thread, ...(project === undefined ? {} : { project }) };
}
