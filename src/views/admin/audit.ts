import type { Button } from '@slack/types';
import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { code, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import type { AuditEntry } from '../../records/audit.ts';
import { listBlocks } from '../blocks/lists.ts';
import { button, buttons, context, headed, say } from '../blocks/message.ts';

export const MAX_ON_PAGE = 50;

/** One page of the log, as its buttons carry it. */
export const AuditPage = z.object({
  /** Entries on a page. */
  size: z.int().min(1).max(MAX_ON_PAGE),
  /** From 0, the newest. */
  page: z.int().min(0).max(10_000),
  /** The newest entry of the first page, so that later entries do not shift the pages. */
  upTo: z.string().max(100).optional(),
});
export type AuditPage = z.infer<typeof AuditPage>;

const SIGNS = { done: ':white_check_mark:', refused: ':no_entry:', failed: ':x:' } as const;

export function auditMessage(entries: readonly AuditEntry[], at: AuditPage, hasMore: boolean): Message {
  if (entries.length === 0 && at.page === 0) return say('The audit log is empty.');
  const turn = (label: string, page: number): Button =>
    button(label, `audit:page#${page}`, { value: { ...at, page } });
  return headed(
    'Who did what',
    ...listBlocks(entries.map(lineOf)),
    ...buttons(at.page > 0 && turn('Newer', at.page - 1), hasMore && turn('Older', at.page + 1)),
    context(`Page ${at.page + 1}. Kept for 400 days.`),
  );
}

function lineOf({ at, who, what, where, target, result }: AuditEntry): string {
  const person = /^[UW][A-Z0-9]+$/.test(who) ? `<@${who}>` : mrkdwn(who, 40);
  const channel = where !== undefined && /^[CG][A-Z0-9]+$/.test(where) ? ` in <#${where}>` : '';
  const about = target === undefined ? '' : ` ${code(target, 120)}`;
  return `${SIGNS[result]} ${dateTime(at)} ${person} ${code(what)}${about}${channel}${result === 'done' ? '' : ` — ${result}`}`;
}
