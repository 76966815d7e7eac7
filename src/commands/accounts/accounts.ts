import { z } from 'zod';
import { accountsMessage } from '../../views/accounts/accounts.ts';
import { defineCommand } from '../command.ts';

export const accounts = defineCommand({
  name: 'accounts',
  summary: 'Lists the connected accounts, their health and who connected them',
  usage: '',
  role: 'member',
  needsAccount: false,
  positionals: [],
  args: z.object({}),
  async run(_, { caller, deckhand }) {
    const list = await deckhand.accounts.list(caller.workspace);
    const defaultName = await deckhand.accounts.defaultName(caller.workspace);
    const word = deckhand.config.SLACK_COMMAND;
    return { kind: 'private', message: accountsMessage(list, defaultName, word) };
  },
});
