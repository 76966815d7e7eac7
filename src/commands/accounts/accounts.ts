import { accountsMessage } from '../../views/accounts/accounts.ts';
import { defineCommand } from '../command.ts';

export const accounts = defineCommand({
  name: 'accounts',
  summary:
    'Lists the connected accounts with their keys: what each is for, whose it is, and whether it works',
  role: 'member',
  async run(_, { workspace }) {
    const keys = await workspace.accounts.keys();
    const defaultName = await workspace.accounts.defaultName();
    return { kind: 'private', message: accountsMessage(keys, defaultName, workspace.word) };
  },
});
