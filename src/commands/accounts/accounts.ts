import { z } from 'zod';
import { bold, code } from '../../core/mrkdwn.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import { noSharedKey, unknownAccount } from '../../records/accounts.ts';
import { accountsMessage } from '../../views/accounts/accounts.ts';
import { say } from '../../views/blocks/message.ts';
import { defineCommand } from '../command.ts';
import { readAccountName } from '../targets/account.ts';

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

export const accountsDefault = defineCommand({
  name: 'accounts default',
  summary: 'Sets the account that is meant where neither the words nor the channel name one',
  usage: '<account>',
  examples: ['accounts default acme'],
  role: 'admin',
  needsAccount: true,
  takesAccount: false,
  durable: true,
  args: z.object({ account: z.string() }),
  async run({ account: typed }, { workspace }) {
    const account = readAccountName(workspace, typed);
    const { accounts, home, word } = workspace;
    const keys = (await accounts.keys()).filter(({ name }) => name === account);
    if (keys.length === 0) throw unknownAccount(account);
    if ((await accounts.get(account, SCHEDULES)) === undefined) throw noSharedKey(account);
    await accounts.setDefault(account);
    await home.refresh();
    const text = `:star: ${bold(account)} is the default account of this workspace. ${code(`${word} accounts`)} lists them all.`;
    return { kind: 'private', message: say(text), audit: { target: account } };
  },
});
