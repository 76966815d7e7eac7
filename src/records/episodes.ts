import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import type { ProjectRef } from '../core/project-ref.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { JobType } from '../jobs/jobs.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** Something that can fail, and a channel that follows it. It has one open episode at a time. */
export const Subject = z.object({
  kind: z.enum(['deployments', 'reachability']),
  channel: z.string(),
  account: z.string(),
  /** Key of the project. It survives a rename if the service gives an identifier. */
  project: z.string(),
  /** Name that people read; not a key. */
  name: z.string(),
  permalink: z.string().optional(),
  /** The person, if the channel is their direct messages. */
  person: z.string().optional(),
});
export interface Subject extends z.infer<typeof Subject> {}

/** A subject as messages show it. */
export interface ShownSubject extends Subject {
  /** True if other accounts may have a project of this name. */
  isAccountShown?: boolean;
}

/** Something that failed. The text comes from the service. */
export const FailedItem = z.object({ key: z.string(), title: z.string(), message: z.string().nullable() });
export interface FailedItem extends z.infer<typeof FailedItem> {}

/** Result of one deployment, or of one run of a guard. */
export const Outcome = z.object({
  kind: z.enum(['failure', 'success']),
  /** Unique within its subject, so that an outcome noted twice counts once. */
  id: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Time of the first failure, if it is earlier than `at`. */
  since: z.number().optional(),
  /** Mrkdwn that people read. */
  lines: z.array(z.string()),
  /** Short form for the headline; mrkdwn. */
  words: z.string().optional(),
  /** Failed parts of the subject. The latest result of each part counts. */
  items: z.array(FailedItem).optional(),
  /** Keys of the tested parts; all parts if left out. */
  tested: z.array(z.string()).optional(),
  /** Names of the servers in an event, from the service. */
  servers: z.array(z.string()).optional(),
  /** Ids of the schedules that follow the subject. They may mention somebody if nobody takes the failure. */
  escalates: z.array(z.string()).optional(),
  /** Number of failures before it that other channels show. */
  earlier: z.number().optional(),
  /** True if it changes only the root message, without a reply. */
  isQuiet: z.boolean().optional(),
});
export interface Outcome extends z.infer<typeof Outcome> {}

const News = z.object({
  kind: z.enum(['failure', 'success', 'claim', 'release', 'close']),
  /** Counts the replies of one kind. */
  number: z.number(),
  lines: z.array(z.string()),
  requestedBy: z.string().optional(),
});
export interface News extends z.infer<typeof News> {}

const Ending = z.object({
  kind: z.enum(['recovered', 'closed']),
  at: z.number(),
  /** Short description of the success that ended the episode; mrkdwn. */
  words: z.string().optional(),
  /** The person who closed it; undefined if it closed by itself. */
  requestedBy: z.string().optional(),
  /** Why it closed by itself; no news for a week if left out. */
  why: z.enum(['gone', 'unfollowed']).optional(),
});
type Ending = z.infer<typeof Ending>;

/** Result of testing a project after one of its deployments failed. */
const Diagnosis = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Mrkdwn for the root message. */
  line: z.string(),
  /** Unreachable parts. The text comes from the service. */
  items: z.array(FailedItem),
  /** Number of failures when something was unreachable; undefined if nothing was. */
  unreachableAt: z.number().optional(),
});
export interface Diagnosis extends z.infer<typeof Diagnosis> {}

/** One failure, from its beginning to its end, in one message. */
export const Episode = z.object({
  /** The ids of its messages begin with it. */
  id: z.string(),
  since: z.number(),
  failures: z.number(),
  first: z.array(z.string()),
  latest: z.array(z.string()),
  /** Parts that still fail. */
  items: z.array(FailedItem).optional(),
  latestAt: z.number(),
  /** Servers of the latest failure. */
  servers: z.array(z.string()).optional(),
  diagnosis: Diagnosis.optional(),
  /** Time of the latest news, milliseconds since the epoch. */
  newsAt: z.number(),
  /** The person who has taken the failure. */
  owner: z.string().optional(),
  escalates: Outcome.shape.escalates,
  /** Time of the post without an owner, or of the latest hand-back, in milliseconds since the epoch. */
  idleSince: z.number().optional(),
  /** Ids of the people and groups that Deckhand has mentioned. */
  mentioned: z.array(z.string()).optional(),
  /** Number of clicks that changed something. */
  clicks: z.number().optional(),
  ending: Ending.optional(),
  /** True if the service did not list its project at the latest look. */
  isMissed: z.boolean().optional(),
  /** True if everything in the channel that follows it is paused. */
  isPaused: z.boolean().optional(),
  /** Replies to post, oldest first. */
  replies: z.array(News),
  /** The message in Slack, used by `cards/deliver.ts`; undefined before its post. */
  rootRef: z.object({ ts: z.string(), cause: z.string(), hash: z.string() }).optional(),
});
export interface Episode extends z.infer<typeof Episode> {}

