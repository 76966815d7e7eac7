import { z } from 'zod';
import type { ModalView } from '../../core/message.ts';
import { bold, capitalised, code, count, dateTime, sanitize } from '../../core/mrkdwn.ts';
import { WATCH_MODES } from '../../core/schedule-choices.ts';
import type { Watch } from '../../records/schedules.ts';
import { searchInput, selectInput, textInput } from '../blocks/inputs.ts';
import { modal } from '../blocks/modal.ts';
import { type ListScope, OpenedFrom, polledLines, type ShownPolling } from '../schedules/schedule.ts';
import { MODE_WORDS, scheduleWords } from '../schedules/words.ts';

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

/** Who set up a watch, when, and what came of it. @param kept number of events kept until its working hours @param isGone true if the account does not list its project any more */
export function watchLines(
  watch: Watch,
  {
    scope,
    polling,
    kept,
    isGone,
  }: { scope: ListScope; polling: ShownPolling; kept: number; isGone: boolean },
): string[] {
  const { id, channel, project, setUpAt, setUpBy, last, state } = watch;
  return [
    `${code(id)}  ${scheduleWords(watch)}${scope === 'all' ? `, in <#${channel}>` : ''}`,
    ...(isGone && project ? [`:warning: ${bold(project.name, 60)} is no longer listed.`] : []),
    polledLines(state, polling, last).join(' '),
    `Set up by <@${setUpBy}> ${dateTime(setUpAt)}.`,
    ...(kept === 0 ? [] : [`${count(kept, 'event')} kept until working hours.`]),
  ];
}
