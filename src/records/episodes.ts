import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { hashJson, isNamedId } from '../core/json.ts';
import type { ProjectRef } from '../core/project-ref.ts';
import type { Pages } from '../core/service-pages.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { FailedStep } from './failed-steps.ts';
import type { Deployment } from './standings.ts';

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
  /** For links to the project and its servers. */
  pages?: Pages | undefined;
  /** True if other accounts may have a project of this name. */
  isAccountShown?: boolean;
  /** The latest successful deployment of the servers that fail. */
  lastGood?: Deployment | undefined;
  /** Set while the channel is quiet about it. */
  quiet?: { id: string; until: number; requestedBy: string } | undefined;
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
  /** Short form for headlines and notifications; mrkdwn. */
  words: z.string().optional(),
  /** When a revision that is back was live before; mrkdwn. */
  rewind: z.string().optional(),
  /** Failed parts of the subject. The latest result of each part counts. */
  items: z.array(FailedItem).optional(),
  /** Keys of the tested parts; all parts if left out. */
  tested: z.array(z.string()).optional(),
  /** Names of the servers in an event, from the service. */
  servers: z.array(z.string()).optional(),
  /** Revision of the deployment. */
  ref: z.string().optional(),
  /** Ids of the schedules that follow the subject. They may mention somebody if nobody takes the failure. */
  escalates: z.array(z.string()).optional(),
  /** Number of failures before it that other channels show. */
  earlier: z.number().optional(),
  /** True if it changes only the root message, without a reply. */
  isQuiet: z.boolean().optional(),
});
export interface Outcome extends z.infer<typeof Outcome> {}

const News = z.object({
  kind: z.enum(['failure', 'success', 'claim', 'release', 'close', 'pause', 'remove', 'quiet']),
  /** Counts the replies of one kind. */
  number: z.number(),
  lines: z.array(z.string()),
  requestedBy: z.string().optional(),
  /** The person whom the one of a claim took it over from. */
  takenFrom: z.string().optional(),
  /** Name in the thread, if kind and number do not tell it. */
  name: z.string().optional(),
  /** Servers that had not failed before. The text comes from the service. */
  joined: z.array(z.string()).optional(),
  /** Set if the project failed again soon after its recovery: how often it began to fail within an hour. */
  again: z.number().optional(),
  /** True if the channel gets it too, because an edit notifies nobody. */
  isForChannel: z.boolean().optional(),
  /** End of a quiet, milliseconds since the epoch. */
  until: z.number().optional(),
});
export interface News extends z.infer<typeof News> {}

const Ending = z.object({
  kind: z.enum(['recovered', 'closed']),
  at: z.number(),
  /** Short description of the success that ended the episode; mrkdwn. */
  words: z.string().optional(),
  /** When the revision of that success was live before; mrkdwn. */
  rewind: z.string().optional(),
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
  /** True if the test began before the failure, so that it says nothing about its cause. */
  isOlder: z.boolean().optional(),
});
export interface Diagnosis extends z.infer<typeof Diagnosis> {}

/** The message of a failure or an outage in Slack. `ts` is empty if it was deleted, or Slack did not say where it is. */
export const RootRef = z.object({
  ts: z.string(),
  /** Cause of the latest change that it shows. */
  cause: z.string(),
  /** Hash of what it shows. */
  hash: z.string(),
});
export interface RootRef extends z.infer<typeof RootRef> {}

