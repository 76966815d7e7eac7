import type { Message } from '../../core/message.ts';
import { bold, code, count, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import type { WatchMode } from '../../core/schedule-choices.ts';
import { SCHEDULE_FACES } from '../schedules/card.ts';
import {
  polledLines,
  type ScheduleListing,
  type ShownPolling,
  type ShownState,
  scheduleList,
} from '../schedules/list.ts';

/** A watch as people are shown it, with its channel and account. Times are milliseconds since the epoch. */
export interface ShownWatch {
  watch: {
    id: string;
    mode: WatchMode;
    project?: { name: string } | undefined;
    server?: { name: string } | undefined;
    hours?: ShownHours | undefined;
    setUpBy: string;
    setUpAt: number;
    state: ShownState;
    last?: { at: number; said: string } | undefined;
  };
  channel: string;
  account: string;
  /** How many events are kept for it until its working hours. */
  kept?: number;
}

/** Times as `09:00`. */
export interface ShownHours {
  from: string;
  to: string;
  /** IANA. */
  zone: string;
}

export const MODE_WORDS: Readonly<Record<WatchMode, string>> = {
  all: 'all events',
  failures: 'failures',
  transitions: 'changes between failing and passing',
};

/** "failures of *Storefront* in `acme`"; mrkdwn. */
export function watchWords({ watch: { mode, project, server, hours }, account }: ShownWatch): string {
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

export type ListedWatch = ShownWatch & ShownPolling;

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
