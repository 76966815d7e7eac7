import { z } from 'zod';
import { AccountFailure, UnmatchedWords, UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { indexNames } from '../../core/names.ts';
import { type ProjectRef, toProjectRef } from '../../core/project-ref.ts';
import type { Account } from '../../records/accounts.ts';
import { accountUrl, projectUrl } from '../../service/addresses.ts';
import type { SkippedRows } from '../../service/call.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import {
  chooseProjectMessage,
  deployMessage,
  ProjectsPage,
  projectsMessage,
} from '../../views/projects/project-messages.ts';
import { defineButton, defineMenu } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { projectPicker } from '../option-sources.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { offerCard } from '../schedules/schedule-replies.ts';
import { findBoundProject, namesProject, resolveAccount, resolveProject } from '../targets/targets.ts';

export const projects = defineCommand({
  name: 'projects',
  phrase: 'lists projects, each with a test button',
  synonyms: ['project'],
  phrases: {
    'apps|repos|sites|services|applications|repositories|all': '',
    'test|tests|check|ping|run|rerun|retest all|everything|each|every *': '',
    'which|what projects|apps|repos|sites|services *': '$1',
    'list? all projects|apps|repos|sites|services': '',
    'add|create|new|make|import project|app|repo|site *': '',
    'project|projects|app list|add|create|new|all': '',
  },
  summary: 'Lists the account’s projects, starred ones first',
  usage: '[filter]',
  examples: ['projects shop'],
  role: 'member',
  target: 'account',
  rest: true,
  args: z.object({ filter: z.string().optional() }),
  handle: async ({ filter }, context, { account }) =>
    replyPrivately(await readProjectsPage(context, account, { filter, page: 0 })),
  // For the menu in a message, if there are more projects than a plain menu can hold.
  optionSources: [{ ...projectPicker, actionId: 'projects:choose' }],
  actions: [
    defineMenu('projects:choose', (project) => ({ project, isAnswer: true })),
    defineButton(ProjectsPage, {
      actionId: 'projects:page',
      async handle({ account: name, ...page }, context) {
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
  return withSkipped(projectsMessage(matches, at, workspace.word, workspace.pages), skipped, all);
}

const UNBOUND = 'No project is bound to this channel. Which one do you mean?';

export const use = defineCommand({
  name: 'use',
  phrase: 'sets this channel’s project and threads',
  synonyms: ['bind', 'select', 'unbind'],
  phrases: {
    'unbind|unset|forget|clear project|channel|this *': 'none',
    'bind|link|attach|connect|set this|channel|project|default to? +': '$1',
    'default project to? *': '$1',
    'switch|change project? to +': '$1',
    'which|what project|app is|are bound|used|this|here|default|set *': '',
  },
  summary: 'Binds this channel to a project, so that commands need not name it',
  usage: '[<project>|none]',
  examples: ['use', 'use storefront', 'use none'],
  role: 'operator',
  needsAccount: true,
  durable: true,
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async handle({ project: projectName }, context) {
    const { invocation, workspace } = context;
    const { channel, user } = invocation;
    if (channel === undefined) throw new UserError('Run this in the channel that it should apply to.');
    if (projectName !== undefined && (await isUnbind(context, projectName))) {
      await workspace.channels.change(channel, ({ project: _, account: __, ...rest }) => rest);
      const message = say(`<@${user}> unbound this channel. Commands here need a project again.`);
      return { kind: 'channel', isDone: true, message, audit: { target: 'none' } };
    }
    const isQuestion = projectName === undefined && context.project === undefined;
    if (isQuestion) {
      const account = await resolveAccount(context);
      const current = await findBoundProject(context, account);
      const where = current && `${bold(current.name)} in ${code(account.name)}`;
      if (where !== undefined)
        return replyPrivately(await offerCard(context, say(`This channel is bound to ${where}.`)));
      const all = await workspace.projects.look(account);
      return replyPrivately(chooseProjectMessage(all, 'use', invocation.answerTs, UNBOUND));
    }
    const { account, project } = await resolveProject(context, projectName);
    const { permalink, name } = project;
    await workspace.channels.change(channel, (current) => ({
      ...current,
      account: account.name,
      project,
    }));
    const target = `${account.name}/${permalink}`;
    const text = `:pushpin: <@${user}> bound this channel to ${bold(name)} (${code(permalink)}) in ${code(account.name)}.`;
    const message = await offerCard(context, say(text));
    return { kind: 'channel', isDone: true, message, audit: { target } };
  },
});

const UNBINDING: ReadonlySet<string> = new Set(['none', 'nothing', 'off']);

/** True for `none`, unless a project is called so: then `off` unbinds. */
async function isUnbind(context: CommandContext, word: string): Promise<boolean> {
  if (!UNBINDING.has(word.toLowerCase())) return false;
  return !(await namesProject(context, await resolveAccount(context), word));
}

/** The only project that the words name, else the channel's. Undefined if the service does not list them. */
async function findMentioned(
  context: CommandContext,
  account: Account,
  words: string | undefined,
): Promise<ProjectRef | undefined> {
  try {
    const all = words === undefined ? [] : await context.workspace.projects.list(account);
    const [project, ...others] = (await indexNames(all)).findIn(words ?? '');
    if (project !== undefined && others.length === 0) return toProjectRef(project);
    return await findBoundProject(context, account);
  } catch (error) {
    if (error instanceof AccountFailure || error instanceof UserError) return undefined;
    throw error;
  }
}

/** Words after `deploy` that ask about deployments. */
const ABOUT_DEPLOYMENTS: ReadonlySet<string> = new Set(
  'changes frequency history in log logs notes progress rate state stats status time times'.split(' '),
);

/** People try this command, but the service's API cannot deploy. */
export const deploy = defineCommand({
  name: 'deploy',
  phrase: undefined,
  synonyms: `redeploy rollback revert retry restart reboot release ship promote publish undeploy rebuild abort
    approve hotfix kill scale merge cutover`.split(/\s+/),
  phrases: {
    'roll back|back? *': '$1',
    'stop|start|halt|kill +': '$1',
    'roll|go|switch back to? *': '$1',
    'push|put|bring|take|get + live|out|production|prod': '$1',
    'stop|cancel|abort|halt|kill|freeze deploy|deploys|deployment|deployments|deploying|release|build *':
      '$1',
    'redo|retry|rerun|repeat|run|start|trigger|kick|force deploy|deployment|release|off? *': '$1',
    'do|make a|another? deploy|deployment|release *': '$1',
    'turn|switch off|on server *': '$1',
    'undo|revert last|latest? deploy|deployment|release *': '$1',
  },
  summary: 'Says where deployments and rollbacks are started: Deckhand starts none',
  role: 'member',
  takesAccount: true,
  rest: true,
  args: z.object({ words: z.string().optional() }),
  async handle({ words }, context) {
    const { invocation, workspace } = context;
    const { word, config } = workspace;
    const accounts = await workspace.accounts.list(invocation);
    if (accounts.length === 0) return replyPrivately(deployMessage({ word }));
    const account = await resolveAccount(context);
    const [first = ''] = words?.toLowerCase().split(' ') ?? [];
    if (ABOUT_DEPLOYMENTS.has(first) && !(await namesProject(context, account, first)))
      throw new UnmatchedWords(`There is no command ${code(`deploy ${first}`)}.`, 'activity');
    const project = await findMentioned(context, account, words);
    const { SERVICE_BASE_URL: base } = config;
    const url =
      project === undefined
        ? accountUrl(account.name, base)
        : projectUrl(account.name, project.permalink, base);
    return replyPrivately(deployMessage({ word, account: account.name, url, project }));
  },
});
