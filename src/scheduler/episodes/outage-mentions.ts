import { z } from 'zod';
import { failingNow } from '../../records/episodes.ts';
import { type Outage, updateOutage } from '../../records/outages.ts';
import { listFailing, outageEscalationReply } from '../../views/episodes/outage.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type OutageRef, type Records, readOutage } from './count-failures.ts';
import { listMentions, listPresent, nextLook, removeOwner, replyOrPost } from './escalation.ts';
import { defineFailureJob } from './queues.ts';

export const OutageMentionJob = z.object({ place: z.string(), id: z.string(), at: z.number() });
type OutageMentionJob = z.infer<typeof OutageMentionJob>;

/** Mentions the people and groups that schedules name, once for an outage that nobody has taken. */
export const MENTION_OUTAGE = defineFailureJob(
  { queue: 'outage-mentions', schema: OutageMentionJob },
  (workspace, data, signal) =>
    workspace.store.exclusive(`show ${data.id}`, () => mention(workspace, data, signal)),
);

/** Plans the next mention for an outage. Safe to repeat. */
export async function planOutageMention(workspace: Workspace, ref: OutageRef): Promise<void> {
  const due = await listDue(workspace, ref);
  if (due === undefined || due.times.length === 0) return;
  const { id, owner, isWorse } = due.outage;
  const isFree = owner === undefined || isWorse === true;
  const at = isFree ? Math.min(...due.times.map((one) => one.at)) : nextLook(workspace.clock.now());
  await workspace.jobs.send(MENTION_OUTAGE, { ...ref, at }, { key: `${id} ${at}`, at });
}

async function listDue(workspace: Workspace, ref: OutageRef) {
  const state = await readOutage(workspace, ref);
  if (state === undefined) return undefined;
  const failing = listFailing(state.view);
  const { idleSince, mentioned, owner } = state.outage;
  // Failures that all have somebody need nobody.
  const isTaken = owner === undefined && failing.every(({ episode }) => episode.owner !== undefined);
  const escalates = [...new Set(failing.flatMap(({ episode }) => episode.escalates ?? []))];
  const subjects = failing.map(({ subject }) => subject);
  const times = isTaken ? [] : await listMentions(workspace, subjects, { idleSince, escalates, mentioned });
  return { ...state, times };
}

async function mention(
  workspace: Workspace,
  { at: plannedAt, ...ref }: OutageMentionJob,
  signal: AbortSignal,
): Promise<void> {
  const state = await listDue(workspace, ref);
  if (state === undefined) return;
  const { key, outage, view, records } = state;
  // The database starts jobs by its own clock, which may be ahead.
  const now = Math.max(workspace.clock.now(), plannedAt);
  const { owner, idleSince = now, isWorse = false, restarts = 0 } = outage;
  const hasLeft = owner !== undefined && (await workspace.roles.excluded(owner)) !== undefined;
  const isDue = owner === undefined || hasLeft || isWorse;
  const due = isDue ? state.times.filter(({ at }) => at <= now).map((one) => one.mention) : [];
  if (due.length > 0) {
    const present = await listPresent(workspace, new Set(due));
    const about = hasLeft ? { ...view, owner: undefined } : view;
    const message = outageEscalationReply(about, present, now - idleSince);
    const name = `mention ${[...new Set(due)].toSorted().join(' ')} ${restarts}`;
    const thread = { id: outage.id, channel: view.channel, threadTs: outage.root?.ts, signal };
    await replyOrPost(workspace, thread, [name, message]);
  }
  await updateOutage(workspace.store, { place: key, id: outage.id }, (present) => ({
    mentioned: [...(present.mentioned ?? []), ...due],
    ...(hasLeft && present.owner === owner ? { owner: undefined } : {}),
  }));
  if (hasLeft) await removeFromMembers(workspace, outage, records, owner);
  await planOutageMention(workspace, ref);
}

async function removeFromMembers(
  workspace: Workspace,
  { members }: Outage,
  records: Records,
  owner: string | undefined,
): Promise<void> {
  for (const { key } of members) {
    const record = records.get(key);
    const open = record && failingNow(record);
    if (record !== undefined && open?.owner === owner && open)
      await removeOwner(workspace, record.subject, key, open);
  }
}
