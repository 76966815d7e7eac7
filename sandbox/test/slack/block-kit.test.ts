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

/** Each limit with what stands exactly at it and what is one over, and where Slack points. */
const LIMITS: [string, object, object, string][] = [
  ['section text', section({ text: mrkdwn(3000) }), section({ text: mrkdwn(3001) }), '/blocks/0/text/text'],
  [
    'section fields',
    section({ fields: many(10, () => plain(1)) }),
    section({ fields: many(11, () => plain(1)) }),
    '/blocks/0/fields',
  ],
  [
    'field text',
    section({ fields: [plain(2000)] }),
    section({ fields: [plain(2001)] }),
    '/blocks/0/fields/0/text',
  ],
  [
    'block_id',
    section({ block_id: 'x'.repeat(255) }),
    section({ block_id: 'x'.repeat(256) }),
    '/blocks/0/block_id',
  ],
  [
    'header',
    { type: 'header', text: plain(150) },
    { type: 'header', text: plain(151) },
    '/blocks/0/text/text',
  ],
  [
    'context',
    { type: 'context', elements: many(10, () => plain(1)) },
    { type: 'context', elements: many(11, () => plain(1)) },
    '/blocks/0/elements',
  ],
  [
    'actions',
    actions(...many(25, () => button())),
    actions(...many(26, () => button())),
    '/blocks/0/elements',
  ],
  [
    'button text',
    actions(button({ text: plain(75) })),
    actions(button({ text: plain(76) })),
    '/blocks/0/elements/0/text/text',
  ],
  [
    'button value',
    actions(button({ value: 'x'.repeat(2000) })),
    actions(button({ value: 'x'.repeat(2001) })),
    '/blocks/0/elements/0/value',
  ],
  [
    'button url',
    actions(button({ url: `https://a.example/${'x'.repeat(2982)}` })),
    actions(button({ url: `https://a.example/${'x'.repeat(2983)}` })),
    '/blocks/0/elements/0/url',
  ],
  [
    'action_id',
    actions(button({ action_id: 'x'.repeat(255) })),
    actions(button({ action_id: 'x'.repeat(256) })),
    '/blocks/0/elements/0/action_id',
  ],
  [
    'confirm title',
    actions(button({ confirm: confirm(100, 300, 30, 30) })),
    actions(button({ confirm: confirm(101, 300, 30, 30) })),
    '/blocks/0/elements/0/confirm/title/text',
  ],
  [
    'confirm text',
    actions(button({ confirm: confirm(100, 300, 30, 30) })),
    actions(button({ confirm: confirm(100, 301, 30, 30) })),
    '/blocks/0/elements/0/confirm/text/text',
  ],
  [
    'confirm button',
    actions(button({ confirm: confirm(100, 300, 30, 30) })),
    actions(button({ confirm: confirm(100, 300, 31, 30) })),
    '/blocks/0/elements/0/confirm/confirm/text',
  ],
  [
    'confirm deny',
    actions(button({ confirm: confirm(100, 300, 30, 30) })),
    actions(button({ confirm: confirm(100, 300, 30, 31) })),
    '/blocks/0/elements/0/confirm/deny/text',
  ],
  [
    'select options',
    actions(select({ options: options(100) })),
    actions(select({ options: options(101) })),
    '/blocks/0/elements/0/options',
  ],
  [
    'option text',
    actions(select({ options: [option('v', { text: plain(75) })] })),
    actions(select({ options: [option('v', { text: plain(76) })] })),
    '/blocks/0/elements/0/options/0/text/text',
  ],
  [
    'option value',
    actions(select({ options: [option('x'.repeat(150))] })),
    actions(select({ options: [option('x'.repeat(151))] })),
    '/blocks/0/elements/0/options/0/value',
  ],
  [
    'option description',
    actions(select({ options: [option('v', { description: plain(75) })] })),
    actions(select({ options: [option('v', { description: plain(76) })] })),
    '/blocks/0/elements/0/options/0/description/text',
  ],
  [
    'placeholder',
    actions(select({ placeholder: plain(150) })),
    actions(select({ placeholder: plain(151) })),
    '/blocks/0/elements/0/placeholder/text',
  ],
  [
    'overflow',
    actions({ type: 'overflow', options: options(5) }),
    actions({ type: 'overflow', options: options(6) }),
    '/blocks/0/elements/0/options',
  ],
  [
    'checkboxes',
    actions({ type: 'checkboxes', options: options(10) }),
    actions({ type: 'checkboxes', options: options(11) }),
    '/blocks/0/elements/0/options',
  ],
  [
    'radio buttons',
    actions({ type: 'radio_buttons', options: options(10) }),
    actions({ type: 'radio_buttons', options: options(11) }),
    '/blocks/0/elements/0/options',
  ],
  [
    'input label',
    input(undefined, { label: plain(2000) }),
    input(undefined, { label: plain(2001) }),
    '/blocks/0/label/text',
  ],
  [
    'input hint',
    input(undefined, { hint: plain(2000) }),
    input(undefined, { hint: plain(2001) }),
    '/blocks/0/hint/text',
  ],
  [
    'input text',
    textInput({ initial_value: 'x'.repeat(3000) }),
    textInput({ initial_value: 'x'.repeat(3001) }),
    '/blocks/0/element/initial_value',
  ],
  [
    'input max_length',
    textInput({ max_length: 3000 }),
    textInput({ max_length: 3001 }),
    '/blocks/0/element/max_length',
  ],
  [
    'image alt_text',
    image({ alt_text: 'x'.repeat(2000) }),
    image({ alt_text: 'x'.repeat(2001) }),
    '/blocks/0/alt_text',
  ],
  [
    'image url',
    image({ image_url: `https://a.example/${'x'.repeat(2982)}` }),
    image({ image_url: `https://a.example/${'x'.repeat(2983)}` }),
    '/blocks/0/image_url',
  ],
  ['table rows', table(100, 1), table(101, 1), '/blocks/0/rows'],
  ['table columns', table(1, 20), table(1, 21), '/blocks/0/rows/0'],
  [
    'markdown',
    { type: 'markdown', text: 'x'.repeat(12_000) },
    { type: 'markdown', text: 'x'.repeat(12_001) },
    '/blocks/0/text',
  ],
];

