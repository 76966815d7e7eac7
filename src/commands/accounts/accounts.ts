import { z } from 'zod';
import type { Caller, Reply } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import {
  type Account,
  keyId,
  keyTarget,
  noSharedKey,
  SCHEDULES,
  unknownAccount,
} from '../../records/accounts.ts';
import { accountsChanged } from '../../records/schedules.ts';
import {
  accountsMessage,
  chooseKeyMessage,
  confirmDisconnectMessage,
  keyOwner,
} from '../../views/accounts/accounts.ts';
import { say } from '../../views/blocks/message.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type ActionContext, defineButton, defineCommand, replyInPlace, replyPrivately } from '../command.ts';
import { lacking } from '../permission.ts';
import { readAccountName } from '../targets/project.ts';

export const accounts = defineCommand({
  name: 'accounts',
  summary:
    'Lists the connected accounts with their keys: what each is for, whose it is, and whether it works',
  role: 'member',
  async run(_, { workspace }) {
    const keys = await workspace.accounts.keys();
    const defaultName = await workspace.accounts.defaultName();
    return replyPrivately(accountsMessage(keys, defaultName, workspace.word));
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
    return replyPrivately(say(text), { target: account });
  },
});

export const disconnect = defineCommand({
  name: 'disconnect',
  summary: 'Disconnects a key of an account (admins), or your own, and deletes it',
  usage: '<account>',
  // For one's own key; others are for admins.
  role: 'member',
  needsAccount: true,
  takesAccount: false,
  args: z.object({ account: z.string() }),
  async run({ account: typed }, { caller, workspace }) {
    const account = readAccountName(workspace, typed);
    const keys = (await workspace.accounts.keys()).filter(({ name }) => name === account);
    if (keys.length === 0) throw unknownAccount(account);
    const removable = await listRemovable(workspace, caller, keys);
    const [first, ...others] = removable.map((key) => ({ ...key, id: keyId(key) }));
    if (first === undefined) throw await lacking(workspace, 'admin', 'disconnect');
    if (others.length > 0) return replyPrivately(chooseKeyMessage(account, [first, ...others]));
    return replyPrivately(confirmDisconnectMessage(first, hasShared(keys, account)));
  },
  actions: [
    {
      actionId: 'disconnect:choose',
      async run(id, context) {
        const key = await findRemovable(context, id);
        if (key === undefined) return replyGone();
        const isShared = hasShared(await context.workspace.accounts.keys(), key.name);
        return replyInPlace(confirmDisconnectMessage({ ...key, id: keyId(key) }, isShared));
      },
    },
    defineButton(z.object({ id: z.string() }), {
      actionId: 'disconnect:confirm',
      durable: true,
      async run({ id }, context) {
        const { workspace } = context;
        const key = await findRemovable(context, id);
        const wasThere = key !== undefined && (await workspace.accounts.disconnect(id));
        // Also for a repeat, because the process may have been killed between the two.
        await accountsChanged(workspace);
        if (!wasThere) return replyGone();
        const text = `:wastebasket: The ${keyOwner(key)} of ${bold(key.name)} is disconnected and deleted.`;
        return replyInPlace(say(text), { what: 'disconnect', target: keyTarget(key) });
      },
    }),
  ],
});

function hasShared(keys: readonly Account[], account: string): boolean {
  return keys.some(({ name, purpose }) => name === account && purpose === 'shared');
}

function replyGone(): Reply {
  return replyInPlace(say('This key is no longer connected.'));
}

/** Returns undefined if the key was removed already. @throws Refusal for another person's key, or everybody's */
async function findRemovable(
  { caller, workspace }: ActionContext,
  id: string | undefined,
): Promise<Account | undefined> {
  const key = (await workspace.accounts.keys()).find((one) => keyId(one) === id);
  if (key === undefined) return undefined;
  if ((await listRemovable(workspace, caller, [key])).length === 0)
    throw await lacking(workspace, 'admin', 'disconnect');
  return key;
}

async function listRemovable(
  { roles }: Pick<Workspace, 'roles'>,
  { user }: Caller,
  keys: readonly Account[],
): Promise<Account[]> {
  if (await roles.holds(user, 'admin')) return [...keys];
  return keys.filter(({ purpose, connectedBy }) => purpose === 'mine' && connectedBy === user);
}
