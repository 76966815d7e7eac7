import { z } from 'zod';
import type { ModalView } from '../../core/message.ts';
import { capitalised, sanitize } from '../../core/mrkdwn.ts';
import { WATCH_MODES } from '../../core/schedule-choices.ts';
import type { Watch } from '../../records/watches.ts';
import { searchInput, selectInput, textInput } from '../blocks/inputs.ts';
import { modal } from '../blocks/modal.ts';
import { OpenedFrom } from '../schedules/list.ts';
import { MODE_WORDS } from './watch.ts';

export const WATCH_EDIT = 'watch.edit';

/** What the form knows of its watch. */
export const WatchOrigin = z.object({
  id: z.string(),
  account: z.string(),
  from: OpenedFrom.optional(),
});
export type WatchOrigin = z.infer<typeof WatchOrigin>;

export function watchModal(origin: WatchOrigin, { mode, project, server, hours }: Watch): ModalView {
  const zone = hours === undefined ? 'your time zone' : sanitize(hours.zone, 60);
  const choices = WATCH_MODES.map((value) => ({ value, text: capitalised(MODE_WORDS[value]) }));
  return modal(WATCH_EDIT, 'Edit a watch', { submit: 'Save', metadata: origin }, [
    searchInput('project', 'Project', {
      placeholder: 'All projects, or search one',
      optional: true,
      initial: project && { value: project.permalink, text: project.name },
    }),
    textInput('server', 'Server', {
      placeholder: 'All servers, or the name of one',
      optional: true,
      initial: server?.name,
    }),
    selectInput('mode', 'What it posts', { choices, initial: mode }),
    textInput('hours', 'Working hours', {
      placeholder: 'At any time, or e.g. 9-18',
      hint: `Monday to Friday in ${zone}. What happens outside of them is posted as one summary when they begin.`,
      optional: true,
      initial: hours && `${hours.from}-${hours.to}`,
    }),
  ]);
}
