import type { Button } from '@slack/types';
import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { code, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import type { AuditEntry } from '../../records/audit.ts';
import { inPages, listBlocks } from '../blocks/lists.ts';
import { button, buttons, context, headed, say } from '../blocks/message.ts';

export const MAX_ON_PAGE = 50;
/** Maximum number of characters on a page. */
const ROOM = 9_000;

/** One page of the log, in the form that its buttons carry. */
export const AuditPage = z.object({
  size: z.int().min(1).max(MAX_ON_PAGE),
  /** Number of newer entries, from `upTo` on. */
  offset: z.int().min(0).max(100_000),
  /** The newest entry of the first page, so that new entries do not shift the pages. */
  upTo: z.string().max(100).optional(),
});
export interface AuditPage extends z.infer<typeof AuditPage> {}

const SIGNS = { done: ':white_check_mark:', refused: ':no_entry:', failed: ':x:' } as const;

export function auditMessage(entries: readonly AuditEntry[], at: AuditPage, hasMore: boolean): Message {
  const { size, offset } = at;
  if (entries.length === 0 && offset === 0) return say('The audit log is empty.');
  const turn = (label: string, to: number): Button =>
    button(label, `audit:page#${to}`, { value: { ...at, offset: to } });
  // A page of very long entries ends early, and the next page begins there.
  const [lines = [], ...rest] = inPages(entries.map(drawEntry), { room: ROOM }, ({ length }) => length + 1);
  const end = offset + lines.length;
  return headed(
    'Who did what',
    ...listBlocks(lines),
    ...buttons(
      offset > 0 && turn('Newer', Math.max(0, offset - size)),
      (hasMore || rest.length > 0) && turn('Older', end),
    ),
    context(
      `${lines.length === 0 ? 'No older entries' : `Entries ${offset + 1} to ${end}`}. Kept for 400 days.`,
    ),
  );
}

function drawEntry({ at, requestedBy, what, where, target, result }: AuditEntry): string {
  const person = /^[UW][A-Z0-9]+$/.test(requestedBy) ? `<@${requestedBy}>` : mrkdwn(requestedBy, 40);
  const channel = where !== undefined && /^[CG][A-Z0-9]+$/.test(where) ? ` in <#${where}>` : '';
  const about = target === undefined ? '' : ` ${code(target, 120)}`;
  return `${SIGNS[result]} ${dateTime(at)} ${person} ${code(what)}${about}${channel}${result === 'done' ? '' : ` — ${result}`}`;
}
