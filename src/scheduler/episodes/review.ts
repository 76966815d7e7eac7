import { MINUTE_MS } from '../../core/time/clock.ts';
import {
  type Episode,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
  type Outcome,
  type Subject,
  subjectKey,
} from '../../records/episodes.ts';
import {
  findFollowedServers,
  followsFailure,
  isFailed,
  isSettled,
  makeSubject,
  readLatest,
} from '../../records/failure-rules.ts';
import type { Guard, Watch } from '../../records/schedules.ts';
import { readShared } from '../../records/shared-failures.ts';
import type { ServerStanding, Standing } from '../../records/standings.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { dropUnfollowedQuiets } from './begin-quiet.ts';
import { closeEpisode, noteOutcomes, reopenEpisode, showFact } from './change-episodes.ts';
import { defineFailureJob, type FailureReview, REVIEW_FAILURES } from './queues.ts';
import { makeFailure, makeSuccess, readFindMentioned } from './standing-failure.ts';

/** Brings the failures of a channel up to date, after it began or ceased to follow something. Safe to repeat. */
export const REVIEW = defineFailureJob(REVIEW_FAILURES, review);

type Follower = Guard | Watch;

/** Time in which a removal can be undone. Later, the failure gets a new message. */
const REOPENED_MS = 10 * MINUTE_MS;

async function review(
  workspace: Workspace,
  { channel, account, key }: FailureReview,
  signal: AbortSignal,
): Promise<void> {
  const records = episodeRecords(workspace.store);
  const rows = key === undefined ? (await records.list()).map(({ doc }) => doc) : [await records.get(key)];
  const here = rows.flatMap((one) =>
    one?.subject.channel === channel && one.subject.account === account ? [one] : [],
  );
  const all = [...(await workspace.schedules.list('watch')), ...(await workspace.schedules.list('guard'))];
  const followers: Follower[] = all.filter((one) => one.channel === channel && one.account === account);
  for (const record of here) await reviewRecord(workspace, record, followers, signal);
  if (key === undefined) await dropUnfollowedQuiets(workspace, channel);
  const watches = followers.filter(({ state }) => state.kind === 'active').filter(isOfChannel);
  if (key === undefined && watches.length > 0)
    await showOpen(workspace, { channel, account }, watches, signal);
}

function isOfChannel(one: Follower): one is Watch {
  return one.kind === 'watch' && one.person === undefined;
}

async function reviewRecord(
  workspace: Workspace,
  record: EpisodeRecord,
  followers: readonly Follower[],
  signal: AbortSignal,
): Promise<void> {
  const { subject } = record;
  const episode = record.episodes.at(-1);
  if (episode === undefined) return;
  const key = subjectKey(subject);
  const own = followers.filter((one) => followsFailure(one, subject));
  const { kind, account, project } = subject;
  const standing =
    kind === 'deployments' ? await workspace.ledger.standings.get(account, project) : undefined;
  const state = own.length === 0 ? 'unfollowed' : findState(standing, episode, own);
  if (episode.ending !== undefined) {
    const isRecent = workspace.clock.now() - episode.newsAt <= REOPENED_MS;
    if (state === 'failing' && episode.ending.why === 'unfollowed' && isRecent)
      await reopenEpisode(workspace, { key, id: episode.id }, signal);
    return;
  }
  if (state === 'unfollowed') return closeEpisode(workspace, { key, id: episode.id, why: state }, signal);
  if (state === 'mended' && standing !== undefined)
    return endMended(workspace, { subject, standing, own }, signal);
  const isPaused = own.every((one) => one.state.kind === 'paused');
  if (isPaused !== (episode.isPaused ?? false))
    await showFact(workspace, { key, id: episode.id }, { isPaused }, signal);
}

async function endMended(
  workspace: Workspace,
  { subject, standing, own }: { subject: Subject; standing: Standing; own: readonly Follower[] },
  signal: AbortSignal,
): Promise<void> {
  if (await isPending(workspace, subject)) return;
  const mentions = await workspace.names.mentions(subject.account);
  const servers = findFollowedServers(standing, own.map(withoutPerson), mentions);
  const findMentioned = await readFindMentioned(workspace, subject.account);
  await noteOutcomes(workspace, subject, [makeSuccess(standing, servers, findMentioned(subject.channel))], {
    signal,
  });
}

