import type { ModalView } from '../../core/message.ts';
import type { Digest } from '../../records/digests.ts';
import type { Schedule } from '../../records/schedules.ts';
import { editDigest } from '../../scheduler/digests/schedule.ts';
import { DIGEST_EDIT, digestModal } from '../../views/digests/form.ts';
import type { OpenedFrom } from '../../views/schedules/schedule.ts';
import type { CommandContext, Submitted, ViewState } from '../command.ts';
import { defineCommand } from '../command.ts';
import { editCommand } from '../schedules/edit.ts';
import { expectAllowedThere, recordChange, resolveSchedule, showEdited } from '../schedules/feature.ts';
import { removedSince } from '../schedules/lifecycle.ts';
import { choicesOf, digestFormActions, nextInForm, originOf, readDigestForm } from './form.ts';
import { DIGEST_FEATURE } from './lifecycle.ts';

const edit = editCommand(DIGEST_FEATURE, formOf);

export const digestEdit = defineCommand({
  ...edit,
  actions: [...(edit.actions ?? []), ...digestFormActions(DIGEST_EDIT)],
  submissions: [{ callbackId: DIGEST_EDIT, role: 'operator', submit: submitEdit }],
});

async function formOf(
  { workspace }: CommandContext,
  { record }: Schedule<Digest>,
  from: OpenedFrom | undefined,
): Promise<ModalView> {
  const { id, cadence, zone, range, account, project, skipQuiet, channel } = record;
  const connected = (await workspace.accounts.list()).map(({ name }) => name);
  const names = [...new Set([...connected, ...(account === undefined ? [] : [account])])];
  const values = {
    cadence: cadence.kind === 'weekly' ? `weekly:${cadence.day}` : cadence.kind,
    ...(cadence.kind === 'cron' ? { cron: cadence.cron } : { time: cadence.time }),
    zone,
    range,
    account,
    project: project?.permalink,
    skip_quiet: skipQuiet ? ['skip_quiet'] : [],
  };
  const origin = { digest: id, from, channel, account, accounts: names.length > 1 ? names : [] };
  return digestModal({ origin, values, next: nextInForm(values, workspace.clock.now()) });
}

async function submitEdit(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { workspace } = context;
  const { digest, from, accounts } = originOf(state);
  const schedule = await resolveSchedule(DIGEST_FEATURE, context, digest);
  await expectAllowedThere(DIGEST_FEATURE, context, schedule, edit.name);
  const read = readDigestForm(state.values, workspace.clock.now());
  if ('errors' in read) return { kind: 'errors', errors: read.errors };
  // With one account there is no field for it.
  const account = accounts.length === 0 ? schedule.account : read.filled.account;
  const choices = await choicesOf(context, { ...read.filled, account });
  const edited = await editDigest(workspace, schedule.id, choices);
  if (edited === undefined) throw removedSince(DIGEST_FEATURE, schedule);
  await showEdited(DIGEST_FEATURE, context, edited, from);
  await recordChange(context, 'digest edit', edited);
  return { kind: 'close' };
}
