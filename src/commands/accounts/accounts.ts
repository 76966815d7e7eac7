import { accountsMessage } from '../../views/accounts/accounts.ts';
import { defineCommand } from '../command.ts';

export const accounts = defineCommand({
  name: 'accounts',
  summary: 'Lists the connected accounts, their health and who connected them',
  role: 'member',
  async run(_, { workspace }) {
    const list = await workspace.accounts.list();
    const defaultName = await workspace.accounts.defaultName();
    const word = workspace.config.SLACK_COMMAND;
    return { kind: 'private', message: accountsMessage(list, defaultName, word) };
  },
});
