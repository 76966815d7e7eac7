import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { indexNames } from '../../core/names.ts';
import type { Account } from '../../records/accounts.ts';
import { accountUrl } from '../../service/addresses.ts';
import type { SkippedRows } from '../../service/call.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { say } from '../../views/blocks/message.ts';
import {
  chooseProjectMessage,
  deployMessage,
  ProjectsPage,
  projectsMessage,
} from '../../views/projects/projects.ts';
import { describeNamesakes } from '../../workspace/projects.ts';
import { defineButton, defineMenu } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { projectPicker } from '../option-sources.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { findBoundProject, resolveAccount, resolveProject } from '../targets/targets.ts';

export const projects = defineCommand({
  name: 'projects',
  phrase: 'lists projects, each with a test button',
  synonyms: ['project'],
  summary: 'Lists the account’s projects, starred ones first',
  usage: '[filter]',
  examples: ['projects shop'],
  role: 'member',
  target: 'account',
  rest: true,
  args: z.object({ filter: z.string().optional() }),
  run: async ({ filter }, context, { account }) =>
    replyPrivately(await readProjectsPage(context, account, { filter, page: 0 })),
  // For the menu in a message, if there are more projects than a plain menu can hold.
  optionSources: [{ ...projectPicker, actionId: 'projects:choose' }],
  actions: [
    defineMenu('projects:choose', (project) => ({ project, isAnswer: true })),
    defineButton(ProjectsPage, {
      actionId: 'projects:page',
      async run({ account: name, ...page }, context) {
        const account = await context.workspace.accounts.resolve(context.invocation, name);
        return replyInPlace(await readProjectsPage(context, account, page));
      },
    }),
  ],
});

async function readProjectsPage(
  { workspace }: CommandContext,
  account: Account,
  { filter, page }: Omit<ProjectsPage, 'account'>,
): Promise<Message> {
  const skipped: SkippedRows[] = [];
  const all = await workspace.projects.look(account, { skipped });
  const hits = new Set(filter === undefined ? all : (await indexNames(all)).search(filter));
  const matches = all.filter((project) => hits.has(project));
  const at = { account: account.name, filter: filter?.slice(0, 200), page };
  return withSkipped(projectsMessage(matches, at, workspace.word), skipped, all);
}

const UNBOUND = 'No project is bound to this channel. Which one do you mean?';

export const use = defineCommand({
  name: 'use',
  phrase: 'sets this channel’s project and threads',
  synonyms: ['bind'],
  summary: 'Binds this channel to a project, so that commands need not name it',
  usage: '[<project>|none]',
  examples: ['use', 'use storefront', 'use none'],
  role: 'operator',
  needsAccount: true,
  durable: true,
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async run({ project: projectName }, context) {
    const { invocation, workspace } = context;
    const { channel, user } = invocation;
    if (channel === undefined) throw new UserError('Run this in the channel that it should apply to.');
    if (projectName?.toLowerCase() === 'none') {
      await workspace.channels.change(channel, ({ project: _, account: __, ...rest }) => rest);
      const message = say(`<@${user}> unbound this channel. Commands here need a project again.`);
      return { kind: 'channel', isDone: true, message, audit: { target: 'none' } };
    }
    const isQuestion = projectName === undefined && context.project === undefined;
    if (isQuestion) {
      const account = await resolveAccount(context);
      const current = await findBoundProject(context, account);
      const where = current && `${bold(current.name)} in ${code(account.name)}`;
      if (where !== undefined) return replyPrivately(say(`This channel is bound to ${where}.`));
      const all = await workspace.projects.look(account);
      return replyPrivately(chooseProjectMessage(all, 'use', invocation.answerTs, UNBOUND));
    }
    const { account, project } = await resolveProject(context, projectName);
    const projects = await workspace.projects.list(account);
    const { permalink, name } = project;
    await workspace.channels.change(channel, (current) => ({
      ...current,
      account: account.name,
      project,
    }));
    const target = `${account.name}/${permalink}`;
    const text =
      `:pushpin: <@${user}> bound this channel to ${bold(name)} (${code(permalink)}) in ${code(account.name)}. ${await describeNamesakes(projects, projectName, project)}`.trim();
    return { kind: 'channel', isDone: true, message: say(text), audit: { target } };
  },
});

/** People try this command, but the service's API cannot deploy. */
export const deploy = defineCommand({
  name: 'deploy',
  phrase: undefined,
  synonyms: ['redeploy', 'rollback'],
  summary: 'Says where deployments and rollbacks are started: Deckhand starts none',
  role: 'member',
  takesAccount: true,
  rest: true,
  args: z.object({ words: z.string().optional() }),
  async run(_, { invocation, workspace, account: accountName }) {
    const { account: bound, project } = await workspace.channels.get(invocation.channel);
    const accounts = await workspace.accounts.list(invocation);
    const account =
      accounts.length === 0 ? undefined : await workspace.accounts.resolve(invocation, accountName, bound);
    const url = account && accountUrl(account.name, workspace.config.SERVICE_BASE_URL);
    return replyPrivately(deployMessage({ word: workspace.word, account: account?.name, url, project }));
  },
});
