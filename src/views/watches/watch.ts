import type { Message } from '../../core/message.ts';
import { bold, code, count, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import type { WatchMode } from '../../core/schedule-choices.ts';
import type { PlacedWatch } from '../../records/watches.ts';
import { SCHEDULE_FACES } from '../schedules/card.ts';
import { polledLines, type ScheduleListing, type ShownPolling, scheduleList } from '../schedules/list.ts';

export const MODE_WORDS: Readonly<Record<WatchMode, string>> = {
  all: 'all events',
  failures: 'failures',
  transitions: 'changes between failing and passing',
};

/** "failures of *Storefront* in `acme`"; mrkdwn. */
export function watchWords({ watch: { mode, project, server, hours }, account }: PlacedWatch): string {
  const where =
    project === undefined
      ? `all projects of ${code(account)}`
      : `${bold(project.name, 60)} in ${code(account)}`;
  const on = server === undefined ? '' : ` on the server ${code(server.name, 60)}`;
  const when =
    hours === undefined
      ? ''
      : `, Monday to Friday from ${hours.from} to ${hours.to}, ${mrkdwn(hours.zone, 60)}`;
  return `${MODE_WORDS[mode]} of ${where}${on}${when}`;
}

export type ListedWatch = PlacedWatch & ShownPolling;

/** Who set up what, when, and what came of it. */
export function watchListMessage(watches: readonly ListedWatch[], listing: ScheduleListing): Message {
  const rows = watches.map((listed) => {
    const { channel, watch, kept = 0, ...polling } = listed;
    const { id, setUpAt, setUpBy, last, state } = watch;
    const lines = [
      `${code(id)}  ${watchWords(listed)}${listing.scope === 'all' ? `, in <#${channel}>` : ''}`,
      polledLines(state, polling, last).join(' '),
      `Set up by <@${setUpBy}> ${dateTime(setUpAt)}.`,
      ...(kept === 0 ? [] : [`${count(kept, 'event')} kept until working hours.`]),
    ];
    return { id, isAsleep: state.kind === 'paused', lines };
  });
  return scheduleList(SCHEDULE_FACES.watch, rows, listing);
}
