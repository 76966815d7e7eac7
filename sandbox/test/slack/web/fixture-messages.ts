import { appId, channels, people } from './fixture-workspace.ts';

export interface Fixture {
  ts: string;
  [field: string]: unknown;
}

/** 2026-03-02 09:30:00 UTC and on, a minute apart. */
function at(minute: number): string {
  return `${1_772_443_800 + minute * 60}.000100`;
}

function fromBot(minute: number, fields: Record<string, unknown>): Fixture {
  return { ts: at(minute), user: people.bot, bot_id: 'B0DECKHAND', app_id: appId, text: '', ...fields };
}

const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const plain = (text: string) => ({ type: 'plain_text', text, emoji: true });
const option = (value: string, text: string, description?: string) => ({
  value,
  text: plain(text),
  ...(description && { description: plain(description) }),
});
const section = (...elements: unknown[]) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});

export const rootTs = at(2);

const confirm = {
  title: plain('Disconnect acme?'),
  text: mrkdwn('Schedules of *acme* pause, and its key is deleted.'),
  confirm: plain('Disconnect'),
  deny: plain('Keep it'),
  style: 'danger',
};

export const testRun = fromBot(2, {
  text: 'Test access of Storefront: 6 of 7 reachable',
  edited: { user: people.bot, ts: at(3) },
  blocks: [
    { type: 'header', block_id: 'h', text: plain('Test access: Storefront') },
    {
      type: 'section',
      block_id: 's',
      text: mrkdwn(':warning: *6 of 7 reachable* in `acme` · asked by <@U0ADMIN001>'),
      accessory: {
        type: 'overflow',
        action_id: 'more',
        options: [
          option('mute', 'Mute this run'),
          option('docs', 'Explain the result', 'What each check does'),
        ],
      },
    },
    {
      type: 'section',
      block_id: 'f',
      fields: [
        mrkdwn('*Repository*\n:white_check_mark: reachable'),
        mrkdwn('*Took*\n38 s'),
        mrkdwn('*Started*\n<!date^1772443920^{date_short_pretty} at {time}|then>'),
        mrkdwn('*Branch*\n`main`'),
      ],
    },
    {
      type: 'table',
      block_id: 't',
      column_settings: [{ align: 'left' }, { align: 'left', is_wrapped: true }, { align: 'right' }],
      rows: [
        [
          { type: 'raw_text', text: 'Server' },
          { type: 'raw_text', text: 'Result' },
          { type: 'raw_text', text: 'Took' },
        ],
        [
          { type: 'raw_text', text: 'web-1' },
          section({ type: 'emoji', name: 'white_check_mark' }, { type: 'text', text: ' reachable' }),
          { type: 'raw_text', text: '1.2 s' },
        ],
        [
          section({ type: 'text', text: 'web-2', style: { bold: true } }),
          section(
            { type: 'emoji', name: 'x' },
            {
              type: 'text',
              text: ' Connection refused on port 22: the firewall may not let our addresses in',
            },
          ),
          { type: 'raw_text', text: '10.0 s' },
        ],
      ],
    },
    { type: 'divider', block_id: 'd' },
    {
      type: 'actions',
      block_id: 'a',
      elements: [
        { type: 'button', action_id: 'again', text: plain('Run again'), style: 'primary', value: 'run-7' },
        { type: 'button', action_id: 'retry', text: plain('Test web-2 again'), value: 'web-2' },
        {
          type: 'button',
          action_id: 'open',
          text: plain('Open project'),
          url: 'https://acme.example.com/projects/storefront',
        },
        { type: 'button', action_id: 'disconnect', text: plain('Disconnect'), style: 'danger', confirm },
      ],
    },
    {
      type: 'context',
      block_id: 'c',
      elements: [
        mrkdwn(':anchor: Deckhand'),
        mrkdwn('Followed until *done*'),
        { type: 'image', image_url: './emoji/1f6a2.svg', alt_text: 'a ship' },
      ],
    },
  ],
});

