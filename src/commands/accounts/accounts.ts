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
import { type ActionContext, defineCommand, fromButton } from '../command.ts';
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

const ButtonValue = z.object({ id: z.string() });

export const disconnect = defineCommand({
  name: 'disconnect',
  summary: 'Disconnects a key of an account (admins), or your own, and deletes it',
  usage: '<account>',
  // One's own key; all others are for admins.
  role: 'member',
  needsAccount: true,
  takesAccount: false,
  args: z.object({ account: z.string() }),
  async run({ account: typed }, { caller, workspace }) {
    const account = readAccountName(workspace, typed);
    const keys = (await workspace.accounts.keys()).filter(({ name }) => name === account);
    if (keys.length === 0) throw unknownAccount(account);
    const theirs = await removableBy(workspace, caller, keys);
    const [first, ...others] = theirs.map((key) => ({ ...key, id: keyId(key) }));
    if (first === undefined) throw await lacking(workspace, 'admin', 'disconnect');
    if (others.length > 0) return { kind: 'private', message: chooseKeyMessage(account, [first, ...others]) };
    return { kind: 'private', message: confirmDisconnectMessage(first, hasShared(keys, account)) };
  },
  actions: [
    {
      actionId: 'disconnect:choose',
      async run(id, context) {
        const key = await keyToRemove(context, id);
        if (key === undefined) return gone();
        const isShared = hasShared(await context.workspace.accounts.keys(), key.name);
        return { kind: 'replace', message: confirmDisconnectMessage({ ...key, id: keyId(key) }, isShared) };
      },
    },
    {
      actionId: 'disconnect:confirm',
      durable: true,
      async run(value, context) {
        const { workspace } = context;
        const { id } = fromButton(ButtonValue, value);
        const key = await keyToRemove(context, id);
        const wasThere = key !== undefined && (await workspace.accounts.disconnect(id));
        // In any case, because the process may have been killed between the two.
        await accountsChanged(workspace);
        if (!wasThere) return gone();
        const text = `:wastebasket: The ${keyOwner(key)} of ${bold(key.name)} is disconnected and deleted.`;
        return { kind: 'replace', message: say(text), audit: { what: 'disconnect', target: keyTarget(key) } };
      },
    },
  ],
});

function hasShared(keys: readonly Account[], account: string): boolean {
  return keys.some(({ name, purpose }) => name === account && purpose === 'shared');
}

function gone(): Reply {
  return { kind: 'replace', message: say('This key is no longer connected.') };
}

/** Undefined where it was removed already. @throws Refusal for another person's, or everybody's */
async function keyToRemove(
  { caller, workspace }: ActionContext,
  id: string | undefined,
): Promise<Account | undefined> {
  const key = (await workspace.accounts.keys()).find((one) => keyId(one) === id);
  if (key === undefined) return undefined;
  if ((await removableBy(workspace, caller, [key])).length === 0)
    throw await lacking(workspace, 'admin', 'disconnect');
  return key;
}

async function removableBy(
  { roles }: Pick<Workspace, 'roles'>,
  { user }: Caller,
  keys: readonly Account[],
): Promise<Account[]> {
  if (await roles.holds(user, 'admin')) return [...keys];
  return keys.filter(({ purpose, connectedBy }) => purpose === 'mine' && connectedBy === user);
}
