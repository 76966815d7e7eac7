import { describe, expect, it } from 'vitest';
import { listBlocks, table } from '../../../src/views/blocks/lists.ts';

describe('long lists', () => {
  it('shows every row of a short table and nothing more', () => {
    const blocks = table('Names', [{ title: 'Name' }], [['one'], ['']]);
    expect(blocks).toMatchObject([
      { type: 'table', rows: [[{ text: 'Name' }], [{ text: 'one' }], [{ text: '—' }]] },
    ]);
  });

  it('gives more than ten rows pages and a caption', () => {
    const rows = (amount: number) => Array.from({ length: amount }, (_, at) => [`row ${at}`]);
    expect(table('Names', [{ title: 'Name' }], rows(10))).toMatchObject([{ type: 'table' }]);
    expect(table('Names', [{ title: 'Name' }], rows(11))).toMatchObject([
      { type: 'data_table', caption: 'Names', page_size: 10 },
    ]);
  });

  it('cuts a table with as many more as are left', () => {
    const blocks = table(
      'Names',
      [{ title: 'Name' }],
      Array.from({ length: 250 }, (_, at) => [`row ${at}`]),
    );
    expect(JSON.stringify(blocks)).toContain('row 98');
    expect(JSON.stringify(blocks[1])).toContain('and 151 more');
  });

  it('keeps every line of a list that fits, and counts those that do not', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `line ${at} ${'x'.repeat(40)}`);
    const text = JSON.stringify(listBlocks(lines));
    const shown = text.match(/line \d+/g)?.length ?? 0;
    expect(text).toContain(`and ${400 - shown} more`);
    expect(listBlocks(lines.slice(0, 100))).toHaveLength(2);
    expect(JSON.stringify(listBlocks(lines.slice(0, 100)))).not.toContain('more');
  });
});
