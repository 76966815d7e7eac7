import { isDeepStrictEqual } from 'node:util';
import { findDelivered } from '../../cards/deliver.ts';
import { previousOccurrence } from '../../core/time/cron.ts';
import { type Posting, type Reported, withPosted, withPosting } from '../../records/digest-marks.ts';
import { type Digest, makeCron, type TimedSchedule } from '../../records/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { nameOccurrence } from '../schedules/occurrences.ts';

/** How far a digest has reported. Its first one begins one cadence before it. Pure. */
export function readReported({
  reported,
  cadence,
  zone,
  createdAt,
  activeSince = createdAt,
}: Digest): Reported {
  if (reported !== undefined) return reported;
  return { from: previousOccurrence(makeCron(cadence), zone, activeSince), marks: {} };
}

/** Beginning of what a preview shows: one cadence before now, if no digest was posted yet. Pure. @param now milliseconds since the epoch */
export function previewFrom(digest: Digest, now: number): number {
  const { from } = readReported(digest);
  const cadenceMs = from - previousOccurrence(makeCron(digest.cadence), digest.zone, from - 1);
  return digest.reported === undefined ? Math.min(from, now - cadenceMs) : from;
}

/** Brings what is stored up to date before an occurrence: a kill may have followed the post of the one before. */
export async function beginReport(
  workspace: Workspace,
  digest: Digest,
  scheduledAt: number,
): Promise<Digest> {
  if (digest.range !== 'since_last') return digest;
  const before = readReported(digest);
  const earlier = before.posting?.scheduledAt ?? scheduledAt;
  const wasPosted =
    earlier !== scheduledAt &&
    (await findDelivered(workspace, nameOccurrence('digest', { id: digest.id, scheduledAt: earlier }))) !==
      undefined;
  const reported = wasPosted ? withPosted(before, earlier) : before;
  if (isDeepStrictEqual(reported, digest.reported)) return digest;
  return (await workspace.schedules.change(digest, (current) => ({ ...current, reported }))) ?? digest;
}

/**
 * Stores what an occurrence is about to report, before its post, so that each attempt reports the same.
 * @returns what the first attempt stored
 */
export async function storePosting(
  { schedules }: Workspace,
  digest: Digest,
  posting: Posting,
): Promise<Posting> {
  const changed = await schedules.change(digest, (current) => ({
    ...current,
    reported: withPosting(readReported(current), posting),
  }));
  return changed?.reported?.posting ?? posting;
}

/** Counts an occurrence as reported. Another range is no part of what `since_last` has reported. */
export function notePosted(scheduledAt: number): <S extends TimedSchedule>(current: S) => S {
  return (current) => {
    if (current.kind !== 'digest' || current.reported === undefined) return current;
    const isCounted = current.range === 'since_last';
    return { ...current, reported: isCounted ? withPosted(current.reported, scheduledAt) : undefined };
  };
}
