import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../slack/block-kit/message.ts';
import { checkView, isViewTooLarge } from '../../slack/block-kit/view.ts';

const plain = (length: number) => ({ type: 'plain_text', text: 'x'.repeat(length) });
const mrkdwn = (length: number) => ({ type: 'mrkdwn', text: 'x'.repeat(length) });
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const section = (extra: object = {}) => ({ type: 'section', text: mrkdwn(1), ...extra });
const button = (extra: object = {}) => ({ type: 'button', text: plain(1), ...extra });
const actions = (...elements: object[]) => ({ type: 'actions', elements });
const option = (value: string, extra: object = {}) => ({ text: plain(1), value, ...extra });
const groupOf = (count: number) => ({ label: plain(75), options: options(count) });
const options = (count: number) => many(count, (index) => option(`v${index}`));
const select = (extra: object = {}) => ({ type: 'static_select', options: options(1), ...extra });
const input = (element: object = { type: 'plain_text_input' }, extra: object = {}) => ({
  type: 'input',
  label: plain(1),
  element,
  ...extra,
});
const textInput = (extra: object) => input({ type: 'plain_text_input', ...extra });
const cell = { type: 'raw_text', text: 'x' };
const table = (rows: number, columns: number) => ({
  type: 'table',
  rows: many(rows, () => many(columns, () => cell)),
});
const confirm = (title: number, text: number, confirmText: number, deny: number) => ({
  title: plain(title),
  text: plain(text),
  confirm: plain(confirmText),
  deny: plain(deny),
});
const image = (extra: object = {}) => ({
  type: 'image',
  image_url: 'https://example.com/a.png',
  alt_text: 'x',
  ...extra,
});
const richText = (...elements: object[]) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});

const series = (name: string, points = 2) => ({
  name,
  data: many(points, (index) => ({ label: `c${index}`, value: index - 1 })),
});
const bars = (count = 1, points = 2, type = 'bar') => ({
  type: 'data_visualization',
  title: 'Deployments',
  chart: {
    type,
    series: many(count, (index) => series(`s${index}`, points)),
    axis_config: { categories: many(points, (index) => `c${index}`), x_label: 'Day', y_label: 'Runs' },
  },
});
const pie = (segments: object[]) => ({
  type: 'data_visualization',
  title: 'Outcomes',
  chart: { type: 'pie', segments },
});
const dataTable = (rows: object[][], more = {}) => ({
  type: 'data_table',
  caption: 'Invoices',
  rows,
  ...more,
});
const text = (value: string) => ({ type: 'raw_text', text: value });
const grid = (rows: number, columns: number, value = 'x') =>
  dataTable(many(rows, () => many(columns, () => text(value))));
const rich = { type: 'rich_text', elements: [] };
const twoRows = [[text('a')], [text('b')]];

const word = (length: number) => 'x'.repeat(length);
const address = (length: number) => `https://a.example/${word(length - 18)}`;
const fields = (count: number) => section({ fields: many(count, () => plain(1)) });
const button1 = (extra: object) => actions(button(extra));
const select1 = (extra: object) => actions(select(extra));
const one = (extra: object) => select({ options: [option('v', extra)] });

type Limit = [what: string, limit: number, make: (size: number) => object, place: string];

/** Each limit of an element: how much Slack takes, and where Slack points if it is one more. */
const ELEMENTS: Limit[] = [
  ['button text', 75, (size) => button({ text: plain(size) }), 'text/text'],
  ['button value', 2000, (size) => button({ value: word(size) }), 'value'],
  ['button url', 3000, (size) => button({ url: address(size) }), 'url'],
  ['action_id', 255, (size) => button({ action_id: word(size) }), 'action_id'],
  ['confirm title', 100, (size) => button({ confirm: confirm(size, 1, 1, 1) }), 'confirm/title/text'],
  ['confirm text', 300, (size) => button({ confirm: confirm(1, size, 1, 1) }), 'confirm/text/text'],
  ['confirm button', 30, (size) => button({ confirm: confirm(1, 1, size, 1) }), 'confirm/confirm/text'],
  ['confirm deny', 30, (size) => button({ confirm: confirm(1, 1, 1, size) }), 'confirm/deny/text'],
  ['select options', 100, (size) => select({ options: options(size) }), 'options'],
  ['option text', 75, (size) => one({ text: plain(size) }), 'options/0/text/text'],
  ['option value', 150, (size) => one({ value: word(size) }), 'options/0/value'],
  ['description', 75, (size) => one({ description: plain(size) }), 'options/0/description/text'],
  ['placeholder', 150, (size) => select({ placeholder: plain(size) }), 'placeholder/text'],
  ['overflow', 5, (size) => ({ type: 'overflow', options: options(size) }), 'options'],
  ['checkboxes', 10, (size) => ({ type: 'checkboxes', options: options(size) }), 'options'],
  ['radio buttons', 10, (size) => ({ type: 'radio_buttons', options: options(size) }), 'options'],
];

