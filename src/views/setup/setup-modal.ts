import { z } from 'zod';
import type { ModalView } from '../../core/message.ts';
import type { ProjectRef } from '../../core/project-ref.ts';
import type { Digest, Guard } from '../../records/schedules.ts';
import { type Choice, multiSearchInput, selectInput, textInput } from '../blocks/inputs.ts';
import { buttons } from '../blocks/make-blocks.ts';
import { modal, refill, type Values } from '../blocks/modal.ts';
import { describeCadence } from '../schedules/details.ts';
import { escalationInputs } from '../schedules/timed-modal.ts';
import { showCardButton } from './channel-card.ts';

export const SETUP = 'setup';

/** The value of a field that the form cannot say. */
const AS_IS = 'as_is';
/** The same in a field for text. */
export const AS_IS_TEXT = 'as it is';

/** The channel of the form, and the account that it shows. */
export const SetupOrigin = z.object({ channel: z.string(), account: z.string() });
export interface SetupOrigin extends z.infer<typeof SetupOrigin> {}

export interface SetupForm {
  origin: SetupOrigin;
  accounts: readonly string[];
  values: Values;
  /** The projects of `values`, by the names that people know. */
  projects: readonly ProjectRef[];
  /** An existing guard and digest, whose times the menus show. */
  guard: Guard | undefined;
  digest: Digest | undefined;
  /** True if something is set up in the channel. */
  hasCard: boolean;
}

/** Room for several patterns, with commas between them. */
const MAX_TYPED = 300;

const HEARING: readonly Choice[] = [
  { value: 'failures', text: 'Failures and recoveries' },
  { value: 'everything', text: 'Everything' },
  { value: 'nothing', text: 'Nothing' },
];

export function setupModal({
  origin,
  accounts,
  values,
  projects,
  guard,
  digest,
  hasCard,
}: SetupForm): ModalView {
  const blocks = [
    selectInput('account', 'Account', {
      choices: accounts.map((name) => ({ value: name, text: name })),
      dispatch: true,
    }),
    multiSearchInput('projects', 'Projects', {
      placeholder: 'Search the projects',
      initial: projects.map(({ permalink, name }) => ({ value: permalink, text: name })),
    }),
    textInput('pattern', 'Also projects named', {
      placeholder: 'e.g. shop-*',
      hint: 'For what to hear. A star stands for any text, and later projects join. A star alone means all.',
      optional: true,
      maxLength: MAX_TYPED,
    }),
    selectInput('hear', 'What to hear', { choices: withAsIs(HEARING, values.hear) }),
    ...escalationInputs(),
    selectInput('guard', 'Test access on a schedule', {
      hint: 'A guard tests each project, and is silent while all is reachable.',
      choices: withAsIs(
        [
          { value: 'none', text: 'No guard' },
          { value: 'hourly', text: 'Every hour' },
          { value: 'daily', text: describeTimes(guard, 'daily') ?? 'Every day at 09:00' },
        ],
        values.guard,
      ),
    }),
    selectInput('digest', 'Digest', {
      hint: 'Of the project if there is only one, else of the account.',
      choices: withAsIs(
        [
          { value: 'none', text: 'No digest' },
          { value: 'weekly', text: describeTimes(digest, 'weekly') ?? 'Every Monday at 09:00' },
          { value: 'daily', text: describeTimes(digest, 'daily') ?? 'Every day at 09:00' },
        ],
        values.digest,
      ),
    }),
    textInput('hours', 'Working hours', {
      placeholder: 'At any time, or e.g. 9-18',
      hint: 'Monday to Friday. What happens outside of them is posted as one summary when they begin.',
      optional: true,
    }),
    ...buttons(hasCard && showCardButton()),
  ];
  const { projects: _, ...others } = values;
  return refill(
    modal(SETUP, 'Set up this channel', { submit: 'Save', metadata: origin }, blocks),
    others,
    [],
  );
}

/** Offers to leave what the other choices cannot say. */
function withAsIs(choices: readonly Choice[], value: Values[string]): Choice[] {
  const stays = { value: AS_IS, text: `Stays ${AS_IS_TEXT}` };
  return value === AS_IS ? [stays, ...choices] : [...choices];
}

function describeTimes(schedule: Guard | Digest | undefined, kind: 'daily' | 'weekly'): string | undefined {
  return schedule?.cadence.kind === kind ? describeCadence(schedule) : undefined;
}
