import { SlackError } from './errors.ts';

interface Page<T> {
  page: T[];
  response_metadata: { next_cursor: string };
}

/** One page of a list; the cursor is opaque to callers and refused where it is not one of ours. */
export function paginate<T>(
  list: readonly T[],
  { cursor, limit = 100 }: { cursor?: string | undefined; limit?: number | undefined },
): Page<T> {
  if (limit < 1 || limit > 1000) throw new SlackError('invalid_limit');
  const from = cursor ? readCursor(cursor) : 0;
  const to = from + limit;
  const next_cursor = to < list.length ? Buffer.from(`at:${to}`).toString('base64') : '';
  return { page: list.slice(from, to), response_metadata: { next_cursor } };
}

function readCursor(cursor: string): number {
  const match = /^at:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString());
  if (!match) throw new SlackError('invalid_cursor');
  return Number(match[1]);
}
