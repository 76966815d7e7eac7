import { z } from 'zod';
import { defined, hashJson } from '../core/json.ts';
import { DAY_MS, MINUTE_MS } from '../core/time/clock.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { type Episode, type EpisodeRecord, RootRef, Subject } from './episodes.ts';

/** A failure: the key of its subject, and the id of its episode. */
const Failure = z.object({ key: z.string(), episode: z.string() });
type Failure = z.infer<typeof Failure>;

const Member = Failure.extend({
  /** True if it has a message of its own, which came before. */
  hasOwn: z.boolean().optional(),
  /** State that its thread has told; undefined before the first message. */
  toldState: z.enum(['failing', 'ended']).optional(),
});
export type Member = z.infer<typeof Member>;

const OutageNews = z.object({
  /** Name in the thread. */
  name: z.string(),
  kind: z.enum(['members', 'servers', 'claim', 'release', 'close']),
  requestedBy: z.string().optional(),
  /** The person whom the one of a claim took it over from. */
  takenFrom: z.string().optional(),
  /** The project whose servers join, and how it fails. The text comes from the service. */
  project: z.object({ name: z.string(), kind: Subject.shape.kind }).optional(),
  /** Names of projects, or of servers. The text comes from the service. */
  joined: z.array(z.string()).optional(),
  again: z.array(z.string()).optional(),
  ended: z.array(z.string()).optional(),
  /** True if the channel gets it too. */
  isForChannel: z.boolean().optional(),
});
export type OutageNews = z.infer<typeof OutageNews>;

/** Failures of several projects that began together, in one message. */
export const Outage = z.object({
  id: z.string(),
  /** When enough projects had begun to fail, milliseconds since the epoch. */
  beganAt: z.number(),
  members: z.array(Member),
  /** The person who has taken all of it. */
  owner: z.string().optional(),
  /** Number of clicks that changed something. */
  clicks: z.number().optional(),
  /** Time of the post, or of the latest hand-back. */
  idleSince: z.number().optional(),
  /** Ids of the people and groups that Deckhand has mentioned. */
  mentioned: z.array(z.string()).optional(),
  /** How often mentions began again. */
  restarts: z.number().optional(),
  /** True if people are mentioned although somebody is on it, because it got worse since. */
  isWorse: z.boolean().optional(),
  /** Time of the latest reply about its members. */
  toldAt: z.number().optional(),
  /** Time of the latest reply that told the channel that something fails again. */
  wokenAt: z.number().optional(),
  endedAt: z.number().optional(),
  /** Set if it is what still failed after a quiet, of any size: how many projects failed and recovered meanwhile. */
  quiet: z.object({ failed: z.number(), recovered: z.number() }).optional(),
  /** Replies to post, oldest first. */
  replies: z.array(OutageNews),
  /** Undefined before its post. */
  root: RootRef.optional(),
});
export interface Outage extends z.infer<typeof Outage> {}

/** Failures that a channel hears of, of one account. */
export const OutagePlace = Subject.pick({ kind: true, channel: true, account: true, person: true }).extend({
  /** True for what still fails after a quiet, of all accounts and kinds. */
  isAfterQuiet: z.boolean().optional(),
  /** Failures that began lately, each with a message of its own. `at`: when they were counted. */
  recent: z.array(Failure.extend({ at: z.number() })),
  /** Oldest first. */
  outages: z.array(Outage),
});
export interface OutagePlace extends z.infer<typeof OutagePlace> {}

type PlaceSubject = Pick<Subject, 'kind' | 'channel' | 'account' | 'person'> &
  Pick<Partial<OutagePlace>, 'isAfterQuiet'>;

export function placeKey({ kind, channel, account, isAfterQuiet }: PlaceSubject): string {
  if (isAfterQuiet === true) return hashJson(['after quiet', channel]).slice(0, 22);
  return hashJson(['outage', kind, channel, account]).slice(0, 22);
}

export function outagePlaces(store: WorkspaceStore): Collection<OutagePlace> {
  return store.collection('outages', OutagePlace);
}

/** So many failures are one outage. */
export const MIN_MEMBERS = 5;

