import type { Clock } from '../core/clock.ts';

/** Edits that may be left out: Slack takes about one a second in a channel, and 50 of `chat.update` a minute. */
export interface EditBudget {
  /** True where another one fits; it then counts. */
  take(workspace: string, channel: string): boolean;
  /** None before this time, milliseconds since the epoch. */
  pause(workspace: string, until: number): void;
}

/** The rest of the 50 is for outcomes. */
const A_MINUTE = 30;
const MINUTE_MS = 60_000;
const CHANNEL_MS = 1_000;

export function createEditBudget({ now }: Pick<Clock, 'now'>): EditBudget {
  const taken = new Map<string, Array<{ channel: string; at: number }>>();
  const pausedUntil = new Map<string, number>();
  return {
    take(workspace, channel) {
      const at = now();
      if (at < (pausedUntil.get(workspace) ?? 0)) return false;
      // A clock that was set back must not hold edits up.
      const recent = (taken.get(workspace) ?? []).filter((edit) => edit.at <= at && at - edit.at < MINUTE_MS);
      taken.set(workspace, recent);
      const inChannel = recent.filter((edit) => edit.channel === channel && at - edit.at < CHANNEL_MS);
      if (recent.length >= A_MINUTE || inChannel.length > 0) return false;
      recent.push({ channel, at });
      return true;
    },
    pause: (workspace, until) => void pausedUntil.set(workspace, until),
  };
}
