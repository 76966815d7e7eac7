import type { DataTableBlock, TableBlock } from '@slack/types';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, linesWithin, sanitize } from '../../core/mrkdwn.ts';
import type { SkippedRows } from '../../service/call.ts';
import { LIMITS } from './limits.ts';
import { context, headed, say, section } from './message.ts';

/** Slack refuses messages whose blocks hold much over 13,000 characters: three sections, or a table, leave room for more. */
const MAX_SECTIONS = 3;
const MAX_TABLE_TEXT = 8_000;
const MAX_CELL = 120;
/** A table with more rows has pages of so many. */
const PAGE = 10;

/**
 * In as few pages as hold them, in their order; what is larger than a page has one to itself.
 * @param sizeOf what one takes of the room of a page
 */
export function inPages<T>(
  items: readonly T[],
  { most = Number.POSITIVE_INFINITY, room = 0 }: { most?: number; room?: number },
  sizeOf: (item: T) => number = () => 0,
): T[][] {
  const pages: T[][] = [];
  let left = 0;
  for (const item of items) {
    const size = sizeOf(item);
    const page = pages.at(-1);
    if (page === undefined || page.length >= most || size > left) {
      pages.push([item]);
      left = room - size;
    } else {
      page.push(item);
      left -= size;
    }
  }
  return pages;
}

/** Lines in as few texts as Slack's limit allows; none is lost. */
export function packed(lines: readonly string[], room: number = LIMITS.sectionText): string[] {
  // The last line has no break after it.
  const pages = inPages(lines, { room: room + 1 }, ({ length }) => length + 1);
  return pages.map((page) => page.join('\n'));
}

/** Lines of safe mrkdwn in as few sections as hold them, with "and N more" where these are not enough. */
export function listBlocks(lines: readonly string[], noun?: string): KnownBlock[] {
  const pages = inPages(lines, { room: LIMITS.sectionText }, ({ length }) => length + 1);
  const rest = pages.splice(MAX_SECTIONS - 1).flat();
  const last = rest.length === 0 ? [] : [linesWithin(rest, LIMITS.sectionText, noun)];
  return [...pages.map((page) => page.join('\n')), ...last].map((text) => section(text));
}

/**
 * A list in as many messages as hold all its lines.
 * @param notes stand under the last
 */
export function inParts(title: string, lines: readonly string[], ...notes: KnownBlock[]): Message[] {
  const parts = inPages(packed(lines), { most: MAX_SECTIONS });
  return parts.map((texts, at) =>
    headed(
      at === 0 ? title : `${title}, part ${at + 1}`,
      ...texts.map((text) => section(text)),
      ...(at === parts.length - 1 ? notes : []),
    ),
  );
}

/** By its title; to the left where nothing else is said. */
type Column = string | { title: string; align?: 'right' };

/**
 * A table of foreign text with a cell for each column, as many rows as Slack takes and "and N more" under it. A long one
 * can be sorted and has pages. A message holds one.
 * @param caption what the rows are; may be foreign
 */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: ReadonlyArray<readonly string[]>,
): KnownBlock[] {
  const shown: string[][] = [];
  let used = 0;
  for (const row of rows.slice(0, LIMITS.tableRows - 1)) {
    const cells = row.map((cell) => sanitize(cell, MAX_CELL));
    used += cells.join('').length;
    if (used > MAX_TABLE_TEXT) break;
    shown.push(cells);
  }
  const heads = columns.map((column) => (typeof column === 'string' ? { title: column } : column));
  const cells = [heads.map(({ title }) => title), ...shown].map((row) =>
    row.map((text) => ({ type: 'raw_text' as const, text })),
  );
  const block: TableBlock | DataTableBlock =
    rows.length > PAGE
      ? { type: 'data_table', caption: sanitize(caption, MAX_CELL), page_size: PAGE, rows: cells }
      : {
          type: 'table',
          column_settings: heads.map(({ align }) => ({ align: align ?? 'left' })),
          rows: cells,
        };
  const left = rows.length - shown.length;
  return left === 0 ? [block] : [block, context(`_and ${left} more_`)];
}

/** What was posted, where that is all. */
export const UNREAD = 'entries that could not be read';

/**
 * The message of a list, which says how many entries are missing from it because they could not be read.
 * @param read those that could be: without any, nothing is said of the list itself, which is not empty
 */
export function withSkipped(
  message: Message,
  skipped: readonly SkippedRows[],
  read?: readonly unknown[],
): Message {
  if (read?.length === 0 && skipped.length > 0) return say(skippedWords(skipped));
  return { ...message, blocks: [...message.blocks, ...skippedBlocks(skipped)] };
}

/** What could not be read; nothing where all could. */
export function skippedBlocks(skipped: readonly SkippedRows[]): KnownBlock[] {
  return skipped.length === 0 ? [] : [context(skippedWords(skipped))];
}

/** "1 entry could not be read", with the log's reference; mrkdwn. */
export function skippedWords(skipped: readonly SkippedRows[]): string {
  const total = skipped.reduce((sum, { count }) => sum + count, 0);
  const references = skipped.map(({ reference }) => code(reference)).join(', ');
  return `:warning: ${total} ${total === 1 ? 'entry' : 'entries'} could not be read. Reference ${references}.`;
}
