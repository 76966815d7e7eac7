import type { Clock } from '../core/clock.ts';

/** Edits that may be left out: Slack takes about one a second in a channel, and 50 of `chat.update` a minute. */
export interface EditBudget {
  /** Whether another one fits. */
  hasRoom(workspace: string, channel: string): boolean;
  /** The same; it then counts. */
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

  function hasRoom(workspace: string, channel: string): boolean {
    const at = now();
    if (at < (pausedUntil.get(workspace) ?? 0)) return false;
    const known = taken.get(workspace) ?? [];
    // A clock that was set back must not hold edits up.
    const recent = known.filter((edit) => edit.at <= at && at - edit.at < MINUTE_MS);
    if (recent.length < known.length) taken.set(workspace, recent);
    if (recent.length >= A_MINUTE) return false;
    return !recent.some((edit) => edit.channel === channel && at - edit.at < CHANNEL_MS);
  }

  return {
    hasRoom,
    take(workspace, channel) {
      if (!hasRoom(workspace, channel)) return false;
      const edit = { channel, at: now() };
      const edits = taken.get(workspace);
      if (edits === undefined) taken.set(workspace, [edit]);
      else edits.push(edit);
      return true;
    },
    pause: (workspace, until) => void pausedUntil.set(workspace, until),
  };
}
