import { z } from 'zod';
import { outdated, UserError } from '../../core/errors.ts';
import { parseJson } from '../../core/json.ts';
import type { ModalView, Reply } from '../../core/message.ts';
import { indexNames } from '../../core/names.ts';
import type { Account } from '../../records/accounts.ts';
import { readChannelProject } from '../../records/channels.ts';
import { Target } from '../../records/test-runs.ts';
import { resumeTest, startTest } from '../../scheduler/test-access/start-test.ts';
import { readAddress } from '../../service/addresses.ts';
import type { Project } from '../../service/projects.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { drawNotice } from '../../views/blocks/modal.ts';
import { chooseProjectMessage } from '../../views/projects/project-messages.ts';
import {
  openTestMessage,
  TEST,
  TEST_TITLE,
  TestOrigin,
  testModal,
} from '../../views/test-access/test-modal.ts';
import { type ActionContext, defineButton, redraw } from '../action.ts';
import { defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { replyPrivately } from '../replies.ts';
import type { ShortcutContext } from '../shortcut.ts';
import { FormFault, readFields, type Submitted, showUnderField, type ViewState } from '../submission.ts';
import {
  expectCurrentProject,
  findProjectForForm,
  resolveAccount,
  resolveFormTarget,
  resolveTestTarget,
} from '../targets/targets.ts';
import { parseForm } from '../values.ts';

const ButtonValue = z.object({ target: Target });
const CheckValue = ButtonValue.extend({ run: z.string() });
const AgainValue = ButtonValue.extend({
  /** Set on the messages of a failure, whose thread gets the result. */
  failures: z.number().optional(),
  /** True on a run in a thread, where the next one goes too. */
  isInThread: z.boolean().optional(),
});

export const test = defineCommand({
  name: 'test',
  phrase: 'checks that repository and servers are reachable',
  synonyms: ['check', 'run', 'rerun', 'retest', 'recheck', 'run again', 'test again', 'try again'],
  phrases: {
    'ping|probe|verify|tests|testing|retest|reach|validate +': '$1',
    'run|rerun|start|do|make|trigger|launch|execute|perform|begin|repeat tests|test|checks|check|it|access|again *':
      '$1',
    'test|check|verify access|connection|connectivity|reachability *': '$1',
    'test|check if|whether|that + is|are reachable|up|ok|there|working|online': '$1',
    'connection|connectivity|reachability of|to|for? +': '$1',
    'test connection|connectivity|access|reachability to? *': '$1',
    'run|start|do|repeat the? test|tests|check of|for|on + again': '$1',
    'test|check the? server|servers|hosts|machines of|in|for|on +': '$1',
    'test|check + servers|hosts|machines': '$1',
    'again|rerun': '',
    'try + again': '$1',
    'once more': '',
  },
  isHarmless: true,
  summary: 'Tests that a project’s repository and servers are reachable, live in a thread',
  usage: '[project] [server]',
  examples: ['test', 'test storefront', 'test storefront web-1'],
  role: 'member',
  target: 'server',
  isPosted: true,
  durable: true,
  rest: true,
  args: z.object({ project: z.string().optional(), server: z.string().optional() }),
  async handle(_, context, { account, project, server }) {
    return startFromCommand(context, await resolveTestTarget(context, account, project, server));
  },
  actions: [
    // On lists and previews, which stay: a second click points to the run of the first one.
    defineButton(ButtonValue, {
      actionId: 'test:project',
      durable: true,
      handle: (value, context) => runAgain(value, context),
    }),
    defineButton(AgainValue, { actionId: 'test:again', once: isOnRun, durable: true, handle: testAgain }),
    defineButton(AgainValue, { actionId: 'test:server', once: true, durable: true, handle: testAgain }),
    // A menu remains for the next choice.
    { actionId: 'test:pick', durable: true, handle: pickServer },
    defineButton(CheckValue, { actionId: 'test:check', once: true, durable: true, handle: checkRunAgain }),
    { actionId: 'test:open', handle: (_, context) => openTestForm(context) },
    // The servers on offer depend on the project, and the projects on the account.
    { actionId: 'project', view: TEST, handle: redraw(withProject) },
    { actionId: 'account', view: TEST, handle: redraw(withAccount) },
  ],
  submissions: [
    {
      callbackId: TEST,
      actsIn: ({ values: { channel } }) => (typeof channel === 'string' ? channel : undefined),
      submit: submitTest,
    },
  ],
  shortcuts: [
    {
      callbackId: 'test_access',
      kind: 'global',
      name: 'Test access',
      description: 'Tests that a project’s repository and servers can be reached',
      handle: openTestForm,
    },
    {
      callbackId: 'test_from_message',
      kind: 'message',
      name: 'Test access',
      description: 'Tests the project that this message names',
      durable: true,
      handle: testMentioned,
    },
  ],
});

/** The project may have been renamed since the button was drawn. @param thread thread for the run */
async function runAgain(
  { target }: z.infer<typeof ButtonValue>,
  context: ActionContext,
  thread?: string,
): Promise<Reply> {
  const account = await context.workspace.accounts.resolve(context.invocation, target.account);
  const project = await expectCurrentProject(context, account, target.project);
  return startFromCommand(context, { ...target, project }, thread);
}

/** True for the button of a run, which the next run replaces. A failure keeps its button. */
function isOnRun(value = ''): boolean {
  return AgainValue.safeParse(parseJson(value)).data?.failures === undefined;
}

/** A failure has the result in its thread, and so does a run that is in a thread. */
async function testAgain(
  { target, failures, isInThread = false }: z.infer<typeof AgainValue>,
  context: ActionContext,
): Promise<Reply> {
  const { threadTs, messageTs } = context.invocation;
  return runAgain(
    { target },
    context,
    failures !== undefined || isInThread ? (threadTs ?? messageTs) : undefined,
  );
}

/** The menu's value names the run's record and the server. */
async function pickServer(value: string | undefined, context: ActionContext): Promise<Reply> {
  const [, key, identifier = ''] = /^(\S+) (.+)$/.exec(value ?? '') ?? [];
  if (key === undefined) throw outdated('menu');
  const latest = await context.workspace.runs.latestByKey(key);
  if (latest === undefined) throw new UserError('That test is too old to be run again.', 'test');
  const { account: name, project: tested } = latest.target;
  const account = await context.workspace.accounts.resolve(context.invocation, name);
  const project = await expectCurrentProject(context, account, tested);
  const target = await resolveTestTarget(context, account, project, identifier);
  return startFromCommand(context, target, latest.threadTs);
}

async function checkRunAgain(
  { target, run }: z.infer<typeof CheckValue>,
  context: ActionContext,
): Promise<Reply> {
  const reply = await resumeTest(context.workspace, context.invocation, expectChannel(context), target, run);
  return { ...reply, audit: { target: nameTarget(target) } };
}

async function startFromCommand(context: CommandContext, target: Target, thread?: string): Promise<Reply> {
  const { workspace, invocation } = context;
  const { threads } = await workspace.channels.get(invocation.channel);
  const answerTs = (threads === false ? undefined : thread) ?? invocation.answerTs;
  const place = { ...invocation, answerTs };
  const reply = await startTest(workspace, place, expectChannel(context), target);
  // A private reply points to a run that goes on already, so nothing changed.
  return reply.kind === 'private' ? reply : { ...reply, audit: { target: nameTarget(target) } };
}

function nameTarget({ account, project, server }: Target): string {
  return [account, project.permalink, ...(server === undefined ? [] : [server.name])].join('/');
}

const Fields = z.object({
  account: z.string().optional(),
  project: z.string({ error: 'Choose a project.' }),
  server: z.string().optional(),
  channel: z.string({ error: 'Choose a channel.' }),
});

/** Opens the form; if Slack's handle has expired, offers a button that brings a new one. */
async function openTestForm(context: CommandContext): Promise<Reply> {
  const { invocation, workspace } = context;
  const account = await resolveAccount(context);
  if (invocation.triggerId === undefined) return replyPrivately(openTestMessage());
  const bound = readChannelProject(await workspace.channels.get(invocation.channel), account.name);
  const project = await findProjectForForm(workspace, account.name, bound);
  const origin = { account: account.name, project, channel: invocation.channel };
  return { kind: 'modal', view: await drawTestForm(context, origin) };
}

function withProject(state: ViewState, context: CommandContext, chosen?: string): Promise<ModalView> {
  const project = chosen === undefined ? undefined : { permalink: chosen, name: chosen };
  return drawTestForm(context, { ...readTestOrigin(state), project });
}

function withAccount(state: ViewState, context: CommandContext, chosen?: string): Promise<ModalView> {
  const { account, channel } = readTestOrigin(state);
  return drawTestForm(context, { account: chosen ?? account, channel });
}

function readTestOrigin(state: ViewState): TestOrigin {
  return parseForm(TestOrigin, state.metadata);
}

async function drawTestForm(
  { invocation, workspace }: CommandContext,
  origin: TestOrigin,
): Promise<ModalView> {
  const accounts = (await workspace.accounts.list(invocation)).map(({ name }) => name);
  return testModal(origin, accounts);
}

async function submitTest(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { channel, server, ...fields } = readFields(Fields, state);
  const accountTarget = { account: fields.account ?? readTestOrigin(state).account };
  const { account, project } = await resolveFormTarget(context, accountTarget, fields.project);
  const target = await showUnderField('server', () => resolveTestTarget(context, account, project, server));
  const reply = await startIn(channel, context, target);
  return reply.kind === 'private'
    ? { kind: 'view', view: drawNotice(TEST_TITLE, reply.message) }
    : { kind: 'close', audit: { target: `${account.name}/${project.permalink}`, where: channel } };
}

async function startIn(channel: string, { invocation, workspace }: CommandContext, target: Target) {
  try {
    return await startTest(workspace, invocation, channel, target);
  } catch (error) {
    if (!isSlackFailure(error, 'gone', 'forbidden')) throw error;
    const channelFault = 'Deckhand cannot post there. Invite it with /invite, or choose another channel.';
    throw new FormFault({ channel: channelFault });
  }
}

/** Tests the one project of a message, offers several, and opens the form if the message names none. */
async function testMentioned(context: ShortcutContext): Promise<Reply> {
  const { account, projects } = await findMentioned(context);
  const text = `test --account ${account.name}`;
  const [only, ...others] = projects;
  if (only === undefined) return openTestForm({ ...context, account: account.name });
  if (others.length > 0) return replyPrivately(chooseProjectMessage(projects, text));
  return { kind: 'command', text, project: only.permalink };
}

/** Finds the projects that a message links to, else those that it names of the channel's account. */
async function findMentioned(context: ShortcutContext): Promise<{ account: Account; projects: Project[] }> {
  const { invocation, workspace, messageText } = context;
  for (const [address] of messageText.matchAll(/https?:\/\/[^\s<>|"]+/g)) {
    const link = readAddress(address, workspace.config.SERVICE_BASE_URL);
    const account = link && (await workspace.accounts.get(link.account, invocation));
    if (!account) continue;
    const linked = await workspace.projects.look(account);
    return { account, projects: await filterMentioned(messageText, linked) };
  }
  const account = await resolveAccount(context);
  const projects = await workspace.projects.look(account);
  return { account, projects: await filterMentioned(messageText, projects) };
}

/** The projects that a text names, in the order of the list. */
export async function filterMentioned(text: string, projects: readonly Project[]): Promise<Project[]> {
  const mentioned = new Set((await indexNames(projects)).findIn(text));
  return projects.filter((project) => mentioned.has(project));
}