export const replies = [
  fromBot(3, { thread_ts: rootTs, text: ':hourglass_flowing_sand: The run has started.' }),
  fromBot(4, { thread_ts: rootTs, text: ':white_check_mark: *Repository* is reachable.' }),
  fromBot(5, { thread_ts: rootTs, text: ':x: *web-2*: Connection refused on port 22' }),
  { ts: at(6), user: people.member, thread_ts: rootTs, text: 'On it — the firewall again.' },
];

export const elements = fromBot(10, {
  text: 'Every element',
  blocks: [
    {
      type: 'section',
      block_id: 'pick',
      text: mrkdwn('*Which project?* Several are in this account.'),
      accessory: {
        type: 'static_select',
        action_id: 'project',
        placeholder: plain('Choose a project'),
        options: [
          option('storefront', 'Storefront'),
          option('docs', 'Docs site'),
          option('api', 'API :rocket:', 'three servers'),
        ],
      },
    },
    {
      type: 'actions',
      block_id: 'selects',
      elements: [
        {
          type: 'external_select',
          action_id: 'server',
          placeholder: plain('Find a server'),
          min_query_length: 1,
        },
        { type: 'users_select', action_id: 'who', placeholder: plain('Choose a person') },
        { type: 'channels_select', action_id: 'where', placeholder: plain('Choose a channel') },
        { type: 'datepicker', action_id: 'day', initial_date: '2026-03-02' },
        { type: 'timepicker', action_id: 'hour', initial_time: '09:00' },
      ],
    },
    {
      type: 'section',
      block_id: 'flags',
      text: mrkdwn('Tell the channel'),
      accessory: {
        type: 'checkboxes',
        action_id: 'when',
        initial_options: [option('failure', 'on failure')],
        options: [option('start', 'on start'), option('failure', 'on failure')],
      },
    },
    {
      type: 'section',
      block_id: 'cadence',
      text: mrkdwn('How often'),
      accessory: {
        type: 'radio_buttons',
        action_id: 'every',
        initial_option: option('day', 'every day'),
        options: [option('day', 'every day'), option('week', 'every week')],
      },
    },
  ],
});

const prose = fromBot(12, {
  text: 'Rich text',
  blocks: [
    {
      type: 'rich_text',
      block_id: 'r',
      elements: [
        {
          type: 'rich_text_section',
          elements: [
            { type: 'text', text: 'Deployments this week ', style: { bold: true } },
            { type: 'emoji', name: 'chart_with_upwards_trend' },
            { type: 'text', text: ' by ' },
            { type: 'user', user_id: people.member },
            { type: 'text', text: ' in ' },
            { type: 'channel', channel_id: channels.deploys },
            { type: 'text', text: ', see ' },
            { type: 'link', url: 'https://acme.example.com/', text: 'the project' },
          ],
        },
        {
          type: 'rich_text_list',
          style: 'bullet',
          elements: [
            { type: 'rich_text_section', elements: [{ type: 'text', text: '41 deployments' }] },
            {
              type: 'rich_text_section',
              elements: [{ type: 'text', text: '2 failed', style: { strike: true } }],
            },
          ],
        },
        {
          type: 'rich_text_list',
          style: 'ordered',
          indent: 1,
          elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'first' }] }],
        },
        {
          type: 'rich_text_quote',
          elements: [{ type: 'text', text: 'It works on my machine.', style: { italic: true } }],
        },
        {
          type: 'rich_text_preformatted',
          elements: [{ type: 'text', text: 'ssh: connect to host web-2 port 22:\n  Connection refused' }],
        },
        {
          type: 'rich_text_section',
          elements: [{ type: 'date', timestamp: 1_772_443_800, format: '{date_num}', fallback: 'a day' }],
        },
      ],
    },
    {
      type: 'markdown',
      block_id: 'm',
      text: '## Release notes\n\n- [x] **Anchor** raised\n- [ ] sails set\n\n| Ship | Crew |\n| --- | --- |\n| Petrel | 4 |\n\nSee [the log](https://acme.example.com/log) and `deck.yml`.',
    },
  ],
});

