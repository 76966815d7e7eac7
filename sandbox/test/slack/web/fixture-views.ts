const plain = (text: string) => ({ type: 'plain_text', text, emoji: true });
const option = (value: string, text: string, description?: string) => ({
  value,
  text: plain(text),
  ...(description && { description: plain(description) }),
});
const input = (
  id: string,
  label: string,
  element: Record<string, unknown>,
  more: Record<string, unknown> = {},
) => ({
  type: 'input',
  block_id: id,
  label: plain(label),
  element: { action_id: id, ...element },
  ...more,
});

/** A modal with every kind of field. */
export const formView = {
  id: 'V0FORM0001',
  type: 'modal',
  callback_id: 'server.add',
  title: plain('Add a server'),
  submit: plain('Add server'),
  close: plain('Cancel'),
  blocks: [
    {
      type: 'alert',
      block_id: 'note',
      level: 'warning',
      text: plain('The server is billed from its first hour.'),
    },
    input(
      'name',
      'Name',
      { type: 'plain_text_input', max_length: 40 },
      { hint: plain('Letters, digits and dashes') },
    ),
    input(
      'protocol_type',
      'Kind',
      { type: 'static_select', options: [option('vps', 'Managed VPS'), option('static', 'Static hosting')] },
      { dispatch_action: true },
    ),
    input(
      'email',
      'Contact',
      { type: 'email_text_input', placeholder: plain('you@example.com') },
      { optional: true },
    ),
    input('port', 'Port', {
      type: 'number_input',
      is_decimal_allowed: false,
      min_value: '1',
      max_value: '65535',
      initial_value: '22',
    }),
    input('region', 'Regions', {
      type: 'multi_static_select',
      option_groups: [
        { label: plain('Europe'), options: [option('lis', 'Lisbon'), option('osl', 'Oslo')] },
        { label: plain('Asia'), options: [option('osa', 'Osaka')] },
      ],
    }),
    input(
      'flags',
      'Tell the channel',
      {
        type: 'checkboxes',
        options: [
          option('send_on_start', 'When it starts'),
          option('send_on_failure', 'When it fails', 'Only the first of several'),
        ],
      },
      { optional: true },
    ),
    input('plan', 'Plan', {
      type: 'radio_buttons',
      initial_option: option('small', 'Small'),
      options: [option('small', 'Small', '2 GB'), option('large', 'Large', '16 GB')],
    }),
    input('day', 'First day', { type: 'datepicker', initial_date: '2026-03-02' }),
    input('hour', 'At', { type: 'timepicker', initial_time: '09:30', timezone: 'Europe/Lisbon' }),
    input('notes', 'Notes', { type: 'plain_text_input', multiline: true }, { optional: true }),
  ],
};

export const homeView = {
  id: 'V0HOME0001',
  type: 'home',
  blocks: [
    { type: 'header', block_id: 'h', text: plain('Your deployments') },
    {
      type: 'section',
      block_id: 's',
      text: { type: 'mrkdwn', text: ':large_green_circle: *acme* is connected' },
      accessory: {
        type: 'button',
        action_id: 'test',
        text: plain('Run a test'),
        style: 'primary',
        value: 'x',
      },
    },
    { type: 'divider', block_id: 'd' },
    {
      type: 'section',
      block_id: 'tiles',
      fields: [
        { type: 'mrkdwn', text: '*Deployments*\n41 (+12 %)' },
        { type: 'mrkdwn', text: '*Success rate*\n95 % (—)' },
        { type: 'mrkdwn', text: '*Average duration*\n1 min 12 s' },
        { type: 'mrkdwn', text: '*Active servers*\n7' },
      ],
    },
    {
      type: 'actions',
      block_id: 'a',
      elements: [{ type: 'button', action_id: 'pause', text: plain('Pause the digest') }],
    },
  ],
};
