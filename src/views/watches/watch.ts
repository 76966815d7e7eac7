import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import type { WatchMode } from '../../core/schedule-choices.ts';
import { dateTime } from '../blocks/time.ts';
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
    setUpBy: string;
    setUpAt: number;
    state: ShownState;
    last?: { at: number; said: string } | undefined;
  };
  channel: string;
  account: string;
}

export const MODE_WORDS: Readonly<Record<WatchMode, string>> = {
  all: 'all events',
  failures: 'failures',
  transitions: 'changes between failing and passing',
};

/** "failures of *Storefront* in `acme`"; mrkdwn. */
export function watchWords({ watch: { mode, project }, account }: ShownWatch): string {
  const where =
    project === undefined
      ? `all projects of ${code(account)}`
      : `${bold(project.name, 60)} in ${code(account)}`;
  return `${MODE_WORDS[mode]} of ${where}`;
}

export type ListedWatch = ShownWatch & ShownPolling;

/** Who set up what, when, and what came of it. */
export function watchListMessage(watches: readonly ListedWatch[], listing: ScheduleListing): Message {
  const rows = watches.map((listed) => {
    const { channel, watch, ...polling } = listed;
    const { id, setUpAt, setUpBy, last, state } = watch;
    const lines = [
      `${code(id)}  ${watchWords(listed)}, in <#${channel}>`,
      `Set up by <@${setUpBy}> ${dateTime(setUpAt)}.`,
      ...polledLines(state, polling, last),
    ];
    return { id, isAsleep: state.kind === 'paused', lines };
  });
  return scheduleList(SCHEDULE_FACES.watch, rows, listing);
}
