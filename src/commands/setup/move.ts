import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { ModalView, Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import { moveChannel } from '../../scheduler/channels/move-channel.ts';
import { endChannelCard, listSetUp } from '../../scheduler/setup/show-channel-card.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { chooseChannelMessage, moveModal, SETUP_MOVE } from '../../views/setup/move-modal.ts';
import { findChannel } from '../../workspace/slack-channels.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { findRefusal } from '../permission.ts';
import { replyPrivately } from '../replies.ts';
import { readFields, type Submitted, showUnderField, type ViewState } from '../submission.ts';
import { parseForm } from '../values.ts';
import { setup } from './setup.ts';

const NAME = 'setup move';

/** The channel whose set-up moves. */
const Origin = z.object({ channel: z.string() });
const Fields = z.object({ channel: z.string({ error: 'Choose the channel.' }) });

export const setupMove = defineCommand({
  name: NAME,
  phrase: setup.phrase,
  shownAs: 'setup',
  synonyms: ['move to', 'move everything to', 'move everything', 'move all to', 'move here', 'move'],
  phrases: {
    'move|transfer|migrate|relocate|shift setup|everything|all|this|it|channel|notifications|alerts|watches|schedules|here *':
      '$1',
    'move|transfer|migrate|relocate|shift setup|everything|all|this|it|channel|notifications|alerts|watches|schedules to|into +':
      '$1',
    'transfer|migrate|relocate to? +': '$1',
    'change channel to? *': '$1',
  },
  summary: 'Moves everything that is set up in this channel, with its settings, to another channel',
  usage: '[#channel]',
  examples: ['setup move #oncall'],
  role: 'operator',
  durable: (words) => words.length > 0,
  rest: true,
  args: z.object({ channel: z.string().optional() }),
  async handle({ channel: typed }, context) {
    const from = expectChannel(context);
    if (typed === undefined) return openMove(context);
    const to = await readChannel(context.workspace, typed);
    return to === undefined ? replyPrivately(chooseChannelMessage(typed)) : moveTo(context, from, to);
  },
  actions: [
    defineButton(z.object({}), { actionId: 'setup:move', handle: (_, context) => openMove(context) }),
  ],
  submissions: [
    {
      callbackId: SETUP_MOVE,
      actsIn: ({ metadata }) => parseForm(Origin, metadata).channel,
      submit: submitMove,
    },
  ],
});

async function openMove(context: CommandContext): Promise<Reply> {
  const channel = expectChannel(context);
  await expectSomething(context.workspace, channel);
  const view: ModalView = moveModal({ channel });
  return { kind: 'modal', view };
}

async function submitMove(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { channel: from } = parseForm(Origin, state.metadata);
  const { channel: to } = readFields(Fields, state);
  return { kind: 'close', card: await showUnderField('channel', () => moveTo(context, from, to)) };
}

/** The id of a typed channel. Slack's composer gives it, and names alone need a scope. */
async function readChannel({ slack }: Workspace, typed: string): Promise<string | undefined> {
  const [, id] = /^#?([CG][A-Z0-9]{3,30})$/.exec(typed) ?? [];
  return id ?? findChannel(slack, typed);
}

/** Moves everything, and says so in both channels. */
async function moveTo(context: CommandContext, from: string, to: string): Promise<Reply> {
  const { workspace, invocation } = context;
  const { user, requestId } = invocation;
  if (from === to) throw new UserError('Everything is in this channel already. Choose another one.');
  const refusal = await findRefusal(workspace, {
    user,
    command: NAME,
    role: undefined,
    channels: [from, to],
  });
  if (refusal !== undefined) throw refusal;
  // A repeat after a kill may find everything moved.
  const begun = [NAME, requestId];
  if (!(await workspace.wasDone(begun))) await expectSomething(workspace, from);
  await expectBothThere(context, to, from);
  await workspace.once(begun, DAY_MS, requestId);
  await moveChannel(workspace, from, to, { settings: true });
  await endChannelCard(workspace, from, {
    name: `moved ${requestId}`,
    message: say(`:gear: <@${user}> moved everything that was set up here to <#${to}>.`),
  });
  return {
    kind: 'card',
    channel: to,
    line: { name: `moved ${requestId}`, message: say(`:gear: <@${user}> moved this here from <#${from}>.`) },
    isDone: true,
    answer: replyPrivately(say(`:gear: Everything moved from <#${from}> to <#${to}>.`)),
    audit: { what: NAME, where: from, target: to },
  };
}

/** @throws UserError if nothing is set up in a channel */
async function expectSomething(workspace: Workspace, channel: string): Promise<void> {
  const { account, project, zone } = await workspace.channels.get(channel);
  const isBound = account !== undefined || project !== undefined || zone !== undefined;
  if (!isBound && (await listSetUp(workspace, channel)).length === 0)
    throw new UserError('Nothing is set up in this channel, so nothing can be moved.', 'setup');
}

/**
 * Shows the person a message in the other channel. Slack takes it only if both are in the channel, and asks for no scope.
 * @throws UserError
 */
async function expectBothThere(
  { invocation, workspace }: CommandContext,
  to: string,
  from: string,
): Promise<void> {
  const message = say(`:gear: Everything that is set up in <#${from}> is being moved to this channel.`);
  try {
    await workspace.slack.postEphemeral({ channel: to, user: invocation.user }, message);
  } catch (error) {
    if (!isSlackFailure(error, 'gone', 'forbidden', 'rejected')) throw error;
    const invite = code('/invite');
    throw new UserError(
      `You and Deckhand have to be in the channel that it moves to. Join it, and bring Deckhand in with ${invite}.`,
      undefined,
      { cause: error },
    );
  }
}