/** One failure, from its beginning to its end, in one message. */
export const Episode = z.object({
  /** The ids of its messages begin with it. */
  id: z.string(),
  since: z.number(),
  failures: z.number(),
  first: z.array(z.string()),
  latest: z.array(z.string()),
  /** Short form of the latest failure; mrkdwn. */
  words: z.string().optional(),
  /** Parts that still fail. */
  items: z.array(FailedItem).optional(),
  /** All parts that failed since it began, each with its latest reason. */
  allItems: z.array(FailedItem).optional(),
  latestAt: z.number(),
  /** Servers of the latest failure. */
  servers: z.array(z.string()).optional(),
  /** All servers of its failures. */
  allServers: z.array(z.string()).optional(),
  /** When it began, and when it failed again soon after a recovery. Milliseconds since the epoch. */
  begins: z.array(z.number()).optional(),
  /** Set if it failed again: how often it began within the hour before. */
  again: z.number().optional(),
  /** Number of failures before the latest of them. */
  failuresBefore: z.number().optional(),
  /** Time of the latest reply that told the channel that it fails again. */
  wokenAt: z.number().optional(),
  /** Revision of the latest failure. */
  ref: z.string().optional(),
  /** Step of the latest failure whose deployment was found. */
  step: FailedStep.optional(),
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
  /** How often mentions began again. */
  restarts: z.number().optional(),
  /** True if people are mentioned although somebody is on it, because it got worse since. */
  isWorse: z.boolean().optional(),
  /** Number of clicks that changed something. */
  clicks: z.number().optional(),
  ending: Ending.optional(),
  /** True if the service did not list its project at the latest look. */
  isMissed: z.boolean().optional(),
  /** True if everything in the channel that follows it is paused. */
  isPaused: z.boolean().optional(),
  /** When it began while its channel was quiet, so that no message shows it yet. Milliseconds since the epoch. */
  heldAt: z.number().optional(),
  /** The outage that it belongs to. Its message shows the failure, unless that has its own. */
  outage: z.object({ place: z.string(), id: z.string(), hasOwn: z.boolean().optional() }).optional(),
  /** Replies to post, oldest first. */
  replies: z.array(News),
  /** Undefined before its post. */
  rootRef: RootRef.optional(),
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

/** An episode closes after 7 quiet days, and is deleted 7 days later. */
export const QUIET_MS = 7 * DAY_MS;

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

/** The open failure of a subject. @param key `subjectKey` */
export async function readOpen(
  store: WorkspaceStore,
  key: string,
): Promise<{ record: EpisodeRecord; subject: Subject; episode: Episode } | undefined> {
  const record = await episodeRecords(store).get(key);
  const episode = record && failingNow(record);
  return record && episode && { record, subject: record.subject, episode };
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

/** A failure that a button or menu names, as it is stored now. */
export interface DrawnEpisode {
  /** Its key changes if Slack gives its channel a new id after the message was drawn. */
  key: string;
  record: EpisodeRecord;
  episode: Episode;
}

export async function findDrawnEpisode(
  store: WorkspaceStore,
  drawn: { key: string; id: string },
): Promise<DrawnEpisode | undefined> {
  const records = episodeRecords(store);
  const present = await records.get(drawn.key);
  const rows = present === undefined ? await records.list() : [{ id: drawn.key, doc: present }];
  for (const { id: key, doc: record } of rows) {
    const episode = record.episodes.find(({ id }) => isNamedId(id, drawn.id));
    if (episode !== undefined) return { key, record, episode };
  }
  return undefined;
}

export type Verb = 'claim' | 'release' | 'close';

/** Undefined if a click changes nothing, or another one won. Else the person from whom a claim takes it, if any. */
export function judgeClick(
  { owner, isWorse }: Pick<Episode, 'owner' | 'isWorse'>,
  { user, verb, drawnOwner }: { user: string; verb: Verb; drawnOwner: string | undefined },
): { takenFrom?: string } | undefined {
  const isDone = verb === 'release' ? owner === undefined : owner === user;
  if (verb !== 'close' && isDone && !(isWorse === true && verb === 'claim')) return undefined;
  const isFree = owner === undefined || owner === user || (verb !== 'release' && owner === drawnOwner);
  if (!isFree) return undefined;
  return verb === 'claim' && owner !== undefined && owner !== user ? { takenFrom: owner } : {};
}

/**
 * The episode after a person's click; unchanged if another click won. Pure.
 * @param drawnOwner the owner when Slack showed the button
 */
export function afterClick(
  episode: Episode,
  { user, verb, drawnOwner, now }: { user: string; verb: Verb; drawnOwner: string | undefined; now: number },
): Episode {
  const { clicks = 0, replies, latestAt, isWorse = false } = episode;
  const won = judgeClick(episode, { user, verb, drawnOwner });
  if (won === undefined) return episode;
  const after = { ...episode, clicks: clicks + 1, isWorse: verb === 'claim' ? undefined : isWorse };
  const reply: News = { kind: verb, number: after.clicks, lines: [], requestedBy: user, ...won };
  const answered = { ...after, replies: [...replies, reply] };
  if (verb === 'release') return { ...answered, owner: undefined, idleSince: now };
  if (verb === 'claim') return { ...answered, owner: user };
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
export function makeProjectRef({
  project,
  permalink = project,
  name,
}: Pick<Subject, 'project' | 'permalink' | 'name'>): ProjectRef {
  return { ...(project === permalink ? {} : { identifier: project }), permalink, name };
}
