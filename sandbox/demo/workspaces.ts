import type { LocalSlack, NewWorkspace } from '../slack/server.ts';

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

/** The Slack of a small company. */
export function addDemoWorkspace(slack: LocalSlack): NewWorkspace {
  return slack.addWorkspace({
    id: 'T0ACME',
    name: 'Acme',
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
}
