import { isDeepStrictEqual } from 'node:util';
import { HOUR_MS, MINUTE_MS } from '../core/time/clock.ts';
import {
  type Episode,
  type EpisodeRecord,
  type FailedItem,
  type News,
  type Outcome,
  type Subject,
  subjectKey,
} from './episodes.ts';

/** Larger than a page of the feed (API 4.9 in docs/service-api.md). */
const MAX_COUNTED = 200;
/** A failure within this time of a recovery continues the episode. */
const FLAPPING_MS = 30 * MINUTE_MS;
/** More are not shown. */
const MAX_BEGINS = 100;

/** Adds outcomes to the record, oldest first. Pure. @param now the time at which they are noted */
export function withOutcomes(
  record: EpisodeRecord,
  outcomes: readonly Outcome[],
  now: number,
): EpisodeRecord {
  let current = record;
  for (const outcome of outcomes) {
    if (current.counted.includes(outcome.id)) continue;
    const after = outcome.kind === 'failure' ? addFailure : addSuccess;
    const episodes = after(current, outcome, now);
    const counted = [...current.counted, outcome.id].slice(-MAX_COUNTED);
    if (episodes !== undefined) current = { ...current, counted, episodes };
  }
  return current;
}

function addFailure({ subject, episodes }: EpisodeRecord, failure: Outcome, now: number): Episode[] {
  const last = episodes.at(-1);
  const { at, lines, servers, words, ref } = failure;
  if (last === undefined) return [beginning(subject, failure, now)];
  // A failure that is reported late belongs to an episode that has ended since.
  if (last.ending !== undefined && at >= last.ending.at)
    return last.ending.kind === 'recovered' && at - last.ending.at <= FLAPPING_MS
      ? withLast(episodes, beginAgain(last, failure, now))
      : [...episodes, beginning(subject, failure, now)];
  const failures = last.failures + 1;
  const isLatest = at >= last.latestAt;
  const isQuiet = failure.isQuiet === true;
  const joined = last.ending === undefined && !isQuiet ? listJoined(last, failure) : [];
  const isForChannel = joined.length > 0;
  const news: News = {
    kind: 'failure',
    number: failures,
    lines,
    ...(isForChannel ? { joined, isForChannel } : {}),
  };
  return withLast(episodes, {
    ...last,
    since: Math.min(last.since, at),
    failures,
    escalates: mergeNames(last.escalates, failure.escalates),
    ...(isLatest
      ? { latest: lines, words, items: mergeItems(last, failure), latestAt: at, servers, ref }
      : {}),
    allItems: mergeAll(last, failure),
    allServers: mergeNames(readAllServers(last), servers),
    newsAt: now,
    ...(isForChannel && !isMentionAhead(last) ? restartMentions(last, now) : {}),
    // The test that found a joined part may have put it into the message already.
    replies:
      isForChannel || (!isQuiet && isNews(subject, last, failure)) ? [...last.replies, news] : last.replies,
  });
}

/** A repeated test of what fails already is no news. */
function isNews({ kind }: Subject, { items = [] }: Episode, failure: Outcome): boolean {
  return (
    kind === 'deployments' || (failure.items ?? []).some(({ key }) => !items.some((one) => one.key === key))
  );
}

/** Servers and parts that had not failed before. Nothing is known if an event names no server. */
function listJoined(episode: Episode, { items = [], servers = [] }: Outcome): string[] {
  const { allItems = episode.items ?? [] } = episode;
  const before = new Set(readAllServers(episode).map((name) => name.toLowerCase()));
  const parts = items.filter(({ key }) => !allItems.some((one) => one.key === key));
  const names = before.size === 0 ? [] : servers.filter((name) => !before.has(name.toLowerCase()));
  return [...parts.map(({ title }) => title), ...names];
}

function readAllServers({ servers = [], allServers = servers }: Episode): string[] {
  return allServers;
}

function mergeNames(before: readonly string[] = [], more: readonly string[] = []): string[] {
  return [...new Set([...before, ...more])];
}

