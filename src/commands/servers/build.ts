import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { SkippedRows } from '../../service/call.ts';
import { getBuildConfiguration } from '../../service/servers.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { buildMessage } from '../../views/servers/server.ts';
import { defineCommand } from '../command.ts';
import { projectOf } from '../resolve-target.ts';

/** The service lists no build configurations, so no menu can offer them. */
const WHERE_IDENTIFIERS_ARE = 'Which build? Its id ends the page’s address in build settings.';

export const build = defineCommand({
  name: 'build',
  summary: 'Shows a build configuration: its languages and versions, and its servers',
  usage: '[id] [project]',
  examples: ['build 5f8a2c31 storefront'],
  role: 'member',
  needsAccount: true,
  args: z.object({ id: z.string().optional(), project: z.string().optional() }),
  async run({ id, project: named }, context) {
    if (id === undefined) throw new UserError(WHERE_IDENTIFIERS_ARE, 'build <id> [project]');
    const { account, project } = await projectOf(context, named);
    const skipped: SkippedRows[] = [];
    const configuration = await context.workspace.accounts.use(
      account,
      (client) => getBuildConfiguration(client, project.permalink, id, { skipped }),
      { what: `build configuration ${code(id)} in ${code(project.permalink)}`, list: 'projects' },
    );
    const message = buildMessage(account.name, project, configuration);
    return { kind: 'private', message: withSkipped(message, skipped) };
  },
});
