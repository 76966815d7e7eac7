import { AccountFailure, UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { ProjectRef } from '../../core/project-ref.ts';
import type { Watch } from '../../records/schedules.ts';
import { isDoubtful, switchPushOn } from '../../scheduler/watches/switch-push.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { pushModal, pushWords, WATCH_PUSH, WatchOrigin } from '../../views/watches/watch-messages.ts';
import { defineButton } from '../action.ts';
import type { CommandContext } from '../context.ts';
import { replyWithEdited } from '../schedules/change-replies.ts';
import { ScheduleButton } from '../schedules/schedule-commands.ts';
import { expectAllowedThere, resolveSchedule } from '../schedules/schedule-replies.ts';
import { FormFault, type Submission, type Submitted, type ViewState } from '../submission.ts';
import { parseForm } from '../values.ts';

/** “Hear within seconds”: opens the question. */
export const pushAction = defineButton(ScheduleButton, {
  actionId: 'watch:push',
  async handle({ id }, context) {
    const { watch } = await findPushable(context, id);
    const { invocation, workspace } = context;
    const account = await workspace.accounts.get(watch.account);
    const isRemovable = account !== undefined && (await workspace.offered.has(account, 'removal'));
    const origin = { id, account: watch.account, channel: invocation.channel };
    return { kind: 'modal', view: pushModal(origin, watch, isRemovable) };
  },
});

/** Makes an integration, so that a repeat would make another. */
export const pushForm: Submission = { callbackId: WATCH_PUSH, isOrder: true, submit };

async function submit(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { id } = parseForm(WatchOrigin, state.metadata);
  const { watch, project } = await findPushable(context, id);
  const { invocation, workspace } = context;
  const account = await workspace.accounts.resolve(invocation, watch.account);
  const request = { requestedBy: invocation.user, channel: watch.channel };
  try {
    if (!(await switchPushOn(workspace, account, project, request))) throw new FormFault({}, ENDED);
  } catch (error) {
    if (!(error instanceof AccountFailure) || !isDoubtful(error)) throw error;
    const push = await workspace.pushes.get({ account: account.name, project });
    throw new FormFault({}, describeDoubt(context, error, push?.integration !== undefined));
  }
  const { PUBLIC_URL: publicUrl = '' } = workspace.config;
  const note = pushWords({ state: 'on', publicUrl }, publicUrl);
  return { kind: 'close', card: await replyWithEdited(context, watch, { what: 'watch push', note }) };
}

async function findPushable(
  context: CommandContext,
  id: string,
): Promise<{ watch: Watch; project: ProjectRef }> {
  const watch = await resolveSchedule('watch', context, id);
  await expectAllowedThere(context, watch, 'watch');
  const { project } = watch;
  if (project === undefined)
    throw new UserError(
      'Calls come for one project at a time, so a watch of all projects cannot use them.',
      'watch',
    );
  if (context.workspace.config.PUBLIC_URL === undefined)
    throw new UserError(
      `The service needs an address to call. Whoever runs Deckhand must set ${code('PUBLIC_URL')} to it.`,
    );
  return { watch, project };
}

const ENDED =
  'Somebody removed the last watch of this project in the meantime, so Deckhand switches its integration off.';

/**
 * Sending it again could make a second integration, so the person checks first.
 * @param isEnding true if Deckhand knows the integration and switches it off
 */
function describeDoubt({ explain }: CommandContext, error: AccountFailure, isEnding: boolean): string {
  const { reference } = explain(error, { view: WATCH_PUSH });
  return failureWords({
    text: 'The service gave no clear answer, so the integration “Deckhand” may or may not be set up.',
    next: isEnding
      ? 'Deckhand switches it off. Then you can send this again.'
      : 'Check the project’s integrations there, and delete it, before you send this again.',
    reference,
  });
}
