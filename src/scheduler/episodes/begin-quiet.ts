import { isInScope } from '../../core/project-ref.ts';
import { type EpisodeRecord, episodeRecords, failingNow, makeProjectRef } from '../../records/episodes.ts';
import {
  type ChannelQuiets,
  channelQuiets,
  isLasting,
  isQuietFor,
  isSameScope,
  keepQuietsUntil,
  type Quiet,
  type QuietScope,
  withQuiet,
} from '../../records/quiets.ts';
import type { Guard, Watch } from '../../records/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { EPISODE_JOBS, QUIET_ENDS } from './queues.ts';

/**
 * Begins a quiet in a channel, or changes the end of the one with the same scope. Safe to repeat.
 * @returns the quiet as it is now; undefined if a repeat finds that it has ended
 */
export async function beginQuiet(
  workspace: Workspace,
  channel: string,
  begun: Quiet,
): Promise<Quiet | undefined> {
  const all = channelQuiets(workspace.store);
  const add = (current: ChannelQuiets = { quiets: [] }): ChannelQuiets => withQuiet(current, begun);
  const after = await all.update(channel, add, keepQuietsUntil(add(await all.get(channel))));
  const quiet = after?.quiets.find((one) => isSameScope(one, begun) && isLasting(one, begun.since));
  if (quiet === undefined) return undefined;
  await planEnd(workspace, channel, quiet);
  await drawQuiet(workspace, channel, quiet, `quiet ${begun.requestId}`);
  await workspace.planCard(channel);
  return quiet;
}

/** Sends the job that ends a quiet. Safe to repeat. */
export async function planEnd(
  { jobs }: Pick<Workspace, 'jobs'>,
  channel: string,
  { id, until, endedAt }: Quiet,
): Promise<void> {
  const at = endedAt ?? until;
  await jobs.send(QUIET_ENDS, { channel, id, at }, { key: `${channel} ${id} ${at}`, at });
}

/** Ends a quiet before its time. Returns undefined if it has ended already. */
export async function endQuiet(
  workspace: Workspace,
  channel: string,
  id: string,
): Promise<Quiet | undefined> {
  const now = workspace.clock.now();
  const isMeant = (one: Quiet): boolean => one.id === id && isLasting(one, now);
  const after = await channelQuiets(workspace.store).update(
    channel,
    (current) =>
      current && { quiets: current.quiets.map((one) => (isMeant(one) ? { ...one, endedAt: now } : one)) },
  );
  const ended = after?.quiets.find((one) => one.id === id && one.endedAt === now);
  if (ended !== undefined) await planEnd(workspace, channel, ended);
  return ended;
}

/** Draws the open failures of a quiet, which say until when it lasts. @param cause names the change */
export async function drawQuiet(
  { jobs, store }: Workspace,
  channel: string,
  scope: QuietScope,
  cause: string,
): Promise<void> {
  for (const { id: key, doc } of await listQuietFailures({ store }, channel, scope))
    if (failingNow(doc) !== undefined) await jobs.send(EPISODE_JOBS, { key }, { key: `${key} ${cause}` });
}

/** The failures of a scope in a channel, also those that have ended. */
export async function listQuietFailures(
  { store }: Pick<Workspace, 'store'>,
  channel: string,
  scope: QuietScope,
): Promise<Array<{ id: string; doc: EpisodeRecord }>> {
  const rows = await episodeRecords(store).list();
  return rows.filter(({ doc: { subject } }) => {
    const about = { account: subject.account, project: makeProjectRef(subject) };
    return subject.channel === channel && isQuietFor(scope, about);
  });
}

/** The watches and guards of a channel that a quiet is for. */
export async function listQuietFollowers(
  { schedules }: Pick<Workspace, 'schedules'>,
  channel: string,
  { account, project }: QuietScope,
): Promise<Array<Guard | Watch>> {
  const all = [...(await schedules.list('watch')), ...(await schedules.list('guard'))];
  return all.filter(
    (one) =>
      one.channel === channel &&
      (project === undefined || (one.account === account && isInScope(one, project))),
  );
}

/** Ends the quiets of a channel that nothing follows any more, without a message. Safe to repeat. */
export async function dropUnfollowedQuiets(workspace: Workspace, channel: string): Promise<void> {
  const { quiets = [] } = (await channelQuiets(workspace.store).get(channel)) ?? {};
  for (const quiet of quiets)
    if ((await listQuietFollowers(workspace, channel, quiet)).length === 0) {
      await removeQuiet(workspace, channel, quiet.id);
      await workspace.planCard(channel);
    }
}

export async function removeQuiet(
  { store }: Pick<Workspace, 'store'>,
  channel: string,
  id: string,
): Promise<void> {
  await channelQuiets(store).update(channel, (current) => {
    const quiets = current?.quiets.filter((one) => one.id !== id) ?? [];
    return quiets.length === 0 ? undefined : { quiets };
  });
}
