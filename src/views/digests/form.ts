import { z } from 'zod';
import type { KnownBlock, ModalView } from '../../core/message.ts';
import { capitalised, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import { WEEKDAYS } from '../../core/schedule-choices.ts';
import { ACTIVITY_RANGES } from '../../service/activity.ts';
import { RANGE_WORDS } from '../activity/stats.ts';
import {
  type Choice,
  checkboxesInput,
  searchInput,
  selectInput,
  textInput,
  timeInput,
} from '../blocks/inputs.ts';
import { LIMITS } from '../blocks/limits.ts';
import { context } from '../blocks/message.ts';
import { modal, refill, type Values } from '../blocks/modal.ts';
import { OpenedFrom } from '../schedules/schedule.ts';
import { DAY_NAMES } from './list.ts';

export const DIGEST_ADD = 'digest.add';
export const DIGEST_EDIT = 'digest.edit';

/** What the form carries from one version to the next. */
export const DigestOrigin = z.object({
  channel: z.string(),
  /** The id of the digest that is edited; undefined for a new one. */
  digest: z.string().optional(),
  from: OpenedFrom.optional(),
  /** Whose projects the menu offers. */
  account: z.string().optional(),
  /** Those that may be chosen; none where there is only one. */
  accounts: z.array(z.string()),
});
export type DigestOrigin = z.infer<typeof DigestOrigin>;

export interface DigestForm {
  origin: DigestOrigin;
  /** What is filled in so far. */
  values: Values;
  /** The next times, milliseconds since the epoch, or why there are none yet. */
  next: readonly number[] | string;
}

const CADENCES: readonly Choice[] = [
  { value: 'weekdays', text: 'From Monday to Friday' },
  { value: 'daily', text: 'Every day' },
  ...WEEKDAYS.map((day) => ({ value: `weekly:${day}`, text: `Every ${DAY_NAMES[day]}` })),
  { value: 'cron', text: 'By five cron fields' },
];
const RANGES = ACTIVITY_RANGES.map(
  (value): Choice => ({ value, text: capitalised(RANGE_WORDS[value].name) }),
);
const SKIP_QUIET: readonly Choice[] = [
  { value: 'skip_quiet', text: 'Skip it when there were no deployments' },
];

export function digestModal({ origin, values, next }: DigestForm): ModalView {
  const blocks = [
    selectInput('cadence', 'How often', { choices: CADENCES, dispatch: true }),
    whenInput(values),
    searchInput('zone', 'Time zone', {
      placeholder: 'Search, e.g. Lisbon',
      dispatch: true,
    }),
    { ...context(nextWords(next)), block_id: 'next' },
    selectInput('range', 'What it covers', {
      hint: 'Figures are compared with the same time before.',
      choices: RANGES,
    }),
    ...accountInput(origin),
    searchInput('project', 'Only one project', {
      placeholder: 'All projects, or search one',
      optional: true,
    }),
    checkboxesInput('skip_quiet', 'Quiet times', { optional: true, choices: SKIP_QUIET }),
  ];
  const view =
    origin.digest === undefined
      ? modal(DIGEST_ADD, 'Add a digest', { submit: 'Add', metadata: origin }, blocks)
      : modal(DIGEST_EDIT, 'Edit a digest', { submit: 'Save', metadata: origin }, blocks);
  return refill(view, values, []);
}

function whenInput({ cadence }: Values): KnownBlock {
  if (cadence !== 'cron') return timeInput('time', 'At', { dispatch: true });
  return textInput('cron', 'Cron fields', {
    hint: 'Minute, hour, day of month, month, day of week. Press Enter to see the next times.',
    placeholder: '0 9 * * 1-5',
    maxLength: 100,
    dispatch: true,
  });
}

function accountInput({ accounts }: DigestOrigin): KnownBlock[] {
  if (accounts.length === 0) return [];
  const choices = accounts.slice(0, LIMITS.options).map((name) => ({ value: name, text: name }));
  return [
    selectInput('account', 'Only one account', {
      hint: 'Leave it empty to cover every connected account.',
      optional: true,
      choices,
      dispatch: true,
    }),
  ];
}

function nextWords(next: DigestForm['next']): string {
  if (typeof next === 'string') return `:calendar: ${mrkdwn(next, 300)}`;
  return `:calendar: Next, in your own time: ${next.map((at) => dateTime(at)).join(', ')}`;
}
