import type { TableBlock } from '@slack/types';
import type { KnownBlock } from '../../core/message.ts';
import { plain } from '../../core/mrkdwn.ts';
import { LIMITS } from './limits.ts';
import { context } from './message.ts';

export interface Column {
  title: string;
  align?: 'left' | 'center' | 'right';
}

/** Slack refuses messages whose blocks hold much over 13,000 characters; the table leaves room for the rest. */
const MOST_TEXT = 8_000;
const MOST_CELL = 120;

/**
 * A table of foreign text, as many rows as Slack takes, with "and N more" under it for the rest. A message holds one.
 * Each row has a cell a column.
 */
export function table(columns: readonly Column[], rows: ReadonlyArray<readonly string[]>): KnownBlock[] {
  const shown: string[][] = [];
  let used = 0;
  for (const row of rows.slice(0, LIMITS.tableRows - 1)) {
    const cells = row.map((cell) => plain(cell, MOST_CELL));
    used += cells.join('').length;
    if (used > MOST_TEXT) break;
    shown.push(cells);
  }
  const block: TableBlock = {
    type: 'table',
    column_settings: columns.map(({ align }) => ({ align: align ?? 'left' })),
    rows: [columns.map(({ title }) => title), ...shown].map((cells) =>
      cells.map((text) => ({ type: 'raw_text' as const, text })),
    ),
  };
  const left = rows.length - shown.length;
  return left === 0 ? [block] : [block, context(`_and ${left} more_`)];
}
