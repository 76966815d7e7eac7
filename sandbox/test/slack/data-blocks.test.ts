import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../slack/block-kit/message.ts';
import { checkView } from '../../slack/block-kit/view.ts';

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const word = (length: number) => 'x'.repeat(length);

const series = (name: string, points = 2) => ({
  name,
  data: many(points, (index) => ({ label: `c${index}`, value: index - 1 })),
});

const bars = (count = 1, points = 2) => ({
  type: 'data_visualization',
  title: 'Deployments',
  chart: {
    type: 'bar',
    series: many(count, (index) => series(`s${index}`, points)),
    axis_config: { categories: many(points, (index) => `c${index}`), x_label: 'Day', y_label: 'Runs' },
  },
});

const pie = (segments: object[]) => ({
  type: 'data_visualization',
  title: 'Outcomes',
  chart: { type: 'pie', segments },
});

const text = (value: string) => ({ type: 'raw_text', text: value });
const number = (value: number) => ({ type: 'raw_number', value, text: String(value) });
const rich = { type: 'rich_text', elements: [] };

const dataTable = (rows: object[][], more = {}) => ({
  type: 'data_table',
  caption: 'Invoices',
  rows,
  ...more,
});
const grid = (rows: number, columns: number, cell = 'x') =>
  dataTable(many(rows, () => many(columns, () => text(cell))));

const faultsOf = (block: object) => checkMessageBlocks([block]).join();

describe('a chart', () => {
  it.each(['bar', 'area', 'line'])('of type %s passes at its limits', (type) => {
    const block = bars(6, 20);
    expect(checkMessageBlocks([{ ...block, chart: { ...block.chart, type } }])).toEqual([]);
  });

  it.each([
    ['seven series', bars(7), '/blocks/0/chart/series'],
    ['more than 20 points', bars(1, 21), '/blocks/0/chart/series/0/data'],
    ['a long title', { ...bars(), title: word(51) }, '/blocks/0/title'],
    ['no title', { ...bars(), title: undefined }, 'missing required field: title'],
    ['a long label', pie([{ label: word(21), value: 1 }]), '/blocks/0/chart/segments/0/label'],
    ['an empty segment', pie([{ label: 'x', value: 0 }]), 'must be more than 0'],
    ['seven segments', pie(many(7, () => ({ label: 'x', value: 1 }))), '/blocks/0/chart/segments'],
    ['another type of chart', { ...bars(), chart: { type: 'radar' } }, 'unsupported type: radar'],
  ])('with %s is refused', (_what, block, fault) => {
    expect(faultsOf(block)).toContain(fault);
  });

  it('has each series by its own name, and a point of it for each category', () => {
    const twice = bars();
    twice.chart.series.push(series('s0'));
    expect(faultsOf(twice)).toContain('series must have unique names');
    const short = bars();
    short.chart.axis_config.categories.push('c2');
    expect(faultsOf(short)).toContain('one data point for each of `axis_config.categories`');
  });

  it('stands in messages and on App Home, at most twice, and in no modal', () => {
    const home = (...blocks: object[]) => checkView({ type: 'home', blocks }, 'home');
    for (const check of [checkMessageBlocks, (blocks: object[]) => home(...blocks)]) {
      expect(check([bars(), bars()])).toEqual([]);
      expect(check([bars(), bars(), bars()]).join()).toContain('no more than 2');
    }
    const title = { type: 'plain_text', text: 'Figures' };
    const modal = checkView({ type: 'modal', title, blocks: [bars()] }, 'modal');
    expect(modal.join()).toContain('unsupported type: data_visualization');
  });
});

describe('a data table', () => {
  it('passes at its limits', () => {
    expect(checkMessageBlocks([grid(101, 4), grid(2, 20)])).toEqual([]);
    const mixed = [
      [text('Invoice'), text('Total')],
      [rich, number(12.5)],
    ];
    expect(faultsOf(dataTable(mixed, { page_size: 100, row_header_column_index: 1 }))).toBe('');
  });

  it.each([
    ['102 rows', grid(102, 1), '/blocks/0/rows'],
    ['a head only', grid(1, 1), 'must provide at least 2 items'],
    ['21 columns', grid(2, 21), '/blocks/0/rows/0'],
    ['ragged rows', dataTable([[text('a')], [text('a'), text('b')]]), 'as many cells each'],
    ['rich text in its head', dataTable([[rich], [rich]]), 'must not have cells of type `rich_text`'],
    ['no caption', { ...grid(2, 1), caption: undefined }, 'missing required field: caption'],
    ['a page of nothing', dataTable([[text('a')], [text('b')]], { page_size: 0 }), 'page_size'],
    ['a row header outside', dataTable([[text('a')], [text('b')]], { row_header_column_index: 1 }), 'column'],
  ])('with %s is refused', (_what, block, fault) => {
    expect(faultsOf(block)).toContain(fault);
  });

  it('holds 10,000 characters in all tables of a message', () => {
    const half = grid(2, 5, word(500));
    expect(checkMessageBlocks([half, half])).toEqual([]);
    expect(checkMessageBlocks([half, half, grid(2, 1)]).join()).toContain('less than 10001 characters');
  });
});
