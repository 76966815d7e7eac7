import { z } from 'zod';
import { outdated, UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/reply.ts';
import { type Account, AccountFailure } from '../../records/accounts.ts';
import { Target } from '../../records/test-runs.ts';
import { resumeTest, startTest } from '../../scheduler/test-access/start-test.ts';
import type { Project } from '../../service/projects.ts';
import { getServer } from '../../service/servers.ts';
import { isNamed, namedIn, ProjectNeeded, projectsWith } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { fromButton } from '../carried.ts';
import type { ActionContext, CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import { accountOf, boundProject, channelOf, projectOf, targetOf } from '../resolve-target.ts';
import { testFormActions, testFormSubmission } from './form.ts';
import { testShortcuts } from './shortcuts.ts';

const ButtonValue = z.object({ target: Target });
const CheckValue = ButtonValue.extend({ run: z.string() });

export const test = defineCommand({
  name: 'test',
  summary: 'Tests that a project’s repository and servers can be reached, live in a thread',
  usage: '[project] [server]',
  examples: ['test', 'test storefront', 'test storefront web-1'],
  role: 'member',
  needsAccount: true,
  durable: true,
  args: z.object({ project: z.string().optional(), server: z.string().optional() }),
  async run({ project: typed, server: rest }, context) {
    const { named, server } = await splitName(context, typed, rest);
    const { account, project } = await projectOf(context, named);
    return start(context, await targetOf(context, account, project, server));
  },
  actions: [
    // Stands on lists and previews, which stay: a second click points to the run that the first one began.
    { actionId: 'test:project', role: 'member', durable: true, run: runAgain },
    { actionId: 'test:again', role: 'member', once: true, durable: true, run: runAgain },
    { actionId: 'test:server', role: 'member', once: true, durable: true, run: runAgain },
    // A menu stays for the next choice.
    { actionId: 'test:pick', role: 'member', durable: true, run: pickServer },
    { actionId: 'test:check', role: 'member', once: true, durable: true, run: checkAgain },
    ...testFormActions,
  ],
  submissions: [testFormSubmission],
  shortcuts: testShortcuts,
});

/**
 * A name of two words may be typed without quotes: as a project's name it goes before a server's. A single word that
 * names no project names a server of the channel's project, or of the only project that has such a server.
 * @throws ProjectNeeded where several have
 */
async function splitName(
  context: CommandContext,
  named: string | undefined,
  server: string | undefined,
): Promise<{ named: string | undefined; server: string | undefined }> {
  if (named === undefined) return { named, server };
  const account = await accountOf(context);
  const whole = server === undefined ? named.toLowerCase() : `${named} ${server}`.toLowerCase();
  const projects = await projectsWith(context.workspace.projects, account, whole);
  if (namedIn(projects, whole).length > 0) return { named: whole, server: undefined };
  if (server !== undefined) return { named, server };
  const permalink = context.project ?? (await boundProject(context, account))?.permalink;
  const within = projects.filter((project) => permalink === undefined || project.permalink === permalink);
  const having = await projectsWithServer(context, account, within, named);
  if (having.length > 1) throw new ProjectNeeded(having);
  return having[0] === undefined ? { named, server } : { named: having[0].permalink, server: named };
}

/** As many projects as are asked for their servers. */
const MAX_SEARCHED = 20;

async function projectsWithServer(
  { workspace }: CommandContext,
  account: Account,
  projects: readonly Project[],
  named: string,
): Promise<Project[]> {
  if (projects.length > MAX_SEARCHED) return [];
  const lists = await Promise.all(
    projects.map(({ permalink }) => workspace.hosting.servers(account, permalink)),
  );
  const [only, ...others] = projects;
  if (only !== undefined && others.length === 0 && lists[0] === undefined)
    return (await isServer(workspace, account, only, named)) ? [only] : [];
  return projects.filter((_, at) => lists[at]?.some((server) => isNamed(server, named)));
}

/** Where the service lists no servers, what was typed may be the identifier of one. */
async function isServer(
  { accounts }: Pick<Workspace, 'accounts'>,
  account: Account,
  { permalink }: Project,
  identifier: string,
): Promise<boolean> {
  try {
    await accounts.use(account, (client) => getServer(client, permalink, identifier));
    return true;
  } catch (error) {
    if (error instanceof AccountFailure && NOT_THERE.has(error.cause.kind)) return false;
    throw error;
  }
}

const NOT_THERE: ReadonlySet<string> = new Set(['record_not_found', 'forbidden']);

async function runAgain(value: string | undefined, context: ActionContext): Promise<Reply> {
  return start(context, fromButton(ButtonValue, value).target);
}

/** The menu's value names the run's record and the server. */
async function pickServer(value: string | undefined, context: ActionContext): Promise<Reply> {
  const [, key, identifier = ''] = /^(\S+) (.+)$/.exec(value ?? '') ?? [];
  if (key === undefined) throw outdated('menu');
  const known = await context.workspace.runs.get(key);
  if (known === undefined) throw new UserError('That test is too old to be run again.', 'test');
  const { account: name, project } = known.target;
  const account = await context.workspace.accounts.resolve(context.caller, name);
  return start(context, await targetOf(context, account, project, identifier));
}

async function checkAgain(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { target, run } = fromButton(CheckValue, value);
  const reply = await resumeTest(context.workspace, context.caller, channelOf(context), target, run);
  return { ...reply, audit: { target: nameOf(target) } };
}

async function start(context: CommandContext, target: Target): Promise<Reply> {
  const reply = await startTest(context.workspace, context.caller, channelOf(context), target);
  // Pointing to a run that goes on already changes nothing.
  return reply.kind === 'private' ? reply : { ...reply, audit: { target: nameOf(target) } };
}

function nameOf({ account, project, server }: Target): string {
  return [account, project.permalink, ...(server === undefined ? [] : [server.name])].join('/');
}
