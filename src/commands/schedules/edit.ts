import { z } from 'zod';
import type { ModalView } from '../../core/message.ts';
import type { Reply } from '../../core/reply.ts';
import type { Schedule } from '../../records/schedules.ts';
import type { ListScope, OpenedFrom } from '../../views/schedules/schedule.ts';
import { fromButton } from '../carried.ts';
import type { ActionContext, CommandContext, CommandSpec } from '../command.ts';
import { expectAllowedThere, resolveSchedule, type ScheduleFeature } from './feature.ts';
import { ScheduleButton } from './lifecycle.ts';

const Args = z.object({ named: z.string().optional() });

/**
 * `edit` of a kind, by words and by button: both open the form, filled in.
 * @param formOf is told the message whose button it was
 */
export function editCommand<R>(
  feature: ScheduleFeature<R>,
  formOf: (
    context: CommandContext,
    schedule: Schedule<R>,
    from: OpenedFrom | undefined,
  ) => Promise<ModalView>,
): CommandSpec<z.infer<typeof Args>> {
  const { prefix, noun, role } = feature.face;
  const name = `${prefix} edit`;
  const open = async (
    context: CommandContext,
    named: string | undefined,
    from?: OpenedFrom,
  ): Promise<Reply> => {
    const schedule = await resolveSchedule(feature, context, named);
    await expectAllowedThere(feature, context, schedule, name);
    return { kind: 'modal', view: await formOf(context, schedule, from) };
  };
  return {
    name,
    summary: `Changes a ${noun} in a form; the id may be left out where the channel has one`,
    usage: feature.matches === undefined ? '[id]' : '[id|project]',
    role,
    needsAccount: true,
    takesAccount: false,
    rest: true,
    args: Args,
    run: ({ named }, context) => open(context, named),
    actions: [
      {
        actionId: `${prefix}:edit`,
        role,
        async run(value, context) {
          const { id, list } = fromButton(ScheduleButton, value);
          return open(context, id, messageOf(context, list));
        },
      },
    ],
  };
}

/** Of a message that only the person sees, Slack sends no content, and Deckhand cannot edit it. */
function messageOf({ caller, message }: ActionContext, list: ListScope | undefined): OpenedFrom | undefined {
  const { channel, messageTs: ts } = caller;
  return message && channel !== undefined && ts !== undefined ? { channel, ts, list } : undefined;
}
