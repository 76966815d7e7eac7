import { code } from '../../core/mrkdwn.ts';
import { cronOf } from '../../workspace/cadence.ts';
import type { Digest } from '../../workspace/digests.ts';
import { type Paused, SCHEDULES_LOCK, type Scheduled } from '../../workspace/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ScheduleKind } from '../schedules/reconcile-schedules.ts';
import { DIGEST } from './occurrence.ts';

/**
 * Changes of a digest together with its schedule. The order holds over a kill in between: a slot without a digest, or
 * of a paused one, takes its schedule away.
 */

/** Keeps a new digest and begins its slots; repeated for the same request it changes nothing. */
export async function addDigest(
  workspace: Workspace,
  asked: Omit<Digest, 'id' | 'state' | 'pastRates'>,
): Promise<Digest> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const id = await workspace.digests.freeId(asked.requestId);
    const standing = await workspace.digests.get(id);
    if (standing !== undefined) return standing;
    const digest: Digest = { ...asked, id, state: { kind: 'active' }, pastRates: [] };
    await begin(workspace, digest);
    await workspace.digests.put(digest);
    return digest;
  });
}

/** One that is paused already keeps its reason; undefined where it is gone. */
export async function pauseDigest(
  workspace: Workspace,
  id: string,
  paused: Paused,
): Promise<Digest | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const changed = await workspace.digests.change(id, (current) =>
      current.state.kind === 'paused' ? current : { ...current, state: paused },
    );
    await end(workspace, id);
    return changed;
  });
}

/**
 * Goes on from now, also where it was snoozed; undefined where it is gone.
 * @param cause only one that is paused for this; any if left out
 */
export async function resumeDigest(
  workspace: Workspace,
  id: string,
  cause?: Paused['cause'],
): Promise<Digest | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const standing = await workspace.digests.get(id);
    if (standing === undefined) return undefined;
    const { state } = standing;
    if (cause !== undefined && (state.kind !== 'paused' || state.cause !== cause)) return standing;
    await begin(workspace, standing);
    return workspace.digests.change(id, ({ snoozedUntil, ...rest }) => ({
      ...rest,
      state: { kind: 'active' },
      // Going on by itself is no reason to wake it before its time.
      ...(cause === undefined || snoozedUntil === undefined ? {} : { snoozedUntil }),
    }));
  });
}

/** False where it was gone already. */
export async function removeDigest(workspace: Workspace, id: string): Promise<boolean> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const wasThere = await workspace.digests.remove(id);
    await end(workspace, id);
    return wasThere;
  });
}

/** Ends the slots of a digest that is gone or paused, as a kill in the middle of a change may have left them. */
export async function dropOrphan(workspace: Workspace, id: string): Promise<void> {
  await workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const digest = await workspace.digests.get(id);
    if (digest?.state.kind !== 'active') await end(workspace, id);
  });
}

function begin({ jobs }: Workspace, digest: Digest): Promise<void> {
  return jobs.schedule(keyOf(digest.id), {
    cron: cronOf(digest.cadence),
    zone: digest.zone,
    job: DIGEST,
    data: { digest: digest.id },
  });
}

function end({ jobs }: Workspace, id: string): Promise<void> {
  return jobs.unschedule(keyOf(id));
}

function keyOf(id: string): string {
  return `digest ${id}`;
}

/** What is told of it where it is one of several things that were set up. */
export function asScheduled({ id, channel, setUpBy, account, state }: Digest): Scheduled {
  const what = `the digest ${code(id)} in <#${channel}>`;
  return { id, what, channel, setUpBy, account, state, resume: `digest resume ${id}` };
}

export const DIGESTS: ScheduleKind = {
  list: async ({ digests }) => (await digests.list()).map(asScheduled),
  pause: async (workspace, id, paused) => {
    await pauseDigest(workspace, id, paused);
  },
  resume: async (workspace, id, cause) => {
    await resumeDigest(workspace, id, cause);
  },
};
