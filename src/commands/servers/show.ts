import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import { rememberServers } from '../../records/servers.ts';
import type { SkippedRows } from '../../service/call.ts';
import { getBuildConfiguration, getServer } from '../../service/servers.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { buildMessage, serverMessage } from '../../views/servers/server.ts';
import { type CommandContext, defineCommand, menuAction } from '../command.ts';
import { serverPicker } from '../option-sources.ts';
import { projectOf } from '../targets/project.ts';
import { serverOf, splitNames } from '../targets/server.ts';

export const serverShow = defineCommand({
  name: 'server show',
  summary: 'Shows a server of a project, and how a managed one stands',
  usage: '[server] [project]',
  examples: ['server show', 'server show web-1', 'server show web-1 storefront'],
  role: 'member',
  needsAccount: true,
  rest: true,
  args: z.object({ server: z.string().optional(), project: z.string().optional() }),
  async run({ server: named, project: inProject }, context) {
    const { account, project, server: typed } = await placeOf(context, named, inProject);
    const { identifier } = await serverOf(context, account, project, typed);
    const server = await context.workspace.accounts.use(
      account,
      (client) => getServer(client, projectId(project), identifier),
      { what: `server ${code(typed ?? identifier)} in ${code(project.permalink)}`, list: 'projects' },
    );
    const target = {
      account: account.name,
      project,
      server: { identifier: server.identifier, name: server.name.slice(0, 200) },
    };
    return { kind: 'private', message: serverMessage(server, target) };
  },
  optionSources: [serverPicker],
  actions: [menuAction('server', (server) => ({ server, isAnswer: true }))],
});

/** Server and project, also in the order of `test`. */
async function placeOf(context: CommandContext, server: string | undefined, inProject: string | undefined) {
  const words = [server, ...(inProject?.split(' ') ?? [])].filter((word) => word !== undefined);
  const split = await splitNames(context, words, 'server first');
  return { ...(await projectOf(context, split.named)), server: split.server };
}

/** The service lists no build configurations, so no menu can offer them. */
const WHERE_IDENTIFIERS_ARE = 'Which build? Its id ends the page’s address in build settings.';

export const build = defineCommand({
  name: 'build',
  summary: 'Shows a build configuration: its languages and versions, and its servers',
  usage: '[id] [project]',
  examples: ['build 5f8a2c31 storefront'],
  role: 'member',
  needsAccount: true,
  rest: true,
  args: z.object({ id: z.string().optional(), project: z.string().optional() }),
  async run({ id, project: named }, context) {
    if (id === undefined) throw new UserError(WHERE_IDENTIFIERS_ARE, 'build <id> [project]');
    const { account, project } = await projectOf(context, named);
    const skipped: SkippedRows[] = [];
    const configuration = await context.workspace.accounts.use(
      account,
      (client) => getBuildConfiguration(client, projectId(project), id, { skipped }),
      { what: `build configuration ${code(id)} in ${code(project.permalink)}`, list: 'projects' },
    );
    await rememberServers(context.workspace.store, account.name, project, configuration.servers);
    const message = buildMessage(account.name, project, configuration);
    return { kind: 'private', message: withSkipped(message, skipped) };
  },
});
