import { describe, expect, it } from 'vitest';
import { listBlocks, splitAnswer, table } from '../../../src/views/blocks/lists.ts';
import { headed, section } from '../../../src/views/blocks/message.ts';

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

  const textOf = (value: unknown): string => JSON.stringify(value);

  it('leaves out nothing, and a message holds one table', () => {
    const names = Array.from({ length: 250 }, (_, at) => `row ${at}.`);
    const tables = table(
      'Names',
      ['Name'],
      names.map((name) => [name]),
    );
    const parts = splitAnswer(headed('All names', ...tables, section('The end.')));
    expect(parts).toHaveLength(3);
    for (const part of parts) expect(textOf(part).match(/data_table/g)).toHaveLength(1);
    for (const name of [...names, 'The end.']) expect(textOf(parts)).toContain(name);
  });

  it('keeps every line, in as many messages as Slack takes', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `line ${at} ${'x'.repeat(400)}`);
    const parts = splitAnswer(headed('Lines', ...listBlocks(lines)));
    expect(textOf(parts).match(/line \d+/g)).toHaveLength(400);
    for (const part of parts) expect(textOf(part.blocks).length).toBeLessThan(13_000);
    expect(listBlocks(['one', 'two'])).toHaveLength(1);
  });
});
