import type { LocalSlack } from '../slack/local-slack.ts';

const ada = {
  id: 'U0ADA',
  name: 'ada',
  real_name: 'Ada Winter',
  title: 'Admin',
  is_admin: true,
  is_owner: true,
  tz: 'Europe/Lisbon',
};
const ben = { id: 'U0BEN', name: 'ben', real_name: 'Ben Sommer', title: 'Developer', tz: 'America/New_York' };
const cleo = {
  id: 'U0CLEO',
  name: 'cleo',
  real_name: 'Cleo March',
  title: 'Bookkeeping',
  tz: 'Europe/Berlin',
};

const dora = { id: 'U0DORA', name: 'dora', real_name: 'Dora Lind', title: 'Admin', is_admin: true };
const emil = { id: 'U0EMIL', name: 'emil', real_name: 'Emil Roth', title: 'Developer' };

export const DEMO_TEAMS = ['T0ACME', 'T0HARBOUR'] as const;

/** The Slack of a small company, and that of another, which has nothing to do with it. Deckhand is in neither yet. */
export function addDemoWorkspaces(slack: LocalSlack): void {
  slack.addWorkspace({
    id: 'T0ACME',
    name: 'Acme',
    installed: false,
    users: [ada, ben, cleo],
    channels: [
      {
        id: 'C0DEPLOYS',
        name: 'deploys',
        topic: 'What goes out, and whether it can',
        members: [ada.id, ben.id, cleo.id],
      },
      { id: 'C0BILLING', name: 'billing', topic: 'Invoices', members: [ada.id, cleo.id] },
      { id: 'C0GENERAL', name: 'general', members: [ada.id, ben.id, cleo.id], bot_is_member: false },
    ],
  });
  slack.addWorkspace({
    id: 'T0HARBOUR',
    name: 'Harbour',
    installed: false,
    users: [dora, emil],
    channels: [{ id: 'C0HARBOUR', name: 'deploys', topic: 'Ours, not theirs', members: [dora.id, emil.id] }],
  });
}
