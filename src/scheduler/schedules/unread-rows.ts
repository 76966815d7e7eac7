import type { SkippedRows } from '../../service/call.ts';
import type { ToldUnread } from '../../workspace/schedules.ts';

const DAY_MS = 86_400_000;

/**
 * Whether a channel is to be told of the entries that could not be read, and what it was told then. Pure.
 * @param now milliseconds since the epoch
 */
export function afterUnread(
  told: ToldUnread | undefined,
  skipped: readonly SkippedRows[],
  now: number,
): { unread?: ToldUnread; isNews: boolean } {
  const count = skipped.reduce((sum, rows) => sum + rows.count, 0);
  const known = told?.count ?? 0;
  if (count > known) return { unread: { count, at: now }, isNews: true };
  if (told === undefined) return { isNews: false };
  const isOld = count < known && now - told.at > DAY_MS;
  return { unread: isOld ? { count, at: now } : told, isNews: false };
}
