import type { ModalView } from '../../core/message.ts';
import { searchInput } from '../blocks/inputs.ts';
import { accountInput, type TimedForm, timedModal, timeInputs } from '../schedules/timed.ts';

export function guardModal(form: TimedForm): ModalView {
  return timedModal('guard', form, [
    ...accountInput(form, 'Account', { optional: false }),
    searchInput('project', 'Project', { placeholder: 'Search a project' }),
    ...timeInputs(form),
  ]);
}