/** Anybody's success ends a person's own failure. */
function withoutPerson({
  account,
  project,
  ...more
}: Follower): Pick<Watch, 'account' | 'project' | 'pattern' | 'server'> {
  const { server, pattern } = more.kind === 'watch' ? more : {};
  return { account, project, pattern, server };
}

/** Compares an open failure with the latest deployments of the servers that the channel follows. */
function findState(
  standing: Standing | undefined,
  { servers = [], latestAt }: Episode,
  own: readonly Follower[],
): 'failing' | 'mended' | 'unfollowed' {
  if (standing === undefined) return 'failing';
  const followed = findFollowedServers(standing, own.map(withoutPerson), new Map());
  if (followed.some(isFailed)) return 'failing';
  const names = servers.length === 0 ? [''] : servers.map((name) => name.toLowerCase());
  if (!followed.some(({ key }) => names.includes(key))) return 'unfollowed';
  return readLatest(followed) >= latestAt ? 'mended' : 'failing';
}

/** True if news of the subject are still to be posted, which may end the failure themselves. */
async function isPending({ feeds }: Workspace, subject: Subject): Promise<boolean> {
  const { pending = [] } = (await feeds.get('watch', subject)) ?? {};
  return pending.some(
    ({ episode }) => episode !== undefined && subjectKey(episode.subject) === subjectKey(subject),
  );
}

/** Shows the open failures of other channels that this one follows from now on. */
async function showOpen(
  workspace: Workspace,
  { channel, account }: { channel: string; account: string },
  watches: readonly Watch[],
  signal: AbortSignal,
): Promise<void> {
  const { clock, ledger, names } = workspace;
  const mentions = await names.mentions(account);
  const findMentioned = (await readFindMentioned(workspace, account))(channel);
  const begun: Array<{ subject: Subject; failure: Outcome }> = [];
  for (const standing of await ledger.standings.list(account)) {
    const servers = findFollowedServers(standing, watches, mentions).filter(isFailed);
    if (servers.length === 0 || isSettled(servers, undefined, clock.now())) continue;
    const subject = makeSubject(standing, channel);
    const other = await findElsewhere(workspace, subject, servers);
    if (other === undefined) continue;
    const escalates = watches
      .filter((watch) => findFollowedServers(standing, [watch], mentions).some(isFailed))
      .map(({ id }) => id);
    const earlier = servers.some(({ latest }) => latest.at === other.latestAt) ? other.failures - 1 : 0;
    begun.push({
      subject,
      failure: { ...makeFailure(standing, servers, findMentioned), escalates, earlier },
    });
  }
  const others = begun.map(({ subject, failure }) => ({ subject, outcomes: [failure] }));
  for (const { subject, outcomes } of others)
    await noteOutcomes(workspace, subject, outcomes, { signal, others });
}

/**
 * The open failure as another channel shows it, or as this one did while it followed it. Undefined if this channel shows it now, or
 * somebody closed it here.
 */
async function findElsewhere(
  { store }: Workspace,
  subject: Subject,
  servers: readonly ServerStanding[],
): Promise<Episode | undefined> {
  const records = episodeRecords(store);
  const own = await records.get(subjectKey(subject));
  if (own !== undefined && (failingNow(own) !== undefined || isClosed(own, servers))) return undefined;
  const [elsewhere] = (await readShared(store, subject)).shownBy;
  const other = elsewhere === undefined ? undefined : await records.get(elsewhere);
  const last = own?.episodes.at(-1);
  return (other && failingNow(other)) ?? (last?.ending?.why === 'unfollowed' ? last : undefined);
}

/** True if somebody closed the failure here. */
function isClosed({ episodes }: EpisodeRecord, servers: readonly ServerStanding[]): boolean {
  const { ending } = episodes.at(-1) ?? {};
  return ending?.kind === 'closed' && ending.why === undefined && readLatest(servers) <= ending.at;
}
