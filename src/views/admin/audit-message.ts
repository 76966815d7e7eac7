import type { Button, RichTextSection, TableBlock } from '@slack/types';
import { z } from 'zod';
import { isDirect, type Message } from '../../core/message.ts';
import { capitalised, sanitize } from '../../core/mrkdwn.ts';
import type { AuditEntry } from '../../records/audit-log.ts';
import { inPages } from '../blocks/lists.ts';
import { button, buttons, context, headed, richText, say } from '../blocks/make-blocks.ts';

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

const RESULTS = { done: 'Done', refused: 'Refused', failed: 'Failed' } as const;

export function auditMessage(entries: readonly AuditEntry[], at: AuditPage, hasMore: boolean): Message {
  const { size, offset } = at;
  if (entries.length === 0 && offset === 0) return say('The audit log is empty.');
  const turn = (label: string, to: number): Button =>
    button(label, `audit:page#${to}`, { value: { ...at, offset: to } });
  // A page of very long entries ends early, and the next page begins there.
  const [shown = [], ...rest] = inPages(entries, { room: ROOM }, measureEntry);
  const end = offset + shown.length;
  return headed(
    'Who did what',
    ...(shown.length === 0 ? [] : [drawTable(shown)]),
    ...buttons(
      offset > 0 && turn('Newer', Math.max(0, offset - size)),
      (hasMore || rest.length > 0) && turn('Older', end),
    ),
    context(
      `${shown.length === 0 ? 'No older entries' : `Entries ${offset + 1} to ${end}`}. Kept for 400 days.`,
    ),
  );
}

type Cell = RichTextSection['elements'][number];

function measureEntry({ what, target = '', requestedBy }: AuditEntry): number {
  return what.length + target.length + requestedBy.length + 60;
}

/** When, who, what, where and the result, one row for each entry. */
function drawTable(entries: readonly AuditEntry[]): TableBlock {
  const titles = ['When', 'Who', 'What', 'Where', 'Result'].map(drawText);
  const rows = entries.map(({ at, requestedBy, what, where, target, result }) => [
    drawTime(at),
    /^[UW][A-Z0-9]+$/.test(requestedBy)
      ? ({ type: 'user', user_id: requestedBy } as const)
      : drawText(requestedBy),
    drawText(`${describeAct(what)}${target === undefined ? '' : `: ${target}`}`),
    drawPlace(where),
    drawText(RESULTS[result]),
  ]);
  const column_settings = titles.map((_, at) => ({ is_wrapped: at === 2 }));
  return {
    type: 'table',
    column_settings,
    rows: [titles, ...rows].map((row) => row.map((cell) => richText(cell))),
  };
}

function drawText(text: string): Cell {
  return { type: 'text', text: sanitize(text, 160) };
}

/** Slack shows it in each person's own zone. */
function drawTime(at: number): Cell {
  const fallback = `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return {
    type: 'date',
    timestamp: Math.floor(at / 1000),
    format: '{date_short_pretty} at {time}',
    fallback,
  };
}

function drawPlace(where: string | undefined): Cell {
  if (where === undefined) return drawText('—');
  if (isDirect(where)) return drawText('Direct message');
  return /^[CG][A-Z0-9]+$/.test(where) ? { type: 'channel', channel_id: where } : drawText(where);
}

/** Acts whose name in the log is a word of the code. */
const ACTS: ReadonlyMap<string, string> = new Map([
  ['accounts default', 'Choose the default account'],
  ['access allow', 'Give access'],
  ['access ask', 'Ask for access'],
  ['access deny', 'Refuse access'],
  ['activity share', 'Share the activity'],
  ['apply', 'Apply a configuration file'],
  ['audit', 'Read the audit log'],
  ['beta enroll', 'Enrol for managed hosting'],
  ['connect', 'Connect an account'],
  ['disconnect', 'Disconnect an account'],
  ['episode claim', 'Take on a failure'],
  ['episode close', 'Close a failure'],
  ['episode release', 'Hand a failure back'],
  ['hosting sync', 'Sync a managed server'],
  ['install', 'Install Deckhand'],
  ['invoices', 'Send a PDF of an invoice'],
  ['invoices csv', 'Send invoices as CSV'],
  ['invoices notify', 'Set up invoice notices'],
  ['invoices notify off', 'End invoice notices'],
  ['invoices pdfs', 'Send PDFs of invoices'],
  ['latest_run', 'Ask for the latest test'],
  ['link', 'Link to the service'],
  ['me', 'Claim a name'],
  ['roles', 'Change roles'],
  ['settings', 'Change settings'],
  ['share log', 'Share a log'],
  ['setup', 'Set up the channel'],
  ['setup move', 'Move what is set up'],
  ['setup show', 'Show the card of the channel'],
  ['signup', 'Sign up at the service'],
  ['test', 'Test access'],
  ['test_access', 'Test access'],
  ['unlink', 'Unlink from the service'],
  ['unwatch', 'Remove a watch'],
  ['unwatch mine', 'Remove a personal watch'],
  ['use', 'Choose the project of the channel'],
  ['watch', 'Set up a watch'],
  ['watch mine', 'Set up a personal watch'],
  ['watch push', 'Hear within seconds'],
]);

const VERBS: ReadonlySet<string> = new Set('add edit pause resume remove run share snooze undo'.split(' '));

/** An act in people's words: "Pause a digest" for `digest pause`. */
function describeAct(what: string): string {
  const words = what.replace(/[.:]/g, ' ');
  const act = ACTS.get(words);
  if (act !== undefined) return act;
  const [noun = '', verb = ''] = words.split(' ');
  if (words !== `${noun} ${verb}` || !VERBS.has(verb)) return capitalised(words.replaceAll('_', ' '));
  const thing = noun === 'invoices' ? 'invoice notices' : `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
  return `${verb === 'undo' ? 'Bring back' : capitalised(verb)} ${thing}`;
}
