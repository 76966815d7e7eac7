import { type Episode, episodeRecords, failingNow, readOpen, subjectKey } from '../../records/episodes.ts';
import { advance } from '../../records/feed-cursor.ts';
import type { ActivityFeed, HeardFeed } from '../../records/feeds.ts';
import { type LedgerRange, MAX_LATE_MS, toEvent } from '../../records/ledger.ts';
import type { Watch } from '../../records/schedules.ts';
import type { Mentions } from '../../records/service-people.ts';
import type { Standing } from '../../records/standings.ts';
import { type Activity, isCalledFailed, isFailure, readEventOutcome } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { LedgerNews } from './channel-news.ts';
import { type FailingServer, findFailing, isFollowed, isPlaced, type ReadEvent } from './news.ts';

export type FeedPage = Pick<Activity, 'events' | 'unread'> & { skipped?: readonly SkippedRows[] };

/** Finds what is new for the channels of an account. Each document is read once for all of them. */
export interface NewsFinder {
  /** The entries that the account's channels have not heard of. */
  fresh: readonly ReadEvent[];
  /** Number of the next entry. */
  next: number;
  /** True if a channel may have to hear of something. @param watches the active ones of the channel */
  hasNews(watches: readonly Watch[], mentions: Mentions): Promise<boolean>;
  find(feed: ActivityFeed, watches: readonly Watch[]): Promise<LedgerNews>;
}

/** @param page undefined if the feed was not read now */
export async function createNewsFinder(
  workspace: Workspace,
  hearing: HeardFeed,
  page?: FeedPage,
): Promise<NewsFinder> {
  const { account, next: from } = hearing;
  const readFrom = (number: number) => workspace.ledger.read(account, Number.POSITIVE_INFINITY, { number });
  const record = await readFrom(from);
  const { next } = record;
  const failures = createFailureReader(workspace, hearing);
  const fresh = readEvents(record);
  const isCut = record.gaps.length > 0;
  let back = { from, record, read: fresh };
  /** Reads further back if necessary. */
  const reach = async (number: number): Promise<void> => {
    if (number >= Math.min(back.from, next)) return;
    const older = await readFrom(number);
    back = { from: number, record: older, read: readEvents(older) };
  };
  return {
    fresh,
    next,
    async hasNews(watches, mentions) {
      if (isCut) return true;
      for (const one of fresh)
        for (const watch of watches) if (await mayBeNews(watch, one, mentions, failures.find)) return true;
      return false;
    },
    async find(feed, watches) {
      const { channel, position, waiting, begun } = feed;
      const start = hearing.channels.includes(channel) ? Math.max(from, position) : Math.min(position, next);
      await reach(Math.min(start, ...waiting.entries.map(({ number }) => number)));
      const waits = new Set(waiting.entries.map(({ number }) => number));
      const own = back.read.filter(({ entry }) => entry.number >= start || waits.has(entry.number));
      const cursor = begun?.cursor;
      const isOverrun =
        cursor !== undefined &&
        page !== undefined &&
        advance(cursor, page.events, workspace.clock.now(), page.unread).isTruncated;
      const isMissing = back.record.gaps.some((gap) => (gap.next ?? 0) >= start);
      return {
        read: back.read,
        from: start,
        next: back.record.next,
        failing: await failures.findAll(channel, own, watches),
        isTruncated: isOverrun || isMissing,
        skipped: page && (page.skipped ?? []),
      };
    },
  };
}

function readEvents({ entries }: LedgerRange): ReadEvent[] {
  const events = entries.filter(({ test, at, readAt }) => test === undefined && readAt - at <= MAX_LATE_MS);
  return events.map((entry) => ({ entry, event: toEvent(entry) }));
}

type FindShown = (channel: string, project: string) => Promise<Episode | undefined>;

/** A success is news for a watch of failures if the channel shows the failure that it may end. */
async function mayBeNews(
  watch: Watch,
  { entry, event }: ReadEvent,
  mentions: Mentions,
  findShown: FindShown,
): Promise<boolean> {
  const isOfMode =
    watch.mode === 'all' ||
    isFailure(event.event) ||
    (watch.mode === 'failures' && isCalledFailed(event.event));
  if (isOfMode && isFollowed(watch, event, mentions)) return true;
  if (!isPlaced(watch, event) || !isSuccess({ entry, event })) return false;
  return (await findShown(watch.channel, entry.project)) !== undefined;
}

function isSuccess({ event }: ReadEvent): boolean {
  return readEventOutcome(event.event) === 'succeeded';
}

/** All open failures are read at once for more channels than these. */
const FEW = 10;

function createFailureReader({ ledger, store }: Workspace, { account, channels }: HeardFeed) {
  const episodes = new Map<string, Episode | undefined>();
  const standings = new Map<string, Standing | undefined>();
  let areAllRead = false;

  /** The open failure of a project that a channel shows. */
  async function find(channel: string, project: string): Promise<Episode | undefined> {
    const key = subjectKey({ kind: 'deployments', channel, account, project });
    if (episodes.has(key) || areAllRead) return episodes.get(key);
    if (channels.length <= FEW) {
      episodes.set(key, (await readOpen(store, key))?.episode);
    } else {
      for (const { id, doc } of await episodeRecords(store).list()) episodes.set(id, failingNow(doc));
      areAllRead = true;
    }
    return episodes.get(key);
  }

  async function readStanding(project: string): Promise<Standing | undefined> {
    if (!standings.has(project)) standings.set(project, await ledger.standings.get(account, project));
    return standings.get(project);
  }

  return {
    find,
    /** Servers that fail before these events, of the projects whose failure the channel shows. */
    async findAll(
      channel: string,
      events: readonly ReadEvent[],
      watches: readonly Watch[],
    ): Promise<Map<string, FailingServer[]>> {
      const failing = new Map<string, FailingServer[]>();
      for (const [project, own] of Map.groupBy(events, ({ entry }) => entry.project)) {
        const followed = watches.filter((watch) => own.some(({ event }) => isPlaced(watch, event)));
        if (followed.length === 0 || !own.some(isSuccess)) continue;
        const episode = await find(channel, project);
        if (episode === undefined) continue;
        failing.set(project, findFailing(episode, await readStanding(project), own, followed));
      }
      return failing;
    },
  };
}
