import type { ModalView } from '../../core/message.ts';
import { capitalised } from '../../core/mrkdwn.ts';
import { ACTIVITY_RANGES } from '../../service/activity.ts';
import { RANGE_WORDS } from '../activity/stats.ts';
import { type Choice, checkboxesInput, searchInput, selectInput } from '../blocks/inputs.ts';
import { accountInput, type TimedForm, timedModal, timeInputs } from '../schedules/timed.ts';

const RANGES = ACTIVITY_RANGES.map(
  (value): Choice => ({ value, text: capitalised(RANGE_WORDS[value].name) }),
);
const SKIP_QUIET: readonly Choice[] = [
  { value: 'skip_quiet', text: 'Skip it when there were no deployments' },
];

export function digestModal(form: TimedForm): ModalView {
  return timedModal('digest', form, [
    ...timeInputs(form),
    selectInput('range', 'What it covers', {
      hint: 'Figures are compared with the same time before.',
      choices: RANGES,
    }),
    ...accountInput(form, 'Only one account', {
      hint: 'Leave it empty to cover every connected account.',
      optional: true,
    }),
    searchInput('project', 'Only one project', {
      placeholder: 'All projects, or search one',
      optional: true,
    }),
    checkboxesInput('skip_quiet', 'Quiet times', { optional: true, choices: SKIP_QUIET }),
  ]);
}
