import { z } from 'zod';
import type { ModalView } from '../../core/message.ts';
import type { Reply } from '../../core/reply.ts';
import type { Schedule } from '../../records/schedules.ts';
import { fromButton } from '../carried.ts';
import type { CommandContext, CommandSpec } from '../command.ts';
import { expectAllowedThere, resolveSchedule, type ScheduleFeature } from './feature.ts';
import { ScheduleButton } from './lifecycle.ts';

const Args = z.object({ named: z.string().optional() });

/** `edit` of a kind, by words and by button: both open the form, filled in. */
export function editCommand<R>(
  feature: ScheduleFeature<R>,
  formOf: (context: CommandContext, schedule: Schedule<R>) => Promise<ModalView>,
): CommandSpec<z.infer<typeof Args>> {
  const { prefix, noun, role } = feature.face;
  const name = `${prefix} edit`;
  const open = async (context: CommandContext, named: string | undefined): Promise<Reply> => {
    const schedule = await resolveSchedule(feature, context, named);
    await expectAllowedThere(feature, context, schedule, name);
    return { kind: 'modal', view: await formOf(context, schedule) };
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
        run: (value, context) => open(context, fromButton(ScheduleButton, value).id),
      },
    ],
  };
}