/** The same of blocks. */
const BLOCKS: Limit[] = [
  ['section text', 3000, (size) => section({ text: mrkdwn(size) }), 'text/text'],
  ['section fields', 10, fields, 'fields'],
  ['field text', 2000, (size) => section({ fields: [plain(size)] }), 'fields/0/text'],
  ['block_id', 255, (size) => section({ block_id: word(size) }), 'block_id'],
  ['header', 150, (size) => ({ type: 'header', text: plain(size) }), 'text/text'],
  ['context', 10, (size) => ({ type: 'context', elements: many(size, () => plain(1)) }), 'elements'],
  ['actions', 25, (size) => actions(...many(size, () => button())), 'elements'],
  ['input label', 2000, (size) => input(undefined, { label: plain(size) }), 'label/text'],
  ['input hint', 2000, (size) => input(undefined, { hint: plain(size) }), 'hint/text'],
  ['input text', 3000, (size) => textInput({ initial_value: word(size) }), 'element/initial_value'],
  ['input max_length', 3000, (size) => textInput({ max_length: size }), 'element/max_length'],
  ['image alt_text', 2000, (size) => image({ alt_text: word(size) }), 'alt_text'],
  ['image url', 3000, (size) => image({ image_url: address(size) }), 'image_url'],
  ['table rows', 100, (size) => table(size, 1), 'rows'],
  ['table columns', 20, (size) => table(1, size), 'rows/0'],
  ['markdown', 12_000, (size) => ({ type: 'markdown', text: word(size) }), 'text'],
  ['chart title', 50, (size) => ({ ...bars(), title: word(size) }), 'title'],
  ['series', 6, (size) => bars(size), 'chart/series'],
  ['points', 20, (size) => bars(1, size), 'chart/series/0/data'],
  ['segments', 6, (size) => pie(many(size, () => ({ label: 'x', value: 1 }))), 'chart/segments'],
  ['segment label', 20, (size) => pie([{ label: word(size), value: 1 }]), 'chart/segments/0/label'],
  ['data table rows', 101, (size) => grid(size, 1), 'rows'],
  ['data table columns', 20, (size) => grid(2, size), 'rows/0'],
  ...ELEMENTS.map(([what, limit, make, place]): Limit => {
    return [what, limit, (size) => actions(make(size)), `elements/0/${place}`];
  }),
];

describe('limits of a message', () => {
  it.each(BLOCKS)('%s: takes %i and refuses one more, with its place', (_what, limit, block, place) => {
    expect(checkMessageBlocks([block(limit)])).toEqual([]);
    expect(checkMessageBlocks([block(limit + 1)]).join()).toContain(`[json-pointer:/blocks/0/${place}]`);
  });

  const half = { type: 'markdown', text: word(6000) };
  const wide = grid(2, 5, word(500));

  it.each<[what: string, most: object[], more: object, fault: string]>([
    [
      '50 blocks',
      many(50, () => section()),
      section(),
      'no more than 50 items allowed [json-pointer:/blocks]',
    ],
    ['12,000 characters of markdown', [half, half], { type: 'markdown', text: 'x' }, 'markdown'],
    ['one table', [table(1, 1)], table(1, 1), 'table'],
    ['two charts', [bars(), bars()], bars(), 'no more than 2'],
    ['10,000 characters in data tables', [wide, wide], grid(2, 1), 'less than 10001 characters'],
  ])('are %s in all', (_what, most, more, fault) => {
    expect(checkMessageBlocks(most)).toEqual([]);
    expect(checkMessageBlocks([...most, more]).join()).toContain(fault);
  });

  it('count characters, not the halves of an emoji', () => {
    const text = { type: 'plain_text', text: '🚀'.repeat(150) };
    expect(checkMessageBlocks([{ type: 'header', text }])).toEqual([]);
  });
});

const unsupported = (type: string) => `unsupported type: ${type}`;

const twice = bars();
twice.chart.series.push(series('s0'));
const short = bars();
short.chart.axis_config.categories.push('c2');

