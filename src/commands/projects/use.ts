import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { say } from '../../views/blocks/message.ts';
import { findProject, ProjectNeeded } from '../../workspace/projects.ts';
import { defineCommand } from '../command.ts';
import { accountOf } from '../resolve-target.ts';

export const use = defineCommand({
  name: 'use',
  summary: 'Binds this channel to a project, so that commands need not name it',
  usage: '<project>|none',
  examples: ['use storefront', 'use none'],
  role: 'operator',
  needsAccount: true,
  durable: true,
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async run({ project: named }, context) {
    const { caller, workspace } = context;
    const { channel, user } = caller;
    if (channel === undefined) throw new UserError('Use this in the channel that it is about.');
    if (named?.toLowerCase() === 'none') {
      await workspace.channels.change(channel, ({ project: _, account: __, ...rest }) => rest);
      return {
        kind: 'channel',
        isDone: true,
        message: say(`<@${user}> unbound this channel: commands need to name their project.`),
        audit: { target: 'none' },
      };
    }
    const account = await accountOf(context);
    const projects = await workspace.projects.look(account);
    const project = findProject(projects, named ?? context.project);
    if (project === undefined) throw new ProjectNeeded(projects);
    const { permalink, name } = project;
    await workspace.channels.change(channel, (current) => ({
      ...current,
      account: account.name,
      project: { permalink, name },
    }));
    const target = `${account.name}/${permalink}`;
    const said = `:pushpin: <@${user}> bound this channel to ${bold(name)} (${code(permalink)}) of ${code(account.name)}.`;
    return { kind: 'channel', isDone: true, message: say(said), audit: { target } };
  },
});