/** The latest episode of a subject, preceded by those whose end Slack may not show yet. */
export const EpisodeRecord = z.object({
  subject: Subject,
  counted: z.array(z.string()),
  episodes: z.array(Episode),
});
export interface EpisodeRecord extends z.infer<typeof EpisodeRecord> {}

/** Documents by `subjectKey`. */
export function episodeRecords(store: WorkspaceStore): Collection<EpisodeRecord> {
  return store.collection('episodes', EpisodeRecord);
}

export function subjectKey({
  kind,
  channel,
  account,
  project,
}: Pick<Subject, 'kind' | 'channel' | 'account' | 'project'>): string {
  return hashJson([kind, channel, account, project]).slice(0, 22);
}

/** Larger than a page of the feed (API 4.9 in docs/service-api.md). */
const MAX_COUNTED = 200;

/** An episode closes after 7 quiet days, and is deleted 7 days later. */
export const QUIET_MS = 7 * DAY_MS;

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
  const { at, lines, servers } = failure;
  const items = last && mergeItems(last, failure);
  // A failure that is reported late belongs to an episode that has ended since.
  if (last === undefined || (last.ending !== undefined && at >= last.ending.at))
    return [...episodes, beginning(`${subjectKey(subject)} ${failure.id}`, failure, now)];
  const failures = last.failures + 1;
  const isLatest = at >= last.latestAt;
  return withLast(episodes, {
    ...last,
    since: Math.min(last.since, at),
    failures,
    escalates: [...new Set([...(last.escalates ?? []), ...(failure.escalates ?? [])])],
    ...(isLatest ? { latest: lines, items, latestAt: at, servers } : {}),
    newsAt: now,
    replies: [...last.replies, { kind: 'failure', number: failures, lines }],
  });
}

/** Merges the latest result of each item, from any run. */
function mergeItems({ items = [] }: Episode, { items: failed = [], tested }: Outcome): FailedItem[] {
  const untested = tested === undefined ? [] : items.filter(({ key }) => !tested.includes(key));
  return [...untested, ...failed];
}

function beginning(
  id: string,
  { at, since = at, lines, items, servers, escalates, earlier = 0 }: Outcome,
  now: number,
): Episode {
  const latest = { latest: lines, items, latestAt: at, servers, newsAt: now };
  return { id, since, failures: earlier + 1, first: lines, ...latest, escalates, replies: [] };
}

/** Returns undefined if nothing fails, or a newer failure counts. The root message lists what still fails. */
function addSuccess({ episodes }: EpisodeRecord, success: Outcome, now: number): Episode[] | undefined {
  const last = episodes.at(-1);
  const { at, lines, words, isQuiet } = success;
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
    ending: { kind: 'recovered', at, words },
    newsAt: now,
    replies: isQuiet ? last.replies : [...last.replies, reply],
  });
}

function withLast(episodes: readonly Episode[], last: Episode): Episode[] {
  return [...episodes.slice(0, -1), last];
}

export function changeEpisode<R extends EpisodeRecord | undefined>(
  record: R,
  id: string,
  change: Partial<Episode>,
): R {
  if (record === undefined) return record;
  const episodes = record.episodes.map((one) => (one.id === id ? { ...one, ...change } : one));
  return { ...record, episodes };
}

/**
 * Removes from the record what Slack shows: replies, and episodes before the latest.
 * @param earlier the record that Slack shows
 */
