import type { CommandContext } from './context.ts';

/** An event of Slack's Events API. Its handler parses `event`. */
export interface SlackEvent {
  event_id: string;
  /** Seconds since the epoch. */
  event_time: number;
  event: { type: string; [field: string]: unknown };
  [field: string]: unknown;
}

/** Handles one type of Slack's events. The event is stored, and repeated if this throws. */
export type EventHandler = (context: CommandContext, body: SlackEvent) => Promise<void>;

export type EventHandlers = Readonly<Record<string, EventHandler>>;
