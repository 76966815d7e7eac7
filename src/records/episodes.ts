import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { mayRead } from '../core/message.ts';
import type { ProjectRef } from '../core/project-ref.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { JobType } from '../jobs/jobs.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** Something that can fail, in a channel that follows it. It has one open episode at a time. */
export const Subject = z.object({
  kind: z.enum(['deployments', 'reachability']),
  channel: z.string(),
  account: z.string(),
  /** Key of the project: it survives a rename if the service gives an identifier. */
  project: z.string(),
  /** Name of the project for people; not a key. */
  name: z.string(),
  /** Permalink of the project, for links. */
  permalink: z.string().optional(),
  /** Whose direct messages the channel is; undefined for any other channel. */
  person: z.string().optional(),
});
export type Subject = z.infer<typeof Subject>;

/** A thing that failed. Foreign text. */
export const FailedItem = z.object({ key: z.string(), title: z.string(), message: z.string().nullable() });
export type FailedItem = z.infer<typeof FailedItem>;

/** How something went once: a deployment, or a run of a guard. */
export const Outcome = z.object({
  kind: z.enum(['failure', 'success']),
  /** Names it within its subject, so that it counts once however often it is noted. */
  id: z.string(),
  /** When it happened, milliseconds since the epoch. */
  at: z.number(),
  /** When what failed now failed first, if that is earlier than `at`. */
  since: z.number().optional(),
  /** Text for people; mrkdwn of our own making. */
  lines: z.array(z.string()),
  /** The same in a few words, for the headline; mrkdwn of our own making. */
  words: z.string().optional(),
  /** Failed parts of the subject; the latest result of each counts. */
  items: z.array(FailedItem).optional(),
  /** Keys of the tested parts; all parts if left out. */
  tested: z.array(z.string()).optional(),
  /** The servers that an event names, by their names then. Foreign text. */
  servers: z.array(z.string()).optional(),
  /** The ids of the schedules that follow it: they may mention somebody if nobody is on it. */
  escalates: z.array(z.string()).optional(),
  /** True if it only changes the root message, without a reply. */
  isQuiet: z.boolean().optional(),
});
export type Outcome = z.infer<typeof Outcome>;

/** A reply for the thread. */
const News = z.object({
  kind: z.enum(['failure', 'success', 'claim', 'release', 'close']),
  /** Among those of its kind. */
  number: z.number(),
  lines: z.array(z.string()),
  requestedBy: z.string().optional(),
});
export type News = z.infer<typeof News>;

const Ending = z.object({
  kind: z.enum(['recovered', 'closed']),
  at: z.number(),
  /** The success that ended it, in a few words; mrkdwn of our own making. */
  words: z.string().optional(),
  /** Who closed it; undefined if it closed by itself. */
  requestedBy: z.string().optional(),
});

/** Result of testing a project after one of its deployments failed. */
const Diagnosis = z.object({
  /** When the test ended, milliseconds since the epoch. */
  at: z.number(),
  /** For the root message; mrkdwn of our own making. */
  line: z.string(),
  /** Unreachable parts. Foreign text. */
  items: z.array(FailedItem),
  /** Number of failures when something was unreachable; undefined if nothing was. */
  unreachableAt: z.number().optional(),
});
export type Diagnosis = z.infer<typeof Diagnosis>;

/** One failure, from its beginning to its end, in one message. */
export const Episode = z.object({
  /** Its messages are named by it. */
  id: z.string(),
  since: z.number(),
  failures: z.number(),
  first: z.array(z.string()),
  latest: z.array(z.string()),
  /** Parts that fail. */
  items: z.array(FailedItem).optional(),
  latestAt: z.number(),
  /** The servers that the latest failure names. */
  servers: z.array(z.string()).optional(),
  /** Result of a test of the project. */
  diagnosis: Diagnosis.optional(),
  /** When the latest news were noted, milliseconds since the epoch. */
  newsAt: z.number(),
  /** Who is on it. */
  owner: z.string().optional(),
  /** Ids of the schedules that follow any of its failures. */
  escalates: Outcome.shape.escalates,
  /** When the message was posted that nobody is on, or was handed back; milliseconds since the epoch. */
  idleSince: z.number().optional(),
  /** The ids of people and groups that were mentioned. */
  mentioned: z.array(z.string()).optional(),
  /** Number of clicks that changed something. */
  clicks: z.number().optional(),
  ending: Ending.optional(),
  /** Replies to post, oldest first. */
  replies: z.array(News),
  /** The message in Slack, kept for `scheduler/deliver.ts`; undefined before its post. */
  rootRef: z.object({ ts: z.string(), cause: z.string(), hash: z.string() }).optional(),
});
export type Episode = z.infer<typeof Episode>;

