import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Schedule } from '../../records/schedules.ts';
import { listSetUp, showChannelCard } from '../../scheduler/setup/show-channel-card.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { channelList } from '../../views/setup/channel-card.ts';
import { type Action, defineButton } from '../action.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { listRoles } from '../permission.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';

/** “Show all” of a channel's card, and “Show the card here” of lists and forms. */
export const cardButtons: readonly Action[] = [
  defineButton(z.object({}), {
    actionId: 'setup:all',
    role: 'member',
    async handle(_, context) {
      const { invocation, workspace } = context;
      const schedules = await expectSetUp(context);
      const roles = await listRoles(workspace, invocation.user);
      const mayChange = ({ kind }: Schedule): boolean => roles.includes(SCHEDULE_FACES[kind].role);
      const isAccountShown = await workspace.accounts.hasSeveral();
      return replyPrivately(channelList(schedules, mayChange, { pages: workspace.pages, isAccountShown }));
    },
  }),
  defineButton(z.object({}), {
    actionId: 'setup:show',
    durable: true,
    change: 'setup show',
    async handle(_, context) {
      await expectSetUp(context);
      await showChannelCard(context.workspace, expectChannel(context), { isWantedHere: true });
      const { state } = context;
      const message = say(':gear: The card of this channel is its newest message.');
      return state === undefined ? { kind: 'nothing', audit: {} } : replyInPlace(message, {});
    },
  }),
];

/** @throws UserError if nothing is set up in the channel */
async function expectSetUp(context: CommandContext): ReturnType<typeof listSetUp> {
  const schedules = await listSetUp(context.workspace, expectChannel(context));
  if (schedules.length === 0) throw new UserError('Nothing is set up in this channel.', 'setup');
  return schedules;
}