/** Failures begin together if they are counted within this time. Guards run at different minutes. */
const TOGETHER_MS: Readonly<Record<Subject['kind'], number>> = {
  deployments: 2 * MINUTE_MS,
  reachability: 10 * MINUTE_MS,
};

/** Later failures have messages of their own. */
const JOINED_MS = 10 * MINUTE_MS;

/** Longer than a failure is open without news. */
export const KEPT_MS = 30 * DAY_MS;

export function togetherMs({ kind }: Pick<Subject, 'kind'>): number {
  return TOGETHER_MS[kind];
}

/** Begins the ids of outages after a quiet. */
export const AFTER_QUIET = 'after quiet ';

export function makePlace({ kind, channel, account, ...more }: PlaceSubject): OutagePlace {
  const { person, isAfterQuiet } = more;
  return { kind, channel, account, ...defined({ person, isAfterQuiet }), recent: [], outages: [] };
}

export function findOutage(place: OutagePlace | undefined, failure: Failure): Outage | undefined {
  return place?.outages.find(({ members }) => members.some((one) => isSame(one, failure)));
}

function isSame(one: Failure, other: Failure): boolean {
  return one.key === other.key && one.episode === other.episode;
}

/** Number of failures that began shortly before. */
export function countRecent(place: OutagePlace | undefined, now: number): number {
  return place === undefined ? 0 : withoutOld(place, now).recent.length;
}

function withoutOld(place: OutagePlace, now: number): OutagePlace {
  const isNew = ({ at }: { at: number }): boolean => now - at <= togetherMs(place);
  const isKept = ({ endedAt = now }: Outage): boolean => now - endedAt <= DAY_MS;
  return { ...place, recent: place.recent.filter(isNew), outages: place.outages.filter(isKept) };
}

/**
 * The place after failures began: they join an outage, make one together with recent failures, or have messages of their
 * own. Failures that were counted before change nothing. Pure.
 */
export function countBegun(before: OutagePlace, begun: readonly Failure[], now: number): OutagePlace {
  const place = withoutOld(before, now);
  const fresh = begun.filter(
    (one) => findOutage(place, one) === undefined && !place.recent.some((other) => isSame(one, other)),
  );
  const [first] = fresh;
  if (first === undefined) return place;
  const open = place.outages.findLast(
    ({ beganAt, endedAt }) => endedAt === undefined && now - beganAt <= JOINED_MS,
  );
  if (open !== undefined) return changeOutage(place, open.id, { members: [...open.members, ...fresh] });
  const recent = [...place.recent, ...fresh.map((one) => ({ ...one, at: now }))];
  if (recent.length < MIN_MEMBERS) return { ...place, recent };
  const own = place.recent.map(({ key, episode }) => ({ key, episode, hasOwn: true }));
  const outage = { id: `outage ${first.episode}`, beganAt: now, members: [...own, ...fresh], replies: [] };
  return { ...place, recent: [], outages: [...place.outages, outage] };
}

/** Returns the changed outage; undefined if it was forgotten. @param expiresAt of its place, milliseconds since the epoch */
export async function updateOutage(
  store: WorkspaceStore,
  { place, id }: { place: string; id: string },
  change: (outage: Outage) => Partial<Outage>,
  expiresAt?: number,
): Promise<Outage | undefined> {
  const update = (current: OutagePlace | undefined): OutagePlace | undefined => {
    const outage = current?.outages.find((one) => one.id === id);
    return outage === undefined ? current : changeOutage(current, id, change(outage));
  };
  const after = await outagePlaces(store).update(place, update, expiresAt);
  return after?.outages.find((one) => one.id === id);
}

function changeOutage<P extends OutagePlace | undefined>(place: P, id: string, change: Partial<Outage>): P {
  if (place === undefined) return place;
  const outages = place.outages.map((one) => (one.id === id ? { ...one, ...change } : one));
  return { ...place, outages };
}

/** The episode of a member, as its record has it; undefined if it was forgotten since. */
export function readMember(
  records: ReadonlyMap<string, EpisodeRecord>,
  { key, episode }: Failure,
): { subject: Subject; episode: Episode } | undefined {
  const record = records.get(key);
  const own = record?.episodes.find(({ id }) => id === episode);
  return record && own && { subject: record.subject, episode: own };
}
