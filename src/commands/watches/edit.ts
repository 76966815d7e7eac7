import { z } from 'zod';
import { WATCH_MODES } from '../../core/schedule-choices.ts';
import { editWatch } from '../../scheduler/watches/watch-service.ts';
import { WATCH_EDIT, WatchOrigin, watchModal } from '../../views/watches/form.ts';
import { SCHEDULES } from '../../workspace/account-keys.ts';
import { findProject } from '../../workspace/projects.ts';
import type { Watch } from '../../workspace/watches.ts';
import type { CommandContext, Submitted, ViewState } from '../command.ts';
import { defineCommand } from '../command.ts';
import { editCommand } from '../schedules/edit.ts';
import { announce, cardOf, recordChange, resolveSchedule } from '../schedules/feature.ts';
import { removedSince } from '../schedules/lifecycle.ts';
import { WATCH_FEATURE } from './lifecycle.ts';
import { watchedProject } from './watch.ts';

const Fields = z.object({
  mode: z.enum(WATCH_MODES, { error: 'Choose what it posts.' }),
  project: z.string().optional(),
});

export const watchEdit = defineCommand({
  ...editCommand(WATCH_FEATURE, async (_, { id, record: { account, watch } }) =>
    watchModal({ id, account }, watch),
  ),
  submissions: [{ callbackId: WATCH_EDIT, role: 'operator', submit }],
});

async function submit(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { id, account } = WatchOrigin.parse(JSON.parse(state.metadata));
  const schedule = await resolveSchedule(WATCH_FEATURE, context, id);
  const fields = Fields.safeParse(state.values);
  if (!fields.success) return { kind: 'errors', errors: { mode: 'Choose what it posts.' } };
  const { mode, project: wanted } = fields.data;
  const project = wanted === undefined ? undefined : await projectOf(context, account, wanted);
  if (wanted !== undefined && project === undefined)
    return { kind: 'errors', errors: { project: 'The account has no such project.' } };
  const edited = await editWatch(context.workspace, schedule, { mode, project });
  if (edited === 'taken')
    return { kind: 'errors', errors: { project: 'Another watch of this channel has this project.' } };
  if (edited === undefined) throw removedSince(WATCH_FEATURE, schedule);
  await announce(context, edited, cardOf(WATCH_FEATURE, edited, 'edited', context), true);
  await recordChange(context, 'watch edit', edited);
  return { kind: 'close' };
}

async function projectOf(
  { workspace }: CommandContext,
  named: string,
  wanted: string,
): Promise<Watch['project']> {
  const account = await workspace.accounts.resolve(SCHEDULES, named);
  const found = findProject(await workspace.projects.look(account), wanted);
  return found && watchedProject(found);
}
