import type { DataTableBlock, TableBlock } from '@slack/types';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, sanitize } from '../../core/mrkdwn.ts';
import type { SkippedRows } from '../../service/call.ts';
import { LIMITS, notes, say, section } from './make-blocks.ts';

/** Slack refuses messages whose blocks hold much over 13,000 characters: a table leaves room for more. */
const MAX_BLOCKS_TEXT = 12_000;
const MAX_TABLE_TEXT = 8_000;
const MAX_CELL = 120;
/** Number of rows on a page of a longer table. */
const PAGE = 10;

/**
 * Splits items into as few pages as possible, in order. An item that is larger than a page gets its own page.
 * @param sizeOf returns the room that an item takes
 */
export function inPages<T>(
  items: readonly T[],
  { most = Number.POSITIVE_INFINITY, room = 0 }: { most?: number; room?: number },
  sizeOf: (item: T) => number = () => 0,
): T[][] {
  const pages: T[][] = [];
  let remaining = 0;
  for (const item of items) {
    const size = sizeOf(item);
    const page = pages.at(-1);
    if (page === undefined || page.length >= most || size > remaining) {
      pages.push([item]);
      remaining = room - size;
    } else {
      page.push(item);
      remaining -= size;
    }
  }
  return pages;
}

/** Joins lines into as few texts as Slack's limit allows. No line is lost. */
export function packed(lines: readonly string[], room: number = LIMITS.sectionText): string[] {
  // The last line has no line break.
  const pages = inPages(lines, { room: room + 1 }, ({ length }) => length + 1);
  return pages.map((page) => page.join('\n'));
}

/** Joins lines of escaped mrkdwn into as few sections as possible. */
export function listBlocks(lines: readonly string[]): KnownBlock[] {
  return packed(lines).map((text) => section(text));
}

/** Splits a long answer into as many messages as Slack needs. Buttons stay below their text. */
export function splitAnswer(message: Message): Message[] {
  const { text, blocks, isTextWhole } = message;
  const units: KnownBlock[][] = [];
  for (const block of blocks) {
    const above = block.type === 'actions' ? units.at(-1) : undefined;
    if (above === undefined) units.push([block]);
    else above.push(block);
  }
  const parts: KnownBlock[][] = [];
  let remaining = 0;
  for (const unit of units) {
    const length = measureBlocks(unit);
    const part = parts.at(-1);
    const hasRoom = length <= remaining && (part?.length ?? 0) + unit.length <= LIMITS.blocksInMessage;
    if (part !== undefined && hasRoom && !(unit.some(isTable) && part.some(isTable))) {
      part.push(...unit);
      remaining -= length;
    } else {
      parts.push([...unit]);
      remaining = MAX_BLOCKS_TEXT - length;
    }
  }
  if (parts.length <= 1) return [message];
  return parts.map((part, at) => {
    // A whole text has the rows of the first part.
    if (isTextWhole === true)
      return at === 0 ? { text, isTextWhole, blocks: part } : { text: `Part ${at + 1}`, blocks: part };
    return { text: at === 0 ? text : `${text}, part ${at + 1}`, blocks: part };
  });
}

function measureBlocks(unit: readonly KnownBlock[]): number {
  return unit.reduce(
    (sum, block) => sum + (isTable(block) ? MAX_TABLE_TEXT : JSON.stringify(block).length),
    0,
  );
}

/** True for a block of which Slack takes one in a message. */
function isTable({ type }: KnownBlock): boolean {
  return type === 'table' || type === 'data_table';
}

/** Column title; left-aligned by default. */
type Column = string | { title: string; align?: 'right' };

/**
 * Tables of foreign text: one, or several if Slack does not take all rows in one. Long ones have pages and
 * can be sorted. A message holds one table, so `splitAnswer` and a test's thread post one in each message.
 * @param caption name of the rows; may be foreign
 */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: ReadonlyArray<readonly string[]>,
): KnownBlock[] {
  const cells = rows.map((row) => row.map((cell) => sanitize(cell, MAX_CELL)));
  const pages = inPages(
    cells,
    { most: LIMITS.tableRows - 1, room: MAX_TABLE_TEXT },
    (row) => row.join('').length,
  );
  return pages.map((page) => tableBlock(caption, columns, page));
}

function tableBlock(
  caption: string,
  columns: readonly Column[],
  visible: readonly string[][],
): TableBlock | DataTableBlock {
  const heads = columns.map((column) => (typeof column === 'string' ? { title: column } : column));
  const drawText = (text: string) => ({ type: 'raw_text' as const, text });
  const titles = heads.map(({ title }) => drawText(title));
  if (visible.length > PAGE) {
    // Slack would sort these texts wrongly: "9.00 EUR" after "10.00 EUR".
    const drawCell = (text: string, at: number) => {
      const [, number] = (heads[at]?.align === 'right' && PLAIN_NUMBER.exec(text)) || [];
      return number === undefined
        ? drawText(text)
        : { type: 'raw_number' as const, value: Number(number), text };
    };
    const rows = [titles, ...visible.map((row) => row.map(drawCell))];
    return { type: 'data_table', caption: sanitize(caption, MAX_CELL), page_size: PAGE, rows };
  }
  const rows = [titles, ...visible.map((row) => row.map(drawText))];
  return { type: 'table', column_settings: heads.map(({ align }) => ({ align: align ?? 'left' })), rows };
}

/** A number that readers cannot misread, unlike "1,234". */
const PLAIN_NUMBER = /^([-+]?\d+(?:\.\d+)?)(?: |$)/;

/** Result of a post that contains only unreadable entries. */
export const UNREAD = 'entries that could not be read';

/**
 * The message of a list, with the number of entries that could not be read.
 * @param read the readable entries; if there are none, the message only tells that entries could not be read
 */
export function withSkipped(
  message: Message,
  skipped: readonly SkippedRows[],
  read?: readonly unknown[],
): Message {
  if (read?.length === 0 && skipped.length > 0) return say(skippedWords(skipped));
  return { ...message, blocks: [...message.blocks, ...notes(skippedWords(skipped))] };
}

/** "1 entry could not be read", with the log's reference; empty if all could be read and the list is whole. Mrkdwn. */
export function skippedWords(skipped: readonly SkippedRows[]): string {
  if (skipped.length === 0) return '';
  const countOf = (some: readonly SkippedRows[]): string => {
    const total = some.reduce((sum, { count }) => sum + count, 0);
    return `${total} ${total === 1 ? 'entry' : 'entries'}`;
  };
  const [unlisted = [], unread = []] = [true, false].map((is) =>
    skipped.filter(({ isUnlisted = false }) => isUnlisted === is),
  );
  const sentences = [
    unread.length > 0 && `${countOf(unread)} could not be read.`,
    unlisted.length > 0 && `The list is not whole: at least ${countOf(unlisted)} more.`,
  ];
  const references = skipped.map(({ reference }) => code(reference)).join(', ');
  return `:warning: ${sentences.filter(Boolean).join(' ')} Reference ${references}.`;
}
