/** A small company to look at, in the words of the page's own interface. */
export const people = {
  admin: 'U0ADMIN001',
  member: 'U0MEMBER01',
  billing: 'U0BILLING1',
  bot: 'U0DECKHAND',
} as const;
export const channels = { deploys: 'C0DEPLOYS1', billing: 'C0BILLING1', dm: 'D0DECKHAND' } as const;
export const appId = 'A0DECKHAND';

const usage =
  'help | test [project] [server] | connect [account] | activity [today|last_7_days] | invoices [number]';

export const workspace = {
  teams: [
    {
      id: 'T0ACME0001',
      name: 'Acme Boats',
      domain: 'acme-boats',
      users: [
        {
          id: people.admin,
          name: 'mira',
          real_name: 'Mira Lindqvist',
          title: 'Workspace admin',
          is_admin: true,
        },
        { id: people.member, name: 'tomas', real_name: 'Tomas Okafor', title: 'Member' },
        { id: people.billing, name: 'yuki', real_name: 'Yuki Brandt', title: 'Billing' },
        { id: people.bot, name: 'deckhand', real_name: 'Deckhand', is_bot: true },
      ],
      channels: [
        {
          id: channels.deploys,
          name: 'deploys',
          kind: 'public',
          topic: 'What goes out, and whether it arrived',
          members: [people.admin, people.member, people.bot],
        },
        {
          id: channels.billing,
          name: 'billing',
          kind: 'private',
          topic: 'Invoices',
          members: [people.admin, people.billing, people.bot],
        },
        {
          id: channels.dm,
          name: 'deckhand',
          kind: 'im',
          user: people.admin,
          members: [people.admin, people.bot],
        },
      ],
      apps: [
        {
          id: appId,
          name: 'Deckhand',
          bot_user: people.bot,
          has_home: true,
          shortcuts: [
            { type: 'global', name: 'Run test access', callback_id: 'run_test' },
            { type: 'message', name: 'Test project in message', callback_id: 'test_message' },
          ],
        },
      ],
      commands: [
        { command: '/deckhand', description: 'Deployments from chat', usage_hint: usage, app_id: appId },
      ],
    },
    {
      id: 'T0NORTH001',
      name: 'North Harbour',
      domain: 'north-harbour',
      users: [{ id: 'U0NORTH001', name: 'ines', real_name: 'Ines Duarte', title: 'Workspace admin' }],
      channels: [{ id: 'C0NORTH001', name: 'general', kind: 'public', members: ['U0NORTH001'] }],
      apps: [],
      commands: [],
    },
  ],
  controls: [
    {
      id: 'slack_429',
      label: 'Slack answers 429',
      kind: 'switch',
      on: false,
      hint: 'Every Web API call, with Retry-After',
    },
    { id: 'service_503', label: 'Service answers 503', kind: 'switch', on: true },
    { id: 'restart', label: 'Restart Deckhand', kind: 'button', hint: 'kill -9, then start again' },
  ],
};
