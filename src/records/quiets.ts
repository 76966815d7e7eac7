import { z } from 'zod';
import { isInScope, ProjectRef } from '../core/project-ref.ts';
import { DAY_MS } from '../core/time/clock.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { makeProjectRef, type Subject } from './episodes.ts';

/** A time in which the watches and guards of a channel post nothing new. Times are milliseconds since the epoch. */
const Quiet = z.object({
  /** The request that began it. */
  id: z.string(),
  /** Undefined: everything in the channel. */
  account: z.string().optional(),
  project: ProjectRef.optional(),
  since: z.number(),
  until: z.number(),
  /** The person who began it, or changed its end last. */
  requestedBy: z.string(),
  /** The request that changed its end last, so that its repetition after a kill changes nothing. */
  requestId: z.string(),
  /** When it ended. Its message may not be posted yet. */
  endedAt: z.number().optional(),
});
export interface Quiet extends z.infer<typeof Quiet> {}

/** A project in a channel, or everything in it. */
export type QuietScope = Pick<Quiet, 'account' | 'project'>;

/** The quiets of a channel, by its id: at most one of each scope lasts. */
export const ChannelQuiets = z.object({ quiets: z.array(Quiet) });
export interface ChannelQuiets extends z.infer<typeof ChannelQuiets> {}

/** Longest quiet. */
export const MAX_QUIET_MS = 14 * DAY_MS;

/** A kept document is not read after its last quiet has ended, and its message is posted long before. */
export const KEPT_MS = 7 * DAY_MS;

export function channelQuiets(store: Pick<WorkspaceStore, 'collection'>): Collection<ChannelQuiets> {
  return store.collection('quiets', ChannelQuiets);
}

/** True if a quiet lasts. @param now milliseconds since the epoch */
export function isLasting({ until, endedAt }: Quiet, now: number): boolean {
  return endedAt === undefined && now < until;
}

/** True if it is for the project of a failure, or of an event. */
export function isQuietFor(
  { account, project }: QuietScope,
  other: { account: string; project: Parameters<typeof isInScope>[1] | undefined },
): boolean {
  if (project === undefined) return true;
  return account === other.account && other.project !== undefined && isInScope({ project }, other.project);
}

export function isSameScope(one: QuietScope, other: QuietScope): boolean {
  if (one.project === undefined || other.project === undefined) return one.project === other.project;
  return one.account === other.account && isInScope({ project: one.project }, other.project);
}

type QuietSubject = Pick<Subject, 'account' | 'project' | 'permalink' | 'name'>;

/** Finds the quiet of a failure that lasts longest. @param quiets those of its channel */
export function findQuiet(quiets: readonly Quiet[], subject: QuietSubject, now: number): Quiet | undefined {
  const about = { account: subject.account, project: makeProjectRef(subject) };
  const own = quiets.filter((quiet) => isLasting(quiet, now) && isQuietFor(quiet, about));
  return own.toSorted((one, other) => one.until - other.until).at(-1);
}

/** Reads the quiet of a failure. */
export async function readQuiet(
  store: Pick<WorkspaceStore, 'collection'>,
  subject: QuietSubject & { channel: string },
  now: number,
): Promise<Quiet | undefined> {
  return findQuiet(await listQuiets(store, subject.channel, now), subject, now);
}

/** Reads all quiets of the workspace. @returns finds that of a failure in any channel */
export async function createQuietFinder(
  store: Pick<WorkspaceStore, 'collection'>,
  now: number,
): Promise<(subject: QuietSubject & { channel: string }) => Quiet | undefined> {
  const all = new Map((await channelQuiets(store).list()).map(({ id, doc }) => [id, doc.quiets]));
  return (subject) => findQuiet(all.get(subject.channel) ?? [], subject, now);
}

/** True until the message after a quiet is posted. @param quiets those of its channel */
export function isCovered(quiets: readonly Quiet[], { account, ...subject }: QuietSubject): boolean {
  return quiets.some((quiet) => isQuietFor(quiet, { account, project: makeProjectRef(subject) }));
}

/** The quiets of a channel that last. */
export async function listQuiets(
  store: Pick<WorkspaceStore, 'collection'>,
  channel: string,
  now: number,
): Promise<Quiet[]> {
  const { quiets = [] } = (await channelQuiets(store).get(channel)) ?? {};
  return quiets.filter((quiet) => isLasting(quiet, now));
}

/** The quiets after one began. One of the same scope lasts as long as the new one says. Pure. */
export function withQuiet({ quiets }: ChannelQuiets, begun: Quiet): ChannelQuiets {
  if (quiets.some(({ requestId }) => requestId === begun.requestId)) return { quiets };
  const isReplaced = (one: Quiet): boolean => isLasting(one, begun.since) && isSameScope(one, begun);
  const before = quiets.find(isReplaced);
  const { until, requestedBy, requestId } = begun;
  const quiet = before === undefined ? begun : { ...before, until, requestedBy, requestId };
  return { quiets: [...quiets.filter((one) => !isReplaced(one)), quiet] };
}

/** When the document of these quiets may go. */
export function keepQuietsUntil({ quiets }: ChannelQuiets): number {
  return Math.max(...quiets.map(({ until }) => until)) + KEPT_MS;
}