/** True if nobody is on the failure, and nobody was mentioned yet. */
function isMentionAhead({ owner, mentioned = [] }: Episode): boolean {
  return owner === undefined && mentioned.length === 0;
}

function restartMentions({ restarts = 0 }: Episode, now: number): Partial<Episode> {
  return { mentioned: [], idleSince: now, restarts: restarts + 1, isWorse: true };
}

/** The failure of a project that had just recovered, in the same message. */
function beginAgain(last: Episode, failure: Outcome, now: number): Episode {
  const { at, since = at, lines, words, items, servers, ref, escalates } = failure;
  const failures = last.failures + 1;
  const begins = [...(last.begins ?? [last.since]), since].slice(-MAX_BEGINS);
  const isQuiet = failure.isQuiet === true;
  const isForChannel = !isQuiet && now - (last.wokenAt ?? 0) >= HOUR_MS;
  const again = countBegins(begins);
  const news: News = { kind: 'failure', number: failures, lines, again, isForChannel };
  return {
    ...last,
    ending: undefined,
    diagnosis: undefined,
    step: undefined,
    since,
    failures,
    failuresBefore: last.failures,
    begins,
    again,
    escalates: mergeNames(last.escalates, escalates),
    ...{
      first: lines,
      latest: lines,
      words,
      items,
      allItems: items,
      latestAt: at,
      servers,
      ref,
      newsAt: now,
    },
    allServers: servers,
    idleSince: now,
    ...(isForChannel ? { ...restartMentions(last, now), wokenAt: now } : {}),
    heldAt: isQuiet ? now : undefined,
    replies: isQuiet ? last.replies : [...last.replies, news],
  };
}

/** How often a failure began within the hour before its latest beginning. */
function countBegins(begins: readonly number[]): number {
  const latest = begins.at(-1) ?? 0;
  return begins.filter((at) => latest - at <= HOUR_MS).length;
}

/** Each part that failed, with its latest reason. */
function mergeAll({ items = [], allItems = items }: Episode, { items: failed = [] }: Outcome): FailedItem[] {
  const byKey = new Map([...allItems, ...failed].map((item) => [item.key, item]));
  return [...byKey.values()];
}

/** Merges the latest result of each item, from any run. */
function mergeItems({ items = [] }: Episode, { items: failed = [], tested }: Outcome): FailedItem[] {
  const untested = tested === undefined ? [] : items.filter(({ key }) => !tested.includes(key));
  return [...untested, ...failed];
}

function beginning(subject: Subject, failure: Outcome, now: number): Episode {
  const { at, since = at, lines, words, items, servers, ref, escalates, earlier = 0 } = failure;
  const latest = { latest: lines, words, items, latestAt: at, servers, ref, newsAt: now };
  return {
    id: `${subjectKey(subject)} ${failure.id}`,
    since,
    failures: earlier + 1,
    first: lines,
    ...latest,
    allItems: items,
    allServers: servers,
    escalates,
    ...(failure.isQuiet === true ? { heldAt: now } : {}),
    replies: [],
  };
}

/** Returns undefined if nothing fails, or a newer failure counts. The root message lists what still fails. */
function addSuccess({ episodes }: EpisodeRecord, success: Outcome, now: number): Episode[] | undefined {
  const last = episodes.at(-1);
  const { at, lines, words, rewind, isQuiet } = success;
  if (last === undefined || last.ending !== undefined || at < last.latestAt) return undefined;
  const items = mergeItems(last, success);
  if (items.length > 0)
    return isDeepStrictEqual(items, last.items)
      ? undefined
      : withLast(episodes, { ...last, items, latestAt: at, newsAt: now });
  const reply: News = { kind: 'success', number: last.failures, lines };
  return withLast(episodes, {
    ...last,
    items,
    ending: { kind: 'recovered', at, words, rewind },
    newsAt: now,
    replies: isQuiet ? last.replies : [...last.replies, reply],
  });
}

function withLast(episodes: readonly Episode[], last: Episode): Episode[] {
  return [...episodes.slice(0, -1), last];
}