const BAD: [what: string, block: object, fault: string, place?: string][] = [
  ['an unknown block', { type: 'carousel3d' }, unsupported('carousel3d'), '/type'],
  ['a block without type', { text: plain(1) }, 'missing required field: type', ''],
  ['an unknown field', section({ colour: 'red' }), 'invalid additional property: colour', ''],
  ['a missing field', { type: 'header' }, 'missing required field: text', ''],
  ['a bare string for a text', { type: 'header', text: 'Hello' }, 'must provide an object', '/text'],
  ['an empty text', section({ text: mrkdwn(0) }), 'must be more than 0 characters', '/text/text'],
  ['mrkdwn as a header', { type: 'header', text: mrkdwn(1) }, 'must be a valid enum value', '/text/type'],
  ['a section without text', { type: 'section' }, 'must provide one of `text` and `fields`', ''],
  ['an unknown element', actions({ type: 'slider' }), unsupported('slider'), '/elements/0/type'],
  ['a button in an input block', input(button()), unsupported('button'), '/element/type'],
  ['an input in an actions block', actions({ type: 'plain_text_input' }), unsupported('plain_text_input')],
  ['no elements', actions(), 'must provide at least 1 items', '/elements'],
  ['no options', select1({ options: [] }), 'must provide at least 1 items'],
  [
    'options and groups at once',
    select1({ option_groups: [groupOf(1)] }),
    'one of `options` and `option_groups`',
  ],
  ['a value twice', select1({ options: [option('a'), option('a')] }), 'option values must be unique'],
  ['an initial option that is none', select1({ initial_option: option('z') }), 'initial option must match'],
  ['two sources of a picture', image({ slack_file: { id: 'F1' } }), 'one of `image_url` and `slack_file`'],
  ['a picture without a source', { type: 'image', alt_text: 'x' }, 'one of `image_url` and `slack_file`'],
  ['a link that is none', button1({ url: 'nowhere' }), 'must be a valid URL'],
  ['ragged rows', { type: 'table', rows: [[cell], [cell, cell]] }, 'rows must have as many cells each'],
  ['a bad date', section({ accessory: { type: 'datepicker', initial_date: '31.12.2026' } }), 'YYYY-MM-DD'],
  ['a bad time', section({ accessory: { type: 'timepicker', initial_time: '9:00' } }), 'HH:mm'],
  ['an alert in a message', { type: 'alert', text: plain(1) }, unsupported('alert')],
  ['a file block', { type: 'file', external_id: 'a', source: 'remote' }, unsupported('file')],
  ['a file input in a message', input({ type: 'file_input' }), unsupported('file_input')],
  ['an empty rich text', richText({ type: 'text', text: '' }), 'must be more than 0 characters'],
  ['rich text of an unknown kind', richText({ type: 'blink', text: 'x' }), unsupported('blink')],
  [
    'ends swapped',
    input({ type: 'number_input', is_decimal_allowed: false, min_value: '5', max_value: '1' }),
    '`min_value` must not be more',
  ],
  ['a chart without a title', { ...bars(), title: undefined }, 'missing required field: title'],
  ['an empty segment', pie([{ label: 'x', value: 0 }]), 'must be more than 0'],
  ['another type of chart', bars(1, 2, 'radar'), unsupported('radar')],
  ['a series twice', twice, 'series must have unique names'],
  ['a category without a point', short, 'one data point for each of `axis_config.categories`'],
  ['a data table of its head only', grid(1, 1), 'must provide at least 2 items'],
  ['ragged rows of data', dataTable([[text('a')], [text('a'), text('b')]]), 'as many cells each'],
  ['rich text in a head', dataTable([[rich], [rich]]), 'must not have cells of type `rich_text`'],
  [
    'a data table without a caption',
    { ...grid(2, 1), caption: undefined },
    'missing required field: caption',
  ],
  ['a page of nothing', dataTable(twoRows, { page_size: 0 }), 'page_size'],
  ['a row header outside', dataTable(twoRows, { row_header_column_index: 1 }), 'column'],
];

describe('what Slack refuses in a message', () => {
  it.each(BAD)('is %s', (_what, block, fault, place) => {
    const said = place === undefined ? fault : `${fault} [json-pointer:/blocks/0${place}]`;
    expect(checkMessageBlocks([block]).join()).toContain(said);
  });

  it('is a block_id or, in one block, an action_id twice', () => {
    const again = [section({ block_id: 'a' }), section({ block_id: 'a' })];
    const fault = '`block_id` "a" already exists [json-pointer:/blocks/1/block_id]';
    expect(checkMessageBlocks(again)).toEqual([fault]);
    const pressed = button({ action_id: 'a' });
    expect(checkMessageBlocks([actions(pressed, pressed)])).toEqual([
      '`action_id` "a" already exists [json-pointer:/blocks/0/elements/1/action_id]',
    ]);
    expect(checkMessageBlocks([actions(pressed), actions(pressed)])).toEqual([]);
  });

  it('is more than one fault, and each is told', () => {
    const faulty = [{ type: 'header', text: plain(151) }, { type: 'nonsense' }, section({ x: 1 })];
    expect(checkMessageBlocks(faulty)).toHaveLength(3);
  });
});

