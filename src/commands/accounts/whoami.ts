import { forInvoices } from '../../records/accounts.ts';
import { getProfile } from '../../service/profile.ts';
import { linkLine, profileMessage } from '../../views/accounts/identity.ts';
import { defineCommand } from '../command.ts';
import { rolesHeld } from '../permission.ts';
import { accountOf } from '../targets/project.ts';

export const whoami = defineCommand({
  name: 'whoami',
  summary: 'Shows who you are, whose key acts for you, and what you may do here',
  role: 'member',
  needsAccount: true,
  async run(_, context) {
    const { caller, workspace } = context;
    const { oauth } = workspace.service;
    const account = await accountOf(context);
    const forInvoicesToo = await workspace.accounts.get(account.name, forInvoices(caller));
    const [profile, roles, link] = await Promise.all([
      workspace.accounts.use(account, (client) => getProfile(client)),
      rolesHeld(workspace, caller.user),
      oauth && workspace.links.get(caller.user),
    ]);
    return {
      kind: 'private',
      message: profileMessage({
        user: caller.user,
        profile,
        key: account,
        billing: forInvoicesToo?.purpose === 'billing' ? forInvoicesToo : undefined,
        roles,
        link: oauth && linkLine(link, workspace.clock.now(), workspace.word),
      }),
    };
  },
});