describe('limits of a message', () => {
  it.each(LIMITS)('takes %s at the limit and refuses one more, with its place', (_what, at, over, place) => {
    expect(checkMessageBlocks([at])).toEqual([]);
    expect(checkMessageBlocks([over]).join()).toContain(`[json-pointer:${place}]`);
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
    expect(
      checkMessageBlocks([{ type: 'header', text: { type: 'plain_text', text: '🚀'.repeat(150) } }]),
    ).toEqual([]);
    expect(
      checkMessageBlocks([{ type: 'header', text: { type: 'plain_text', text: '🚀'.repeat(151) } }]),
    ).toEqual(['must be less than 151 characters [json-pointer:/blocks/0/text/text]']);
  });
});

const BAD: [string, unknown, string][] = [
  ['an unknown block', { type: 'carousel3d' }, 'unsupported type: carousel3d [json-pointer:/blocks/0/type]'],
  ['a block without type', { text: plain(1) }, 'missing required field: type [json-pointer:/blocks/0]'],
  [
    'an unknown field',
    section({ colour: 'red' }),
    'invalid additional property: colour [json-pointer:/blocks/0]',
  ],
  ['a missing field', { type: 'header' }, 'missing required field: text [json-pointer:/blocks/0]'],
  [
    'a bare string for a text',
    { type: 'header', text: 'Hello' },
    'must provide an object [json-pointer:/blocks/0/text]',
  ],
  [
    'an empty text',
    section({ text: mrkdwn(0) }),
    'must be more than 0 characters [json-pointer:/blocks/0/text/text]',
  ],
  [
    'mrkdwn where only plain text goes',
    { type: 'header', text: mrkdwn(1) },
    'must be a valid enum value [json-pointer:/blocks/0/text/type]',
  ],
  [
    'a section without text',
    { type: 'section' },
    'must provide one of `text` and `fields` [json-pointer:/blocks/0]',
  ],
  [
    'an unknown element',
    actions({ type: 'slider' }),
    'unsupported type: slider [json-pointer:/blocks/0/elements/0/type]',
  ],
  [
    'a button in an input block',
    input(button()),
    'unsupported type: button [json-pointer:/blocks/0/element/type]',
  ],
  [
    'a text input in an actions block',
    actions({ type: 'plain_text_input' }),
    'unsupported type: plain_text_input',
  ],
  ['no elements', actions(), 'must provide at least 1 items [json-pointer:/blocks/0/elements]'],
  ['no options', actions(select({ options: [] })), 'must provide at least 1 items'],
  [
    'options and groups at once',
    actions(select({ option_groups: [{ label: plain(1), options: options(1) }] })),
    'one of `options` and `option_groups`',
  ],
  ['a value twice', actions(select({ options: [option('a'), option('a')] })), 'option values must be unique'],
  [
    'an initial option that is none',
    actions(select({ initial_option: option('zzz') })),
    'initial option must match',
  ],
  [
    'two picture sources',
    image({ slack_file: { id: 'F1' } }),
    'must provide one of `image_url` and `slack_file`',
  ],
  [
    'a picture without a source',
    { type: 'image', alt_text: 'x' },
    'must provide one of `image_url` and `slack_file`',
  ],
  ['a link that is none', actions(button({ url: 'nowhere' })), 'must be a valid URL'],
  ['ragged rows', { type: 'table', rows: [[cell], [cell, cell]] }, 'rows must have as many cells each'],
  ['a bad date', section({ accessory: { type: 'datepicker', initial_date: '31.12.2026' } }), 'YYYY-MM-DD'],
  ['a bad time', section({ accessory: { type: 'timepicker', initial_time: '9:00' } }), 'HH:mm'],
  ['an alert in a message', { type: 'alert', text: plain(1) }, 'unsupported type: alert'],
  [
    'a file block, which only Slack makes',
    { type: 'file', external_id: 'a', source: 'remote' },
    'unsupported type: file',
  ],
  ['a file input in a message', input({ type: 'file_input' }), 'unsupported type: file_input'],
  ['an empty rich text', richText({ type: 'text', text: '' }), 'must be more than 0 characters'],
  ['rich text of an unknown kind', richText({ type: 'blink', text: 'x' }), 'unsupported type: blink'],
  [
    'a number input with its ends swapped',
    input({ type: 'number_input', is_decimal_allowed: false, min_value: '5', max_value: '1' }),
    '`min_value` must not be more',
  ],
];

describe('what Slack refuses in a message', () => {
  it.each(BAD)('is %s', (_what, block, message) => {
    expect(checkMessageBlocks([block]).join()).toContain(message);
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
    const faults = checkMessageBlocks([
      { type: 'header', text: plain(151) },
      { type: 'nonsense' },
      section({ x: 1 }),
    ]);
    expect(faults).toHaveLength(3);
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
    [
      'option groups',
      actions({ type: 'static_select', option_groups: [{ label: plain(75), options: options(100) }] }),
    ],
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
            elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'a' }] }],
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
