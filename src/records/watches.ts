import { z } from 'zod';
import { ProjectRef } from '../core/project-ref.ts';
import { WATCH_MODES } from '../core/schedule-choices.ts';
import { addDays, dayAt, instantAt, ZoneName } from '../core/time/zone.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { Outcome } from './episodes.ts';
import { Batch, feedChannelId, LastResult, ReportedUnread, ScheduleState } from './schedules.ts';

/** A time of the day; an end may be 24:00. */
const Time = z.string().regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/);

/**
 * The hours of Monday to Friday, in which something is posted. Where `to` is not after `from`, they begin on a working
 * day and end on the next day.
 */
export const WorkingHours = z.object({
  from: Time,
  to: Time,
  /** IANA. */
  zone: ZoneName,
});
export type WorkingHours = z.infer<typeof WorkingHours>;

/** Events name servers in their own words, so either may be met. */
const WatchedServer = z.object({ identifier: z.string(), name: z.string() });
export type WatchedServer = z.infer<typeof WatchedServer>;

export const Watch = z.object({
  /** Short, for people: `w7k2`. */
  id: z.string(),
  /** The request that set it up, so that its repetition after a kill finds it. */
  requestId: z.string(),
  /** Undefined: all projects of the account. */
  project: ProjectRef.optional(),
  /** Undefined: all servers. */
  server: WatchedServer.optional(),
  mode: z.enum(WATCH_MODES),
  /** The Slack user whose own deployments alone it posts, by direct message. Undefined: everybody's, in a channel. */
  person: z.string().optional(),
  /** Until then it posts nothing, milliseconds since the epoch. */
  mutedUntil: z.number().optional(),
  /** Outside of them its events are kept. Undefined: it posts at any time. */
  hours: WorkingHours.optional(),
  setUpBy: z.string(),
  /** Milliseconds since the epoch. */
  setUpAt: z.number(),
  state: ScheduleState,
  last: LastResult.optional(),
});
export type Watch = z.infer<typeof Watch>;

/** How far a feed was read. Events have no identifiers, so it holds marks of the latest ones. */
export const FeedCursor = z.object({
  /** The mark of each event, as often as it was there, with its instant in milliseconds since the epoch. */
  seen: z.array(z.tuple([z.string(), z.number()])),
  /** Events that are not younger than this count as read. */
  floor: z.number().nullable(),
  lookedAt: z.number(),
});
export type FeedCursor = z.infer<typeof FeedCursor>;

/**
 * The servers of each project that fail, with the time of their latest failure, milliseconds since the epoch; the name is
 * empty if the event names none. As far as the channel's watches saw it.
 */
const Failing = z.record(z.string(), z.array(z.object({ server: z.string(), at: z.number() })));
export type Failing = z.infer<typeof Failing>;

/** An event as it will be posted. */
const KeptLine = z.object({
  /** The event's type. */
  kind: z.string(),
  /** Mrkdwn of our own making. */
  line: z.string(),
  /** The ids of the watches that ask for it. */
  for: z.array(z.string()),
  /** Set where it belongs to an episode. */
  outcome: Outcome.omit({ lines: true })
    .extend({ project: z.string(), name: z.string(), permalink: z.string().optional() })
    .optional(),
});
export type KeptLine = z.infer<typeof KeptLine>;

/** What is kept until the working hours of a watch begin. */
export const Kept = z.object({
  /** Oldest first. */
  lines: z.array(KeptLine),
  /** How many older ones there was no room for. */
  dropped: z.number(),
  /** True where the feed may have held more events than the service listed. */
  isTruncated: z.boolean(),
});
export type Kept = z.infer<typeof Kept>;

export const NOTHING_KEPT: Kept = { lines: [], dropped: 0, isTruncated: false };

/**
 * What a channel is sent of one account: its watches share one cursor, so that an event that fits several is posted once.
 */
export const WatchedChannel = z.object({
  channel: z.string(),
  account: z.string(),
  cursor: FeedCursor,
  failing: Failing,
  watches: z.array(Watch),
  kept: Kept,
  /** The events that could not be read, as the channel was told. */
  unread: ReportedUnread.optional(),
  /** The servers whose creation Deckhand tells here itself, by `announcedServer`. */
  announced: z.array(z.string()),
  /** Oldest first. */
  pending: z.array(Batch),
});
export type WatchedChannel = z.infer<typeof WatchedChannel>;

/** By `feedChannelId`. */
export function watchedChannels(store: WorkspaceStore): Collection<WatchedChannel> {
  return store.collection('watched-channels', WatchedChannel);
}

export function announcedServer(project: string, server: string): string {
  return `${project}/${server}`;
}

/** Where Deckhand tells a channel itself that a server is made, no watch says so again. */
export async function setAnnounced(
  store: WorkspaceStore,
  where: Pick<PlacedWatch, 'channel' | 'account'>,
  server: string,
  isAnnounced: boolean,
): Promise<void> {
  await watchedChannels(store).update(feedChannelId(where), (current) => {
    if (current === undefined) return current;
    const others = current.announced.filter((one) => one !== server);
    return { ...current, announced: isAnnounced ? [...others, server] : others };
  });
}

/** A watch with its channel and account. */
export interface PlacedWatch {
  watch: Watch;
  channel: string;
  account: string;
  /** How many events are kept for it until its working hours. */
  kept?: number;
}

/** All watches of a workspace, oldest first. */
export async function listWatches(store: WorkspaceStore): Promise<PlacedWatch[]> {
  const rows = await watchedChannels(store).list();
  return rows
    .flatMap(({ doc: { channel, account, watches, kept } }) =>
      watches.map((watch) => ({
        watch,
        channel,
        account,
        kept: kept.lines.filter((line) => line.for.includes(watch.id)).length,
      })),
    )
    .toSorted((one, other) => one.watch.setUpAt - other.watch.setUpAt);
}

/** @param at milliseconds since the epoch */
export function isWithin({ from, to, zone }: WorkingHours, at: number): boolean {
  const today = dayAt(zone, at);
  // Hours that began yesterday may not have ended yet.
  return [addDays(today, -1), today].some((day) => {
    if (!isWorkingDay(day)) return false;
    const last = to > from ? day : addDays(day, 1);
    return at >= instantOf(zone, day, from) && at < instantOf(zone, last, to);
  });
}

type Day = ReturnType<typeof dayAt>;

function isWorkingDay({ year, month, day }: Day): boolean {
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return weekday >= 1 && weekday <= 5;
}

function instantOf(zone: string, day: Day, time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return instantAt(zone, day, hour, minute);
}
