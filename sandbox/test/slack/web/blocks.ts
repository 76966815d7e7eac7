/** Blocks of every kind that the page draws, as an app sends them. */

export const plain = (text: string) => ({ type: 'plain_text', text }) as const;
const section = (text: string, more: object = {}) => ({
  type: 'section',
  text: { type: 'mrkdwn', text },
  ...more,
});
const option = (value: string, text: string) => ({ value, text: plain(text) });
const button = (action_id: string, text: string, more: object = {}) => ({
  type: 'button',
  action_id,
  text: plain(text),
  ...more,
});

const confirm = {
  title: plain('Disconnect acme?'),
  text: plain('Its schedules stop.'),
  confirm: plain('Disconnect'),
  deny: plain('Keep it'),
};

export const RUN = (text: string) => [
  { type: 'header', text: plain('Test access: Storefront') },
  section(text),
  {
    type: 'actions',
    elements: [
      button('again', 'Test again', { value: 'run-1', style: 'primary' }),
      button('disconnect', 'Disconnect', { style: 'danger', confirm }),
    ],
  },
];

const select = (type: string, action_id: string, placeholder: string, more: object = {}) => ({
  type,
  action_id,
  placeholder: plain(placeholder),
  ...more,
});
const times = [option('start', 'on start'), option('failure', 'on failure')];

export const CHOICES = [
  {
    type: 'actions',
    elements: [
      select('static_select', 'project', 'Choose a project', {
        options: [option('docs', 'Docs site'), option('api', 'API')],
      }),
      select('external_select', 'server', 'Find a server', { min_query_length: 1 }),
      select('users_select', 'who', 'Choose a person'),
      select('channels_select', 'where', 'Choose a channel'),
      { type: 'overflow', action_id: 'more', options: [option('mute', 'Mute this run')] },
    ],
  },
  section('Tell the channel', {
    accessory: { type: 'checkboxes', action_id: 'when', initial_options: times.slice(1), options: times },
  }),
];

/** The app's answer to what is typed into a list of its own. */
export const OPTIONS = { options: [option('s1', 'web-1')] };

const input = (id: string, label: string, element: object, more: object = { optional: true }) => ({
  type: 'input',
  block_id: id,
  label: plain(label),
  element: { action_id: id, ...element },
  ...more,
});
const kinds = [option('vps', 'Managed VPS'), option('static', 'Static hosting')];
const plans = [option('small', 'Small'), option('large', 'Large')];

/** A form with every kind of field. */
export const FORM = {
  type: 'modal',
  callback_id: 'server.add',
  title: plain('Add a server'),
  submit: plain('Add server'),
  close: plain('Cancel'),
  blocks: [
    input('name', 'Name', { type: 'plain_text_input' }, { hint: plain('Letters, digits and dashes') }),
    input('kind', 'Kind', { type: 'static_select', options: kinds }, { dispatch_action: true }),
    input('port', 'Port', { type: 'number_input', is_decimal_allowed: false, initial_value: '22' }),
    input('region', 'Regions', {
      type: 'multi_static_select',
      option_groups: [
        { label: plain('Europe'), options: [option('lis', 'Lisbon'), option('osl', 'Oslo')] },
        { label: plain('Asia'), options: [option('osa', 'Osaka')] },
      ],
    }),
    input('flags', 'Tell', { type: 'checkboxes', options: [option('failure', 'When it fails')] }),
    input('plan', 'Plan', { type: 'radio_buttons', initial_option: plans[0], options: plans }),
    input('day', 'First day', { type: 'datepicker', initial_date: '2026-03-02' }),
    input('hour', 'At', { type: 'timepicker', initial_time: '09:30' }),
    input('notes', 'Notes', { type: 'plain_text_input', multiline: true }),
  ],
};

const categories = ['Mon', 'Tue', 'Wed'];
const series = (name: string, values: number[]) => ({
  name,
  data: values.map((value, at) => ({ label: categories[at], value })),
});

export const CHART = (type: string) => ({
  type: 'data_visualization',
  title: `Deployments, ${type}`,
  chart: {
    type,
    series: [series('Succeeded', [12, 18, 9]), series('Change', [3, -9, 5])],
    axis_config: { categories, x_label: 'Day', y_label: 'Runs' },
  },
});

const raw = (text: string) => ({ type: 'raw_text', text });

/** More rows than fit on a page of the table. */
export const DATA_TABLE = {
  type: 'data_table',
  caption: 'Invoices of this year',
  page_size: 5,
  row_header_column_index: 1,
  rows: [
    [raw('Date'), raw('Invoice')],
    ...Array.from({ length: 12 }, (_, at) => [raw(`${at + 1} May`), raw(`INV-${at + 1}`)]),
  ],
};

export const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const escaped = hostile.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Foreign text wherever a page could take it for markup or an address to follow. */
export const HOSTILE = [
  { type: 'header', text: plain(hostile) },
  section(`${escaped} <javascript:window.hacked=1|press me> <https://ok.example.com/|${escaped}>`),
  { type: 'context', elements: [plain(hostile)] },
  { type: 'markdown', text: `${hostile}\n\n[press](javascript:window.hacked=1)` },
  { type: 'table', rows: [[raw(hostile)]] },
];
