import type { ModalView } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import type { Guard } from '../../records/guards.ts';
import { searchInput } from '../blocks/inputs.ts';
import { accountInput, cadenceWords, type TimedForm, timedModal, timeInputs } from '../schedules/timed.ts';

export function guardModal(form: TimedForm): ModalView {
  return timedModal('guard', form, [
    ...accountInput(form, 'Account', { optional: false }),
    searchInput('project', 'Project', { placeholder: 'Search a project' }),
    ...timeInputs(form),
  ]);
}

/** "*Storefront* in `acme`, every hour"; mrkdwn. */
export function guardWords(guard: Guard): string {
  const { account, project } = guard;
  return `${bold(project.name)} in ${code(account)}, ${cadenceWords(guard)}`;
}