export function withoutShown(record: EpisodeRecord, earlier: EpisodeRecord): EpisodeRecord {
  const over = new Set(earlier.episodes.slice(0, -1).map(({ id }) => id));
  const posted = earlier.episodes.flatMap(({ replies }) => replies);
  const isNew = (reply: News): boolean => !posted.some((one) => isDeepStrictEqual(one, reply));
  const episodes = record.episodes
    .filter(({ id }) => !over.has(id))
    .map((episode) => ({ ...episode, replies: episode.replies.filter(isNew) }));
  return { ...record, episodes };
}

export function failingNow({ episodes }: EpisodeRecord): Episode | undefined {
  const last = episodes.at(-1);
  return last?.ending === undefined ? last : undefined;
}

/** The record after its open failure closed by itself. Pure. */
export function withClosed(
  record: EpisodeRecord,
  id: string,
  why: NonNullable<Ending['why']>,
  now: number,
): EpisodeRecord {
  const last = failingNow(record);
  if (last?.id !== id) return record;
  const ending = { kind: 'closed', at: last.latestAt, why } as const;
  return changeEpisode(record, id, { ending, newsAt: now });
}

export type Verb = 'claim' | 'release' | 'close';

/**
 * The episode after a person's click; unchanged if another click won. Pure.
 * @param drawnOwner the owner when Slack showed the button
 */
export function afterClick(
  episode: Episode,
  { user, verb, drawnOwner, now }: { user: string; verb: Verb; drawnOwner: string | undefined; now: number },
): Episode {
  const { owner, clicks = 0, replies, latestAt } = episode;
  const next = verb === 'release' ? undefined : user;
  if (verb !== 'close' && owner === next) return episode;
  const isFree = owner === undefined || owner === user || (verb !== 'release' && owner === drawnOwner);
  if (!isFree) return episode;
  const after = { ...episode, clicks: clicks + 1 };
  const reply: News = { kind: verb, number: after.clicks, lines: [], requestedBy: user };
  const answered = { ...after, replies: [...replies, reply] };
  if (verb === 'release') return { ...answered, owner: next, idleSince: now };
  if (verb !== 'close') return { ...answered, owner: next };
  // The service's clock, because later failures use it too.
  return { ...answered, ending: { kind: 'closed', at: latestAt, requestedBy: user }, newsAt: now };
}

/** The same failure in another channel, after a click that changed it here. Pure. @param after the failure here */
export function takeOver(
  episode: Episode,
  after: Episode,
  { user, verb, now }: { user: string; verb: Verb; now: number },
): Episode {
  const drawnOwner = episode.owner;
  if (verb === 'release' && drawnOwner === undefined) return episode;
  // Only the channel of the click decides who wins.
  const open = verb === 'release' ? { ...episode, owner: user } : episode;
  const changed = afterClick(open, { user, verb, drawnOwner, now });
  return after.ending === undefined ? { ...changed, owner: after.owner } : changed;
}

/** `outcome`: the outcome to note. Without it, the job closes an episode that had no news for a week. */
export const EpisodeJob = z.object({ key: z.string(), outcome: Outcome.optional() });
export interface EpisodeJob extends z.infer<typeof EpisodeJob> {}

export const EPISODE_JOBS: JobType<EpisodeJob> = { queue: 'episodes', schema: EpisodeJob };

/** Open episodes of a project in all channels, by subject. */
export async function findFailing(
  store: WorkspaceStore,
  { account, project }: Pick<Subject, 'account' | 'project'>,
): Promise<Array<{ key: string; kind: Subject['kind'] }>> {
  const rows = await episodeRecords(store).list();
  const isMeant = ({ subject }: EpisodeRecord): boolean =>
    subject.account === account && subject.project === project;
  const failing = rows.filter(({ doc }) => isMeant(doc) && failingNow(doc) !== undefined);
  return failing.map(({ id: key, doc }) => ({ key, kind: doc.subject.kind }));
}

/** The project of a subject, as tests and buttons have it. */
export function makeProjectRef({ project, permalink = project, name }: Subject): ProjectRef {
  return { ...(project === permalink ? {} : { identifier: project }), permalink, name };
}

export const DiagnosisJob = z.object({
  /** `subjectKey` of the episode. */
  key: z.string(),
  /** The failure to start a test for; undefined if a test has ended. */
  failure: z.string().optional(),
});
export interface DiagnosisJob extends z.infer<typeof DiagnosisJob> {}

export const DIAGNOSIS_JOBS: JobType<DiagnosisJob> = { queue: 'diagnoses', schema: DiagnosisJob };