describe('what Slack takes in a message', () => {
  const everyCell = [
    [text('Invoice'), text('Total')],
    [rich, { type: 'raw_number', value: 12.5, text: '12.5' }],
  ];
  it.each([
    [
      'every select',
      actions(
        select(),
        { type: 'external_select', min_query_length: 0 },
        { type: 'users_select' },
        { type: 'conversations_select', filter: { include: ['public'] } },
        { type: 'channels_select' },
      ),
    ],
    ['option groups', actions({ type: 'static_select', option_groups: [groupOf(100)] })],
    ['a table with settings', { ...table(2, 2), column_settings: [{ align: 'right' }, null] }],
    [
      'rich text',
      richText(
        { type: 'text', text: 'a', style: { bold: true } },
        { type: 'user', user_id: 'U1' },
        { type: 'date', timestamp: 1, format: '{date}', fallback: 'x' },
      ),
    ],
    [
      'a rich list',
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_list',
            style: 'bullet',
            elements: richText({ type: 'text', text: 'a' }).elements,
          },
        ],
      },
    ],
    ['context with a picture', { type: 'context', elements: [image(), mrkdwn(3000)] }],
    ['an input', input()],
    ['an area', bars(6, 20, 'area')],
    ['a line', bars(6, 20, 'line')],
    ['a data table of every cell', dataTable(everyCell, { page_size: 100, row_header_column_index: 1 })],
  ])('is %s', (_what, block) => {
    expect(checkMessageBlocks([block])).toEqual([]);
  });
});

const modal = (extra: object = {}) => ({
  type: 'modal',
  title: plain(24),
  submit: plain(24),
  close: plain(24),
  blocks: [input()],
  ...extra,
});

describe('views', () => {
  it.each<Limit>([
    ['title', 24, (size) => ({ title: plain(size) }), 'title/text'],
    ['submit', 24, (size) => ({ submit: plain(size) }), 'submit/text'],
    ['close', 24, (size) => ({ close: plain(size) }), 'close/text'],
    ['private_metadata', 3000, (size) => ({ private_metadata: word(size) }), 'private_metadata'],
    ['callback_id', 255, (size) => ({ callback_id: word(size) }), 'callback_id'],
    ['blocks', 100, (size) => ({ blocks: many(size, () => section()) }), 'blocks'],
  ])('are taken with a %s of %i and refused with one more', (_what, limit, extra, place) => {
    expect(checkView(modal(extra(limit)), 'modal')).toEqual([]);
    expect(checkView(modal(extra(limit + 1)), 'modal').join()).toContain(`[json-pointer:/view/${place}]`);
  });

  it('need a submit button where there are inputs', () => {
    const { submit: _submit, ...rest } = modal({ blocks: [section(), input()] });
    expect(checkView(rest, 'modal')).toEqual([
      'must define `submit` to use an `input` block in modals [json-pointer:/view/blocks/1/input]',
    ]);
  });

  it('may show alerts and take files in modals only, charts at home only, and tables in neither', () => {
    const home = (...blocks: object[]) => checkView({ type: 'home', blocks }, 'home').join();
    expect(home(bars(), bars())).toBe('');
    expect(home(bars(), bars(), bars())).toContain('no more than 2');
    const chart = checkView(modal({ blocks: [bars()] }), 'modal').join();
    expect(chart).toContain('unsupported type: data_visualization');
    const alert = { type: 'alert', text: plain(200), level: 'error' };
    const both = [alert, input({ type: 'file_input', max_files: 10 })];
    expect(checkView(modal({ blocks: both }), 'modal')).toEqual([]);
    expect(home(alert)).toContain('unsupported type: alert');
    expect(checkView(modal({ blocks: [table(1, 1)] }), 'modal').join()).toContain('unsupported type: table');
  });

  it('have one field that is in focus at first', () => {
    const focused = input({ type: 'plain_text_input', focus_on_load: true });
    expect(checkView(modal({ blocks: [focused] }), 'modal')).toEqual([]);
    expect(checkView(modal({ blocks: [focused, focused] }), 'modal')).toHaveLength(1);
  });

  it('weigh no more than 250 kB', () => {
    const heavy = section({ text: { type: 'mrkdwn', text: 'ä'.repeat(1400) } });
    const view = modal({ blocks: many(90, () => heavy) });
    expect(checkView(view, 'modal')).toEqual([]);
    expect(isViewTooLarge(view)).toBe(true);
  });
});
