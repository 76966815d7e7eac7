import { z } from 'zod';
import { outdated } from '../../core/errors.ts';
import type { SkippedRows } from '../../service/call.ts';
import { chosenText, chosenThread } from '../../views/blocks/inputs.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { projectsMessage } from '../../views/projects/projects.ts';
import { defineCommand } from '../command.ts';
import { projectPicker } from '../option-sources.ts';
import { accountOf } from '../resolve-target.ts';

export const projects = defineCommand({
  name: 'projects',
  summary: 'Lists the account’s projects, starred ones first',
  usage: '[filter]',
  examples: ['projects shop'],
  role: 'member',
  needsAccount: true,
  rest: true,
  args: z.object({ filter: z.string().optional() }),
  async run({ filter }, context) {
    const account = await accountOf(context);
    const { word } = context.workspace;
    const skipped: SkippedRows[] = [];
    const all = await context.workspace.projects.look(account, { skipped });
    const wanted = filter?.toLowerCase() ?? '';
    const matches = all.filter(({ name, permalink }) =>
      `${name} ${permalink}`.toLowerCase().includes(wanted),
    );
    return {
      kind: 'private',
      message: withSkipped(projectsMessage(account.name, matches, { filter, word }), skipped, all),
    };
  },
  // The menu in a message, where there are more projects than a plain one can hold.
  optionSources: [{ ...projectPicker, actionId: 'projects:choose' }],
  actions: [
    {
      actionId: 'projects:choose',
      role: 'member',
      durable: true,
      leadsTo: chosenText,
      async run(project, { blockId }) {
        const text = chosenText(blockId);
        if (text === undefined || project === undefined) throw outdated('menu');
        return { kind: 'run', text, project, thread: chosenThread(blockId), isAnswer: true };
      },
    },
  ],
});