/** The latest episode of a subject, after those whose end Slack may not show yet. */
export const EpisodeRecord = z.object({
  subject: Subject,
  /** The ids of the latest outcomes that counted. */
  counted: z.array(z.string()),
  episodes: z.array(Episode),
});
export type EpisodeRecord = z.infer<typeof EpisodeRecord>;

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
  return hash('sha256', JSON.stringify([kind, channel, account, project]), 'base64url').slice(0, 22);
}

/** More than a page of the feed (API 4.9 in docs/service-api.md) holds. */
const MAX_COUNTED = 200;

/** Without news for so long it is closed, and forgotten after as long again. */
export const QUIET_MS = 7 * DAY_MS;

/** The record after some outcomes, oldest first. Pure. @param now when they are noted */
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
  // One that is reported late belongs to the episode that has ended since.
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

/** The latest result of each item, whichever run it is of. */
function mergeItems({ items = [] }: Episode, { items: failed = [], tested }: Outcome): FailedItem[] {
  const untested = tested === undefined ? [] : items.filter(({ key }) => !tested.includes(key));
  return [...untested, ...failed];
}

function beginning(
  id: string,
  { at, since = at, lines, items, servers, escalates }: Outcome,
  now: number,
): Episode {
  const latest = { latest: lines, items, latestAt: at, servers, newsAt: now };
  return { id, since, failures: 1, first: lines, ...latest, escalates, replies: [] };
}

/** Undefined if nothing fails, or a newer failure has decided already. What still fails stays in the root message. */
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

/** The record with a change of one episode. Pure. */
export function changeEpisode<R extends EpisodeRecord | undefined>(
  record: R,
  id: string,
  change: Partial<Episode>,
): R {
  if (record === undefined) return record;
  const episodes = record.episodes.map((one) => (one.id === id ? { ...one, ...change } : one));
  return { ...record, episodes };
}

/** The record without what Slack has: replies, and episodes before the latest. @param earlier the record as Slack has it */
export function withoutShown(record: EpisodeRecord, earlier: EpisodeRecord): EpisodeRecord {
  const over = new Set(earlier.episodes.slice(0, -1).map(({ id }) => id));
  const posted = earlier.episodes.flatMap(({ replies }) => replies);
  const isNew = (reply: News): boolean => !posted.some((one) => isDeepStrictEqual(one, reply));
  const episodes = record.episodes
    .filter(({ id }) => !over.has(id))
    .map((episode) => ({ ...episode, replies: episode.replies.filter(isNew) }));
  return { ...record, episodes };
}

/** The open episode, if any. */
export function failingNow({ episodes }: EpisodeRecord): Episode | undefined {
  const last = episodes.at(-1);
  return last?.ending === undefined ? last : undefined;
}

/** An open episode, under the key of its subject. */
export interface Failure {
  key: string;
  subject: Subject;
  episode: Episode;
}

/**
 * Open failures that a person may read, latest first.
 * @param channel all channels if left out
 */
export async function listFailing(store: WorkspaceStore, user: string, channel?: string): Promise<Failure[]> {
  const rows = await episodeRecords(store).list();
  const failing = rows.flatMap(({ id: key, doc }): Failure[] => {
    const { subject } = doc;
    const episode = failingNow(doc);
    const isHere = channel === undefined || subject.channel === channel;
    return episode === undefined || !isHere || !mayRead(user, subject) ? [] : [{ key, subject, episode }];
  });
  return failing.toSorted((one, other) => other.episode.since - one.episode.since);
}

/** A button of the root message. */
export type Verb = 'claim' | 'release' | 'close';

/**
 * The episode after somebody's click; as it was if another click won. Pure.
 * @param drawnOwner who was on it when the button was drawn
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
  // The service's clock, as in the failures that come after it.
  return { ...answered, ending: { kind: 'closed', at: latestAt, requestedBy: user }, newsAt: now };
}

/** `outcome`: what to note of the episode's subject; without it the job looks whether there was no news for a week. */
const EpisodeJob = z.object({ key: z.string(), outcome: Outcome.optional() });
export type EpisodeJob = z.infer<typeof EpisodeJob>;

export const EPISODE_JOBS: JobType<EpisodeJob> = { queue: 'episodes', schema: EpisodeJob };

/** The open episodes of a project, in any channel, by what they are about. */
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

/** Tests a project for a failed deployment. */
const DiagnosisJob = z.object({
  /** `subjectKey` of the episode. */
  key: z.string(),
  /** Names the failure that a test may be begun for; undefined if a test has ended. */
  failure: z.string().optional(),
});
export type DiagnosisJob = z.infer<typeof DiagnosisJob>;

export const DIAGNOSIS_JOBS: JobType<DiagnosisJob> = { queue: 'diagnoses', schema: DiagnosisJob };
