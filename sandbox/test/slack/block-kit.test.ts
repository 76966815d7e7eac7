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

const button1 = (extra: object) => actions(button(extra));
const select1 = (extra: object) => actions(select(extra));
const word = (length: number) => 'x'.repeat(length);
const address = (length: number) => `https://a.example/${word(length - 18)}`;
const fields = (count: number) => section({ fields: many(count, () => plain(1)) });

/** Each limit: how much Slack takes, a block of that size, and where Slack points if it is one more. */
const LIMITS: [what: string, limit: number, block: (size: number) => object, place: string][] = [
  ['section text', 3000, (size) => section({ text: mrkdwn(size) }), 'text/text'],
  ['section fields', 10, fields, 'fields'],
  ['field text', 2000, (size) => section({ fields: [plain(size)] }), 'fields/0/text'],
  ['block_id', 255, (size) => section({ block_id: word(size) }), 'block_id'],
  ['header', 150, (size) => ({ type: 'header', text: plain(size) }), 'text/text'],
  ['context', 10, (size) => ({ type: 'context', elements: many(size, () => plain(1)) }), 'elements'],
  ['actions', 25, (size) => actions(...many(size, () => button())), 'elements'],
  ['button text', 75, (size) => button1({ text: plain(size) }), 'elements/0/text/text'],
  ['button value', 2000, (size) => button1({ value: word(size) }), 'elements/0/value'],
  ['button url', 3000, (size) => button1({ url: address(size) }), 'elements/0/url'],
  ['action_id', 255, (size) => button1({ action_id: word(size) }), 'elements/0/action_id'],
  [
    'confirm title',
    100,
    (size) => button1({ confirm: confirm(size, 1, 1, 1) }),
    'elements/0/confirm/title/text',
  ],
  [
    'confirm text',
    300,
    (size) => button1({ confirm: confirm(1, size, 1, 1) }),
    'elements/0/confirm/text/text',
  ],
  [
    'confirm button',
    30,
    (size) => button1({ confirm: confirm(1, 1, size, 1) }),
    'elements/0/confirm/confirm/text',
  ],
  [
    'confirm deny',
    30,
    (size) => button1({ confirm: confirm(1, 1, 1, size) }),
    'elements/0/confirm/deny/text',
  ],
  ['select options', 100, (size) => select1({ options: options(size) }), 'elements/0/options'],
  [
    'option text',
    75,
    (size) => select1({ options: [option('v', { text: plain(size) })] }),
    'elements/0/options/0/text/text',
  ],
  ['option value', 150, (size) => select1({ options: [option(word(size))] }), 'elements/0/options/0/value'],
  [
    'description',
    75,
    (size) => select1({ options: [option('v', { description: plain(size) })] }),
    'elements/0/options/0/description/text',
  ],
  ['placeholder', 150, (size) => select1({ placeholder: plain(size) }), 'elements/0/placeholder/text'],
  ['overflow', 5, (size) => actions({ type: 'overflow', options: options(size) }), 'elements/0/options'],
  ['checkboxes', 10, (size) => actions({ type: 'checkboxes', options: options(size) }), 'elements/0/options'],
  [
    'radio buttons',
    10,
    (size) => actions({ type: 'radio_buttons', options: options(size) }),
    'elements/0/options',
  ],
  ['input label', 2000, (size) => input(undefined, { label: plain(size) }), 'label/text'],
  ['input hint', 2000, (size) => input(undefined, { hint: plain(size) }), 'hint/text'],
  ['input text', 3000, (size) => textInput({ initial_value: word(size) }), 'element/initial_value'],
  ['input max_length', 3000, (size) => textInput({ max_length: size }), 'element/max_length'],
  ['image alt_text', 2000, (size) => image({ alt_text: word(size) }), 'alt_text'],
  ['image url', 3000, (size) => image({ image_url: address(size) }), 'image_url'],
  ['table rows', 100, (size) => table(size, 1), 'rows'],
  ['table columns', 20, (size) => table(1, size), 'rows/0'],
  ['markdown', 12_000, (size) => ({ type: 'markdown', text: word(size) }), 'text'],
];

