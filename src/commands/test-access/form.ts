import { z } from 'zod';
import type { ModalView } from '../../core/message.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { startTest } from '../../scheduler/test-access/start-test.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { messagesByField, noticeOf } from '../../views/blocks/modal.ts';
import { openTestMessage, TEST, TEST_TITLE, TestOrigin, testModal } from '../../views/test-access/form.ts';
import { ServerNeeded } from '../../workspace/projects.ts';
import { fromForm, redraw } from '../carried.ts';
import type { Action, CommandContext, Submission, Submitted, ViewState } from '../command.ts';
import { accountOf, chosenProject, targetOf } from '../resolve-target.ts';

/** The form of a test: for people who do not type commands, and where there is no channel to type in. */

const Fields = z.object({
  account: z.string().optional(),
  project: z.string({ error: 'Choose a project.' }),
  server: z.string().optional(),
  channel: z.string({ error: 'Choose a channel.' }),
});

/** Opens the form; where Slack's handle has expired, offers a button that brings a new one. */
export async function openTestForm(context: CommandContext): Promise<Reply> {
  const { caller, workspace } = context;
  const account = await accountOf(context);
  if (caller.triggerId === undefined) return { kind: 'private', message: openTestMessage() };
  const { account: bound = account.name, project } = await workspace.channels.get(caller.channel);
  return {
    kind: 'modal',
    view: await drawn(context, {
      account: account.name,
      project: bound === account.name ? project : undefined,
      channel: caller.channel,
    }),
  };
}

export const testFormActions: readonly Action[] = [
  { actionId: 'test:open', role: 'member', run: (_, context) => openTestForm(context) },
  // The servers on offer depend on the project, and the projects on the account.
  { actionId: 'project', view: TEST, role: 'member', run: redraw(withProject) },
  { actionId: 'account', view: TEST, role: 'member', run: redraw(withAccount) },
];

export const testFormSubmission: Submission = {
  callbackId: TEST,
  role: 'member',
  actsIn: ({ values: { channel } }) => (typeof channel === 'string' ? channel : undefined),
  submit: submitTest,
};

function withProject(state: ViewState, context: CommandContext, chosen?: string): Promise<ModalView> {
  const project = chosen === undefined ? undefined : { permalink: chosen, name: chosen };
  return drawn(context, { ...originOf(state), project });
}

function withAccount(state: ViewState, context: CommandContext, chosen?: string): Promise<ModalView> {
  const { account, channel } = originOf(state);
  return drawn(context, { account: chosen ?? account, channel });
}

function originOf(state: ViewState): TestOrigin {
  return fromForm(TestOrigin, state.metadata);
}

async function drawn({ caller, workspace }: CommandContext, origin: TestOrigin): Promise<ModalView> {
  const accounts = await workspace.accounts.list(caller);
  return testModal(
    origin,
    accounts.map(({ name }) => name),
  );
}

async function submitTest(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { caller, workspace } = context;
  const fields = Fields.safeParse(state.values);
  if (!fields.success) return { kind: 'errors', errors: messagesByField(fields.error) };
  const { channel, server } = fields.data;
  const named = fields.data.account ?? originOf(state).account;
  const account = await workspace.accounts.resolve(caller, named);
  const project = await chosenProject(context, account, fields.data.project);
  try {
    const target = await targetOf(context, account, project, server);
    const reply = await startTest(workspace, caller, channel, target);
    return reply.kind === 'private'
      ? { kind: 'view', view: noticeOf(TEST_TITLE, reply.message) }
      : { kind: 'close', audit: { target: `${account.name}/${project.permalink}`, where: channel } };
  } catch (error) {
    return { kind: 'errors', errors: faultOf(error) };
  }
}

/** @throws what concerns no field */
function faultOf(error: unknown): Record<string, string> {
  if (error instanceof ServerNeeded) return { server: unmarked(error.message) };
  if (isSlackFailure(error, 'gone', 'forbidden'))
    return { channel: 'Deckhand cannot post there. Invite it with /invite, or choose another channel.' };
  throw error;
}