export const pictures = fromBot(14, {
  text: 'Deployments per day',
  blocks: [
    {
      type: 'image',
      block_id: 'i',
      title: plain('Deployments per day'),
      slack_file: { id: 'F0CHART001' },
      alt_text: 'Bars: 5, 8, 3, 9 and 6 deployments',
    },
  ],
  files: [
    {
      id: 'F0INVOICE1',
      name: 'invoice-2026-031.pdf',
      title: 'Invoice 2026-031',
      mimetype: 'application/pdf',
      size: 48_213,
    },
  ],
});

const unfurl: Fixture = {
  ts: at(16),
  user: people.member,
  text: 'How is <https://acme.example.com/projects/storefront> doing? &lt;asking for a friend&gt; *bold* _italic_ ~gone~ `code` :tada:\n&gt; quoted\n```\nfenced *text*\n```',
  attachments: [
    {
      color: '#2fa37c',
      blocks: [
        {
          type: 'section',
          block_id: 'u',
          text: mrkdwn('*Storefront* · last deployed <!date^1772440000^{ago}|before>'),
        },
      ],
    },
  ],
};

export const onlyYou = fromBot(18, {
  ephemeral: true,
  text: 'Connected accounts',
  blocks: [
    {
      type: 'section',
      block_id: 'e',
      text: mrkdwn('*acme* · key ends in `4f2a` · connected by <@U0ADMIN001>'),
    },
    {
      type: 'actions',
      block_id: 'ea',
      elements: [{ type: 'button', action_id: 'share', text: plain('Share'), value: 'x' }],
    },
  ],
});

/** For what is beside the messages: a browser works on each of them, whatever changes on the page. */
export const fewMessages: Fixture[] = [
  { ts: at(0), user: people.admin, text: 'Morning! Storefront goes out at ten.' },
  onlyYou,
];

export const deployMessages: Fixture[] = [
  { ts: at(0), user: people.admin, text: 'Morning! Storefront goes out at ten.' },
  { ts: at(1), user: people.admin, text: 'Testing access first.' },
  testRun,
  ...replies,
  elements,
  prose,
  pictures,
  unfurl,
  onlyYou,
];

const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

/** Foreign text in every place where a page could take it for markup or an address to follow. */
export const hostileMessages: Fixture[] = [
  fromBot(1, {
    username: hostile,
    text: hostile,
    blocks: [
      { type: 'header', text: plain(hostile) },
      {
        type: 'section',
        text: mrkdwn(`${hostile} <javascript:window.hacked=1|press me> <https://ok.example.com/|${hostile}>`),
      },
      {
        type: 'section',
        text: plain(hostile),
        accessory: {
          type: 'button',
          action_id: 'b',
          text: plain(hostile),
          url: 'javascript:window.hacked=1',
        },
      },
      {
        type: 'context',
        elements: [
          plain(hostile),
          { type: 'image', image_url: 'https://elsewhere.example.com/x.png', alt_text: hostile },
        ],
      },
      {
        type: 'markdown',
        text: `${hostile}\n\n[press](javascript:window.hacked=1) ![pic](https://elsewhere.example.com/y.png)`,
      },
      section(
        { type: 'text', text: hostile },
        { type: 'link', url: 'data:text/html,<script>window.hacked=1</script>', text: 'data link' },
      ),
      { type: 'table', rows: [[{ type: 'raw_text', text: hostile }]] },
      { type: 'from_the_future', text: hostile },
      { type: 'actions', elements: [{ type: 'from_the_future' }] },
    ],
    attachments: [
      {
        title: hostile,
        title_link: 'javascript:window.hacked=1',
        text: hostile,
        color: 'red;background:url(//x)',
      },
    ],
    files: [{ id: '../../x', name: hostile, mimetype: 'text/html' }],
  }),
];