describe('limits of a message', () => {
  it.each(LIMITS)('%s: takes %i and refuses one more, with its place', (_what, limit, block, place) => {
    expect(checkMessageBlocks([block(limit)])).toEqual([]);
    expect(checkMessageBlocks([block(limit + 1)]).join()).toContain(`[json-pointer:/blocks/0/${place}]`);
  });

  it('are 50 blocks', () => {
    expect(checkMessageBlocks(many(50, () => section()))).toEqual([]);
    expect(checkMessageBlocks(many(51, () => section()))).toEqual([
      'no more than 50 items allowed [json-pointer:/blocks]',
    ]);
  });

  it('are 12,000 characters of markdown in all, and one table', () => {
    const half = { type: 'markdown', text: 'x'.repeat(6000) };
    expect(checkMessageBlocks([half, half])).toEqual([]);
    expect(checkMessageBlocks([half, half, { type: 'markdown', text: 'x' }])).toHaveLength(1);
    expect(checkMessageBlocks([table(1, 1), table(1, 1)])).toHaveLength(1);
  });

  it('count characters, not the halves of an emoji', () => {
    const header = (count: number) => ({
      type: 'header',
      text: { type: 'plain_text', text: '🚀'.repeat(count) },
    });
    expect(checkMessageBlocks([header(150)])).toEqual([]);
    const fault = 'must be less than 151 characters [json-pointer:/blocks/0/text/text]';
    expect(checkMessageBlocks([header(151)])).toEqual([fault]);
  });
});

const unsupported = (type: string) => `unsupported type: ${type}`;

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
];

describe('what Slack refuses in a message', () => {
  it.each(BAD)('is %s', (_what, block, fault, place) => {
    const said = place === undefined ? fault : `${fault} [json-pointer:/blocks/0${place}]`;
    expect(checkMessageBlocks([block]).join()).toContain(said);
  });

  it('is a block_id or, in one block, an action_id twice', () => {
    const twice = [section({ block_id: 'a' }), section({ block_id: 'a' })];
    expect(checkMessageBlocks(twice)).toEqual([
      '`block_id` "a" already exists [json-pointer:/blocks/1/block_id]',
    ]);
    const buttons = actions(button({ action_id: 'a' }), button({ action_id: 'a' }));
    expect(checkMessageBlocks([buttons])).toEqual([
      '`action_id` "a" already exists [json-pointer:/blocks/0/elements/1/action_id]',
    ]);
    const apart = [actions(button({ action_id: 'a' })), actions(button({ action_id: 'a' }))];
    expect(checkMessageBlocks(apart)).toEqual([]);
  });

  it('is more than one fault, and each is told', () => {
    const faulty = [{ type: 'header', text: plain(151) }, { type: 'nonsense' }, section({ x: 1 })];
    expect(checkMessageBlocks(faulty)).toHaveLength(3);
  });
});

describe('what Slack takes in a message', () => {
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
  it.each([
    ['title', modal({ title: plain(25) }), '/view/title/text'],
    ['submit', modal({ submit: plain(25) }), '/view/submit/text'],
    ['close', modal({ close: plain(25) }), '/view/close/text'],
    ['private_metadata', modal({ private_metadata: 'x'.repeat(3001) }), '/view/private_metadata'],
    ['callback_id', modal({ callback_id: 'x'.repeat(256) }), '/view/callback_id'],
    ['blocks', modal({ blocks: many(101, () => section()) }), '/view/blocks'],
  ])('are refused with too long a %s', (_what, view, place) => {
    expect(checkView(view, 'modal').join()).toContain(`[json-pointer:${place}]`);
  });

  it('are taken at every limit', () => {
    const view = modal({
      private_metadata: 'x'.repeat(3000),
      callback_id: 'x'.repeat(255),
      blocks: many(100, () => section()),
    });
    expect(checkView(view, 'modal')).toEqual([]);
  });

  it('need a submit button where there are inputs', () => {
    const { submit: _submit, ...rest } = modal({ blocks: [section(), input()] });
    expect(checkView(rest, 'modal')).toEqual([
      'must define `submit` to use an `input` block in modals [json-pointer:/view/blocks/1/input]',
    ]);
  });

  it('may show alerts and take files in modals only, and tables in neither', () => {
    const alert = { type: 'alert', text: plain(200), level: 'error' };
    expect(
      checkView(modal({ blocks: [alert, input({ type: 'file_input', max_files: 10 })] }), 'modal'),
    ).toEqual([]);
    expect(checkView({ type: 'home', blocks: [alert] }, 'home').join()).toContain('unsupported type: alert');
    expect(checkView(modal({ blocks: [table(1, 1)] }), 'modal').join()).toContain('unsupported type: table');
  });

  it('have one field that is in focus at first', () => {
    const focused = input({ type: 'plain_text_input', focus_on_load: true });
    expect(checkView(modal({ blocks: [focused] }), 'modal')).toEqual([]);
    expect(checkView(modal({ blocks: [focused, focused] }), 'modal')).toHaveLength(1);
  });

  it('weigh no more than 250 kB', () => {
    const wide = modal({
      blocks: many(90, () => section({ text: { type: 'mrkdwn', text: 'ä'.repeat(1400) } })),
    });
    expect(checkView(wide, 'modal')).toEqual([]);
    expect(isViewTooLarge(wide)).toBe(true);
  });
});
