import { z } from 'zod';
import { deliver, mayBeMentioned, postReplies } from '../../cards/deliver.ts';
import type { Message } from '../../core/message.ts';
import { isInScope } from '../../core/project-ref.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import {
  changeEpisode,
  type Episode,
  episodeRecords,
  failingNow,
  makeProjectRef,
  readOpen,
  type Subject,
} from '../../records/episodes.ts';
import { findQuiet, listQuiets } from '../../records/quiets.ts';
import {
  type Escalation,
  type Guard,
  nextOpening,
  type Schedule,
  type Watch,
} from '../../records/schedules.ts';
import { changeTogether, putShared, readShared } from '../../records/shared-failures.ts';
import { isRefusal } from '../../slack/failure.ts';
import { escalationReply } from '../../views/episodes/episode.ts';
import { groupExists } from '../../workspace/slack-people.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineFailureJob, EPISODE_JOBS } from './queues.ts';

/** The subject's key, the episode's id, and when the mention is due. */
export const EscalationJob = z.object({ key: z.string(), episode: z.string(), at: z.number() });
type EscalationJob = z.infer<typeof EscalationJob>;

/** Mentions the people and groups that schedules name, if nobody has taken a failure. */
export const ESCALATE = defineFailureJob(
  { queue: 'escalations', schema: EscalationJob },
  // Clicks and new failures take the same lock.
  (workspace, data, signal) =>
    workspace.store.exclusive(`episode ${data.key}`, () => escalate(workspace, data, signal)),
);

/** Plans the next mention for a failure. Safe to repeat. */
export async function planEscalation(workspace: Workspace, key: string): Promise<void> {
  const { subject, episode } = (await readOpen(workspace.store, key)) ?? {};
  // An outage mentions people once for all of it.
  if (subject === undefined || episode === undefined || episode.outage !== undefined) return;
  const times = (await listMentions(workspace, [subject], episode)).map(({ at }) => at);
  if (times.length === 0) return;
  const isFree = episode.owner === undefined || episode.isWorse === true;
  const at = isFree ? Math.min(...times) : nextLook(workspace.clock.now());
  const { id } = episode;
  await workspace.jobs.send(ESCALATE, { key, episode: id, at }, { key: `${id} ${at}`, at });
}

/** Plans mentions for open failures after a schedule was edited, resumed or restored. Safe to repeat. */
export async function replanEscalations(workspace: Workspace, { id }: Pick<Schedule, 'id'>): Promise<void> {
  for (const { id: key, doc } of await episodeRecords(workspace.store).list())
    if (failingNow(doc)?.escalates?.includes(id))
      // This job draws its outage, and plans the mention for that.
      await (failingNow(doc)?.outage === undefined
        ? planEscalation(workspace, key)
        : workspace.jobs.send(EPISODE_JOBS, { key }));
}

async function escalate(
  workspace: Workspace,
  { key, episode: id, at: plannedAt }: EscalationJob,
  signal: AbortSignal,
): Promise<void> {
  const { subject, episode } = (await readOpen(workspace.store, key)) ?? {};
  if (subject === undefined || episode?.id !== id || episode.outage !== undefined) return;
  // The database starts jobs by its own clock, which may be ahead.
  const now = Math.max(workspace.clock.now(), plannedAt);
  const { owner } = episode;
  const isOwned = owner !== undefined && (await workspace.roles.excluded(owner)) === undefined;
  const mentions =
    isOwned && episode.isWorse !== true ? [] : await listMentions(workspace, [subject], episode);
  const due = mentions.filter(({ at }) => at <= now);
  if (due.length > 0) {
    const about = isOwned ? episode : { ...episode, isWorse: false };
    await postMentions(workspace, subject, about, {
      due: [...new Set(due.map(({ mention }) => mention))],
      signal,
    });
    const mentioned = [...(episode.mentioned ?? []), ...due.map(({ mention }) => mention)];
    await episodeRecords(workspace.store).update(key, (current) => changeEpisode(current, id, { mentioned }));
  }
  if (owner !== undefined && !isOwned) await removeOwner(workspace, subject, key, episode);
  await planEscalation(workspace, key);
}

