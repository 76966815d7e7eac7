import type { Deckhand } from '../../deckhand.ts';
import { code } from '../../views/blocks/text.ts';
import { cronOf } from '../../workspace/cadence.ts';
import type { Digest } from '../../workspace/digests.ts';
import { type Paused, type Scheduled, schedulesKey } from '../../workspace/schedules.ts';
import type { ScheduleKind } from '../schedules/reconcile-schedules.ts';

export const DIGEST = 'digest';

/**
 * Changes of a digest together with its schedule. The order holds over a kill in between: a slot without a digest, or
 * of a paused one, takes its schedule away.
 */

/** Keeps a new digest and begins its slots; repeated for the same request it changes nothing. */
export async function addDigest(
  deckhand: Deckhand,
  workspace: string,
  asked: Omit<Digest, 'id' | 'state' | 'pastRates'>,
): Promise<Digest> {
  return deckhand.store.exclusive(schedulesKey(workspace), async () => {
    const id = await deckhand.digests.freeId(workspace, asked.requestId);
    const standing = await deckhand.digests.get(workspace, id);
    if (standing !== undefined) return standing;
    const digest: Digest = { ...asked, id, state: { kind: 'active' }, pastRates: [] };
    await begin(deckhand, workspace, digest);
    await deckhand.digests.put(workspace, digest);
    return digest;
  });
}

/** One that is paused already keeps its reason; undefined where it is gone. */
export async function pauseDigest(
  deckhand: Deckhand,
  workspace: string,
  id: string,
  paused: Paused,
): Promise<Digest | undefined> {
  return deckhand.store.exclusive(schedulesKey(workspace), async () => {
    const changed = await deckhand.digests.change(workspace, id, (current) =>
      current.state.kind === 'paused' ? current : { ...current, state: paused },
    );
    await end(deckhand, workspace, id);
    return changed;
  });
}

/**
 * Goes on from now, also where it was snoozed; undefined where it is gone.
 * @param cause only one that is paused for this; any if left out
 */
export async function resumeDigest(
  deckhand: Deckhand,
  workspace: string,
  id: string,
  cause?: Paused['cause'],
): Promise<Digest | undefined> {
  return deckhand.store.exclusive(schedulesKey(workspace), async () => {
    const standing = await deckhand.digests.get(workspace, id);
    if (standing === undefined) return undefined;
    const { state } = standing;
    if (cause !== undefined && (state.kind !== 'paused' || state.cause !== cause)) return standing;
    await begin(deckhand, workspace, standing);
    return deckhand.digests.change(workspace, id, ({ snoozedUntil, ...rest }) => ({
      ...rest,
      state: { kind: 'active' },
      // Going on by itself is no reason to wake it before its time.
      ...(cause === undefined || snoozedUntil === undefined ? {} : { snoozedUntil }),
    }));
  });
}

/** False where it was gone already. */
export async function removeDigest(deckhand: Deckhand, workspace: string, id: string): Promise<boolean> {
  return deckhand.store.exclusive(schedulesKey(workspace), async () => {
    const wasThere = await deckhand.digests.remove(workspace, id);
    await end(deckhand, workspace, id);
    return wasThere;
  });
}

/** Ends the slots of a digest that is gone or paused, as a kill in the middle of a change may have left them. */
export async function dropOrphan(deckhand: Deckhand, workspace: string, id: string): Promise<void> {
  await deckhand.store.exclusive(schedulesKey(workspace), async () => {
    const digest = await deckhand.digests.get(workspace, id);
    if (digest?.state.kind !== 'active') await end(deckhand, workspace, id);
  });
}

function begin({ engine }: Deckhand, workspace: string, digest: Digest): Promise<void> {
  return engine.schedule(workspace, keyOf(digest.id), {
    cron: cronOf(digest.cadence),
    zone: digest.zone,
    queue: DIGEST,
    data: { workspace, digest: digest.id },
  });
}

function end({ engine }: Deckhand, workspace: string, id: string): Promise<void> {
  return engine.unschedule(workspace, keyOf(id));
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
  list: async ({ digests }, workspace) => (await digests.list(workspace)).map(asScheduled),
  pause: async (deckhand, workspace, id, paused) => {
    await pauseDigest(deckhand, workspace, id, paused);
  },
  resume: async (deckhand, workspace, id, cause) => {
    await resumeDigest(deckhand, workspace, id, cause);
  },
};
