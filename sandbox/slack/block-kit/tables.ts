import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { richText } from './rich-text.ts';
import { anyLength, id, items } from './texts.ts';

const rawText = z.strictObject({ type: z.literal('raw_text'), text: anyLength });
const rawNumber = z.strictObject({ type: z.literal('raw_number'), value: z.number(), text: anyLength });
const cell = z.discriminatedUnion('type', [richText, rawText, rawNumber]);

const columnSetting = z.strictObject({
  align: z.enum(['left', 'center', 'right']).optional(),
  is_wrapped: z.boolean().optional(),
});

function areEven(block: { rows: readonly unknown[][] }): boolean {
  return new Set(block.rows.map((row) => row.length)).size === 1;
}

const RAGGED = 'rows must have as many cells each';

export const table = z
  .strictObject({
    type: z.literal('table'),
    block_id: id.optional(),
    rows: items(items(cell, LIMITS.tableColumns, 1), LIMITS.tableRows, 1),
    column_settings: items(columnSetting.nullable(), LIMITS.tableColumns, 1).optional(),
  })
  .refine(areEven, RAGGED);

/** A table that people leaf through and sort; its first row is the head, which takes no rich text. */
export const dataTable = z
  .strictObject({
    type: z.literal('data_table'),
    block_id: id.optional(),
    caption: anyLength,
    rows: items(items(cell, LIMITS.tableColumns, 1), LIMITS.dataTableRows, 2),
    page_size: z.int().min(1).max(LIMITS.dataTablePage).optional(),
    row_header_column_index: z.int().min(0).optional(),
  })
  .refine(areEven, RAGGED)
  .refine(
    ({ rows: [head = []] }) => head.every((one) => one.type !== 'rich_text'),
    'the first row must not have cells of type `rich_text`',
  )
  .refine(
    ({ rows: [head = []], row_header_column_index: index = 0 }) => index < head.length,
    '`row_header_column_index` must be a column of the table',
  );

interface LooseText {
  text?: unknown;
  elements?: readonly LooseText[];
}

/** How many characters a table's cells hold. */
export function countCells({ rows }: { rows?: readonly (readonly LooseText[])[] | undefined }): number {
  return (rows ?? []).flat().reduce((sum, one) => sum + countText(one), 0);
}

function countText({ text, elements }: LooseText): number {
  const own = typeof text === 'string' ? [...text].length : 0;
  return (elements ?? []).reduce((sum, element) => sum + countText(element), own);
}
