import { z } from 'zod';
import type { Message, ModalView } from '../../core/message.ts';
import { bold, capitalised, code, count, dateTime, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import { WATCH_MODES, type WatchMode } from '../../core/schedule-choices.ts';
import type { PlacedWatch, Watch } from '../../records/watches.ts';
import { searchInput, selectInput, textInput } from '../blocks/inputs.ts';
import { modal } from '../blocks/modal.ts';
import {
  OpenedFrom,
  polledLines,
  SCHEDULE_FACES,
  type ScheduleListing,
  type ShownPolling,
  scheduleList,
} from '../schedules/schedule.ts';

export const MODE_WORDS: Readonly<Record<WatchMode, string>> = {
  all: 'all events',
  failures: 'failures',
  transitions: 'changes between failing and passing',
};

/** "*Storefront* in `acme`: failures"; mrkdwn. */
export function watchWords({ watch, account }: PlacedWatch): string {
  const { mode, project, server, hours, person } = watch;
  const all = person === undefined ? 'all projects of' : 'your own deployments in';
  const where =
    project === undefined ? `${all} ${code(account)}` : `${bold(project.name, 60)} in ${code(account)}`;
  const on = server === undefined ? '' : ` on the server ${code(server.name, 60)}`;
  const when =
    hours === undefined
      ? ''
      : `, Monday to Friday from ${hours.from} to ${hours.to}, ${mrkdwn(hours.zone, 60)}`;
  return `${where}: ${MODE_WORDS[mode]}${on}${when}`;
}

/** `isGone`: the account does not list its project any more. */
export type ListedWatch = PlacedWatch & ShownPolling & { isGone?: boolean };

/** Who set up what, when, and what came of it. */
export function watchListMessage(watches: readonly ListedWatch[], listing: ScheduleListing): Message {
  const rows = watches.map((listed) => {
    const { channel, watch, kept = 0, isGone, ...polling } = listed;
    const { id, setUpAt, setUpBy, last, state } = watch;
    const lines = [
      `${code(id)}  ${watchWords(listed)}${listing.scope === 'all' ? `, in <#${channel}>` : ''}`,
      ...(isGone && watch.project ? [`:warning: ${bold(watch.project.name, 60)} is no longer listed.`] : []),
      polledLines(state, polling, last).join(' '),
      `Set up by <@${setUpBy}> ${dateTime(setUpAt)}.`,
      ...(kept === 0 ? [] : [`${count(kept, 'event')} kept until working hours.`]),
    ];
    return { id, isAsleep: state.kind === 'paused', lines };
  });
  return scheduleList(SCHEDULE_FACES.watch, rows, listing);
}

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
