import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import { WATCH_MODES } from '../../core/schedule-choices.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import type { Account } from '../../records/accounts.ts';
import type { Schedule } from '../../records/schedules.ts';
import type { PlacedWatch, Watch } from '../../records/watches.ts';
import { editWatch, type WatchChoices } from '../../scheduler/watches/watch-service.ts';
import { WATCH_EDIT, WatchOrigin, watchModal } from '../../views/watches/watch.ts';
import { findProject, ServerNeeded } from '../../workspace/projects.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import { type CommandContext, defineCommand, fromForm, type Submitted, type ViewState } from '../command.ts';
import { serverOf } from '../resolve-target.ts';
import { expectAllowedThere, recordChange, resolveSchedule, showEdited } from '../schedules/feature.ts';
import { editCommand, removedSince } from '../schedules/lifecycle.ts';
import { WATCH_FEATURE } from './lifecycle.ts';
import { readHours } from './parse-watch-arguments.ts';
import { watchedProject, watchedServer } from './watch.ts';

const Fields = z.object({
  mode: z.enum(WATCH_MODES),
  project: z.string().optional(),
  server: z.string().trim().optional(),
  hours: z.string().trim().optional(),
});

export const watchEdit = defineCommand({
  ...editCommand(WATCH_FEATURE, async (_, { id, record: { account, watch } }, from) =>
    watchModal({ id, account, from }, watch),
  ),
  submissions: [{ callbackId: WATCH_EDIT, role: 'operator', submit }],
});

async function submit(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { id, from } = fromForm(WatchOrigin, state.metadata);
  const schedule = await resolveSchedule(WATCH_FEATURE, context, id);
  await expectAllowedThere(WATCH_FEATURE, context, schedule, watchEdit.name);
  const fields = Fields.safeParse(state.values);
  if (!fields.success) return { kind: 'errors', errors: { mode: 'Choose what it posts.' } };
  const read = await choicesOf(context, schedule, fields.data);
  if ('errors' in read) return { kind: 'errors', errors: read.errors };
  const edited = await editWatch(context.workspace, schedule, read.choices);
  if (edited === 'taken')
    return {
      kind: 'errors',
      errors: { project: 'Another watch of this channel has this project and server.' },
    };
  if (edited === undefined) throw removedSince(WATCH_FEATURE, schedule);
  await showEdited(WATCH_FEATURE, context, edited, from);
  await recordChange(context, 'watch edit', edited);
  return { kind: 'close' };
}

type Read<T> = T | { errors: Record<string, string> };

async function choicesOf(
  context: CommandContext,
  { record: { account: named, watch } }: Schedule<PlacedWatch>,
  { mode, project: wanted, server: typed, hours }: z.infer<typeof Fields>,
): Promise<Read<{ choices: WatchChoices }>> {
  const account = await context.workspace.accounts.resolve(SCHEDULES, named);
  const project = wanted === undefined ? undefined : await projectIn(context, account, wanted);
  if (wanted !== undefined && project === undefined)
    return { errors: { project: 'The account has no such project.' } };
  const found = await serverIn(context, { account, project, typed, watch });
  if ('errors' in found) return found;
  const when = await hoursIn(context, hours, watch.hours);
  if ('errors' in when) return when;
  return { choices: { mode, project, server: found.server, hours: when.hours } };
}

async function projectIn(
  { workspace }: CommandContext,
  account: Account,
  wanted: string,
): Promise<Watch['project']> {
  const found = findProject(await workspace.projects.look(account), wanted);
  return found && watchedProject(found);
}

interface SoughtServer {
  account: Account;
  project: Watch['project'];
  typed: string | undefined;
  watch: Watch;
}

/** One that stands unchanged is not looked for again: it may be gone from the service. */
async function serverIn(
  context: CommandContext,
  { account, project, typed, watch }: SoughtServer,
): Promise<Read<{ server: Watch['server'] }>> {
  if (typed === undefined || typed === '') return { server: undefined };
  const isSame = project?.permalink === watch.project?.permalink && typed === watch.server?.name;
  if (isSame) return { server: watch.server };
  if (project === undefined) return { server: watchedServer(typed) };
  try {
    return { server: watchedServer(await serverOf(context, account, project.permalink, typed)) };
  } catch (error) {
    if (!(error instanceof ServerNeeded)) throw error;
    return { errors: { server: 'The project has no such server.' } };
  }
}

/** In the zone that the hours had, else in that of the person who gives them. */
async function hoursIn(
  { caller, workspace }: CommandContext,
  typed: string | undefined,
  current: Watch['hours'],
): Promise<Read<{ hours: Watch['hours'] }>> {
  if (typed === undefined || typed === '') return { hours: undefined };
  try {
    return { hours: { ...readHours(typed), zone: current?.zone ?? (await zoneOf(workspace, caller.user)) } };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { errors: { hours: unmarked(error.message) } };
  }
}
