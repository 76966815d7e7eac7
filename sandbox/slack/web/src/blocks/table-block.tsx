import type {
  DataTableBlock,
  RawNumberElement,
  RawTextElement,
  RichTextBlock,
  TableBlock as TableData,
} from '@slack/types';
import { type ReactNode, useState } from 'react';
import { TextWithEmoji } from '../emoji/emoji.tsx';
import { indexed } from '../ui/indexed.ts';
import { RichText } from './rich-text.tsx';

type Cell = RichTextBlock | RawTextElement | RawNumberElement;

/** Slack draws the first row as the head. */
export function TableBlock({ block }: { block: TableData }): ReactNode {
  const classes = (block.column_settings ?? []).map((column) => {
    return `align-${column?.align ?? 'left'}${column?.is_wrapped ? ' wrapped' : ''}`;
  });
  return <Grid rows={block.rows} classes={classes} label="Table" />;
}

const DEFAULT_PAGE = 5;

/** A table with a caption, leafed through a page at a time. */
export function DataTable({ block }: { block: DataTableBlock }): ReactNode {
  const [page, setPage] = useState(0);
  const [head = [], ...body] = block.rows;
  const size = block.page_size ?? DEFAULT_PAGE;
  const pages = Math.max(1, Math.ceil(body.length / size));
  const rows = [head, ...body.slice(page * size, (page + 1) * size)];
  return (
    <div className="data-table">
      <p className="table-caption">{block.caption}</p>
      <Grid
        rows={rows}
        classes={numberColumns(head, body)}
        label={block.caption}
        rowHeader={block.row_header_column_index ?? 0}
      />
      {pages > 1 && (
        <div className="table-pages">
          <button
            type="button"
            className="button button-small"
            disabled={page === 0}
            onClick={() => setPage(page - 1)}
          >
            Previous
          </button>
          <span>
            {page + 1} of {pages}
          </span>
          <button
            type="button"
            className="button button-small"
            disabled={page + 1 >= pages}
            onClick={() => setPage(page + 1)}
          >
            Next
          </button>
        </div>
      )}
    </div>
  );
}

/** A column of numbers only stands to the right, its head too. */
function numberColumns(head: Cell[], body: Cell[][]): string[] {
  return head.map((_, at) =>
    body.every((row) => row[at]?.type === 'raw_number') ? 'align-right' : 'align-left',
  );
}

interface GridProps {
  rows: Cell[][];
  classes: string[];
  label: string;
  /** The column by which a row is known, if any. */
  rowHeader?: number;
}

function Grid({ rows, classes, label, rowHeader }: GridProps): ReactNode {
  const [head = [], ...body] = rows;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="table-frame" tabIndex={0} aria-label={label}>
      <table className="table">
        <thead>
          <tr>
            {indexed(head).map(([key, cell]) => (
              <th key={key} scope="col" className={classes[Number(key)]}>
                <CellContent cell={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {indexed(body).map(([rowKey, row]) => (
            <tr key={rowKey}>
              {indexed(row).map(([key, cell]) => {
                const isHead = Number(key) === rowHeader;
                const Tag = isHead ? 'th' : 'td';
                return (
                  <Tag
                    key={key}
                    scope={isHead ? 'row' : undefined}
                    className={cellClass(classes[Number(key)], cell)}
                  >
                    <CellContent cell={cell} />
                  </Tag>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function cellClass(column: string | undefined, cell: Cell): string | undefined {
  return column ?? (cell.type === 'raw_number' ? 'align-right' : undefined);
}

function CellContent({ cell }: { cell: Cell }): ReactNode {
  return (
    <div className="cell" dir="auto">
      {cell.type === 'rich_text' ? <RichText block={cell} /> : <TextWithEmoji text={cell.text ?? ''} />}
    </div>
  );
}
