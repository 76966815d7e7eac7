import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { DAY_MS, HOUR_MS } from '../core/time/clock.ts';
import { type ActivityEvent, identifyProject, MAX_EVENTS, readEventTime } from '../service/activity.ts';

/** Position in a feed. Events have no identifiers, so it holds marks of the latest ones. */
export const FeedCursor = z.object({
  /** The mark of each event, repeated for twins, with its time in milliseconds since the epoch. */
  recentMarks: z.array(z.tuple([z.string(), z.number()])),
  /** Events at or before this time count as read. */
  floor: z.number().nullable(),
  lookedAt: z.number(),
});
export interface FeedCursor extends z.infer<typeof FeedCursor> {}

/** A few pages. Older events are before the floor. */
const MAX_MARKS = 400;

/** Deckhand polls a range of seven days (API 4.9); one day is left for the account's time zone. */
const RANGE_MS = 6 * DAY_MS;

export interface Found {
  cursor: FeedCursor;
  /** Oldest first. */
  fresh: ActivityEvent[];
  /** True if there may have been more events than the page holds. */
  isTruncated: boolean;
}

interface Entry {
  event: ActivityEvent;
  mark: string;
  at: number;
}

/** The cursor after all events of the page. Pure. @param now milliseconds since the epoch */
export function cursorAfter(page: readonly ActivityEvent[], now: number, unread?: number): FeedCursor {
  return advance({ recentMarks: [], floor: null, lookedAt: now }, page, now, unread).cursor;
}

/**
 * Finds the new events in a page of the feed, and moves the cursor past it. An event is new if the page holds
 * more events with its mark than were seen. Neither the order within the page nor Deckhand's clock matters.
 * Pure.
 * @param page most recent first (API 4.9)
 * @param now milliseconds since the epoch
 * @param unread number of unreadable events of the page
 */
export function advance(
  cursor: FeedCursor,
  page: readonly ActivityEvent[],
  now: number,
  unread: number | undefined = 0,
): Found {
  const entries = page.map(readEntry).reverse();
  const marks = countMarks(cursor);
  const fresh = entries.filter((entry) => !takeMark(marks, entry.mark) && isAfter(cursor, entry));
  // A full page may hide older events.
  const isFull = page.length + unread >= MAX_EVENTS && page.length > 0;
  const isOverrun = isFull && fresh.length === entries.length;
  const isLate = now - cursor.lookedAt > RANGE_MS;
  return {
    cursor: moveCursor(cursor, entries, fresh, isFull, now),
    fresh: fresh.toSorted((one, other) => one.at - other.at).map(({ event }) => event),
    isTruncated: fresh.length > 0 && (isOverrun || isLate),
  };
}

/** True for an event that the cursor has passed. */
export function isPast(cursor: FeedCursor, event: { mark: string; at: number }): boolean {
  return cursor.recentMarks.some(([mark]) => mark === event.mark) || !isAfter(cursor, event);
}

/**
 * Events at the floor itself were cut off with an earlier page, or share the time of the last one seen. They
 * may be new only if no younger event was seen.
 */
function isAfter({ recentMarks, floor }: FeedCursor, { at }: Pick<Entry, 'at'>): boolean {
  if (floor === null || at > floor) return true;
  return at === floor && recentMarks.every(([, seenAt]) => seenAt <= floor);
}

function moveCursor(
  cursor: FeedCursor,
  entries: readonly Entry[],
  fresh: readonly Entry[],
  isFull: boolean,
  now: number,
): FeedCursor {
  const oldest = isFull ? Math.min(...entries.map(({ at }) => at)) : null;
  const floor = later(cursor.floor, oldest);
  const added = fresh.map(({ mark, at }): [string, number] => [mark, at]);
  const recentMarks = [...cursor.recentMarks, ...added]
    .filter(([, at]) => floor === null || at >= floor)
    .toSorted(([, one], [, other]) => other - one);
  const dropped = recentMarks[MAX_MARKS]?.[1] ?? null;
  // An approximate time, so that most pages change nothing.
  const lookedAt = now - cursor.lookedAt > HOUR_MS ? now : cursor.lookedAt;
  return { recentMarks: recentMarks.slice(0, MAX_MARKS), floor: later(floor, dropped), lookedAt };
}

function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function countMarks({ recentMarks }: FeedCursor): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [mark] of recentMarks) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  return counts;
}

/** True if the mark was seen more often than it was taken so far. */
function takeMark(marks: Map<string, number>, mark: string): boolean {
  const remaining = marks.get(mark) ?? 0;
  if (remaining > 0) marks.set(mark, remaining - 1);
  return remaining > 0;
}

/**
 * Mark of an event. It leaves out whatever may change later: names of people and projects, and the zone in
 * which the time is written.
 */
export function identifyEvent(event: ActivityEvent): string {
  const { end_ref, servers } = event.properties;
  const facts = [readEventTime(event), event.event, identifyProject(event), end_ref, servers];
  return hashJson(facts).slice(0, 16);
}

function readEntry(event: ActivityEvent): Entry {
  return { event, at: readEventTime(event), mark: identifyEvent(event) };
}