/** Removes a person who has left from their failure, in its messages too. */
export async function removeOwner(
  { clock, store, jobs }: Workspace,
  subject: Subject,
  key: string,
  { id, owner, clicks = 0 }: Episode,
): Promise<void> {
  await changeTogether(store, subject, async () => {
    const shared = await readShared(store, subject);
    for (const one of new Set([...shared.shownBy, key])) {
      await episodeRecords(store).update(one, (current) => {
        const open = current && failingNow(current);
        return open?.owner === owner && open
          ? changeEpisode(current, open.id, { owner: undefined })
          : current;
      });
      // These jobs only draw the failure, which is newer than a week.
      await jobs.send(EPISODE_JOBS, { key: one }, { key: `${one} ${id} left ${clicks}` });
    }
    if (shared.owner === owner) await putShared(store, subject, { shownBy: shared.shownBy }, clock.now());
  });
}

/** How often Deckhand looks whether the person who has a failure is still there. */
const LOOK_MS = 15 * MINUTE_MS;

/** The same for each caller within a look, so that one job is sent. */
export function nextLook(now: number): number {
  return (Math.floor(now / LOOK_MS) + 1) * LOOK_MS;
}

/**
 * The people and groups to mention, and when, if nobody has the failure. Skips those already mentioned.
 */
export async function listMentions(
  { schedules, clock, store }: Workspace,
  all: readonly Subject[],
  { idleSince, escalates = [], mentioned = [] }: Pick<Episode, 'idleSince' | 'escalates' | 'mentioned'>,
): Promise<Array<Escalation & { at: number }>> {
  if (idleSince === undefined) return [];
  const quiets = await listQuiets(store, all[0]?.channel ?? '', clock.now());
  // The end of the quiet plans their mentions.
  const subjects = all.filter((subject) => findQuiet(quiets, subject, clock.now()) === undefined);
  const hasWatch = subjects.some(({ kind }) => kind === 'deployments');
  const hasGuard = subjects.some(({ kind }) => kind === 'reachability');
  const read = async (id: string): Promise<Guard | Watch | undefined> =>
    (hasWatch ? await schedules.get('watch', id) : undefined) ??
    (hasGuard ? await schedules.get('guard', id) : undefined);
  const followers = await Promise.all(escalates.map(read));
  return followers.flatMap((schedule) => {
    const { escalation } = schedule ?? {};
    if (schedule?.state.kind !== 'active' || escalation === undefined) return [];
    // The schedule may have been edited to follow another project.
    if (!subjects.some((one) => isInScope(schedule, makeProjectRef(one)))) return [];
    if (mentioned.includes(escalation.mention)) return [];
    const due = idleSince + escalation.after * MINUTE_MS;
    const hours = schedule.kind === 'watch' ? schedule.hours : undefined;
    const opening = hours && nextOpening(hours, Math.max(due, clock.now()));
    return [{ ...escalation, at: opening ?? due }];
  });
}

async function postMentions(
  workspace: Workspace,
  subject: Subject,
  episode: Episode,
  { due, signal }: { due: readonly string[]; signal: AbortSignal },
): Promise<void> {
  const { id, rootRef, idleSince = 0, restarts = 0 } = episode;
  const present = await listPresent(workspace, due);
  const about = { ...subject, pages: workspace.pages };
  const message = escalationReply(about, episode, present, workspace.clock.now() - idleSince);
  const name = `mention ${due.toSorted().join(' ')}${restarts === 0 ? '' : ` ${restarts}`}`;
  const thread = { id: `episode ${id}`, channel: subject.channel, threadTs: rootRef?.ts, signal };
  await replyOrPost(workspace, thread, [name, message]);
}

/** Posts a reply, or a new message if Slack rejects replies or somebody deleted the message above it. */
export async function replyOrPost(
  workspace: Workspace,
  thread: { id: string; channel: string; threadTs: string | undefined; signal: AbortSignal },
  [name, message]: [name: string, message: Message],
): Promise<void> {
  try {
    if ((await postReplies(workspace, thread, [[name, message]])) === 'posted') return;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  const { id, channel, signal } = thread;
  await deliver(workspace, { id: `${id} ${name} alone`, channel, signal, message });
}

/** Leaves out those who are not present. */
export async function listPresent(workspace: Workspace, mentions: Iterable<string>): Promise<string[]> {
  const present: string[] = [];
  for (const mention of mentions) if (await isPresent(workspace, mention)) present.push(mention);
  return present;
}

/** Returns false for a deleted group, and for a person who may no longer use Deckhand. */
export function isPresent(workspace: Workspace, mention: string): Promise<boolean> {
  return mention.startsWith('S') ? groupExists(workspace, mention) : mayBeMentioned(workspace, mention);
}
