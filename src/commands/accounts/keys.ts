import { z } from 'zod';
import { ServiceError, UserError } from '../../core/errors.ts';
import type { Invocation, Message, Reply } from '../../core/message.ts';
import { bold, code, count, unmarked } from '../../core/mrkdwn.ts';
import {
  type Account,
  createNoSharedKey,
  createUnknownAccount,
  makeInvoiceUse,
  makeKeyId,
  nameKeyInAudit,
  PURPOSES,
  type Purpose,
  SCHEDULES,
} from '../../records/accounts.ts';
import { forgetPolls, startAgain } from '../../scheduler/schedules/start-schedule.ts';
import { endPushesOfAccount } from '../../scheduler/watches/switch-push.ts';
import { parseAccountName } from '../../service/addresses.ts';
import { getProfile, type Profile } from '../../service/profile.ts';
import { listProjects } from '../../service/projects.ts';
import {
  accountsMessage,
  CONNECT,
  ConnectOrigin,
  chooseKeyMessage,
  confirmDisconnectMessage,
  connectModal,
  keyOwner,
  maskedKey,
  type PurposeChoice,
} from '../../views/accounts/account-messages.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { refill, withBanner } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type ActionContext, defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { lacking, type Refusal } from '../permission.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { closeWith, FormFault, readFields, type Submitted, type ViewState } from '../submission.ts';
import { readAccountName, resolveAccount } from '../targets/targets.ts';
import { parseForm } from '../values.ts';

export const accounts = defineCommand({
  name: 'accounts',
  phrase: 'for accounts of the service',
  synonyms: ['account', 'keys'],
  phrases: {
    'key|api|token|tokens|credentials|clients|customers key|keys|token? *': '',
    'who is connected|linked *': '',
    'are we|you connected|linked *': '',
    'connected|connection|connections': '',
    'which|what accounts|account *': '',
    'change|rotate|replace|renew|update the|our? key|keys|token': '',
    'switch|change|choose|default account|accounts *': '',
  },
  summary:
    'Lists the connected accounts with their keys: what each is for, whose it is, and whether it works',
  role: 'member',
  async handle(_, { workspace }) {
    const keys = await workspace.accounts.keys();
    const defaultName = await workspace.accounts.defaultName();
    return replyPrivately(accountsMessage(keys, defaultName, workspace.word));
  },
});

export const accountsDefault = defineCommand({
  name: 'accounts default',
  phrase: 'for accounts of the service',
  shownAs: 'accounts',
  summary: 'Sets the account to use if neither the words nor the channel name one',
  usage: '<account>',
  examples: ['accounts default acme'],
  role: 'admin',
  needsAccount: true,
  takesAccount: false,
  durable: true,
  args: z.object({ account: z.string().optional() }),
  async handle({ account: accountText }, { workspace }) {
    if (accountText === undefined) throw await askAccount(workspace);
    const account = readAccountName(workspace, accountText);
    const { accounts, home, word } = workspace;
    const keys = (await accounts.keys()).filter(({ name }) => name === account);
    if (keys.length === 0) throw createUnknownAccount(account);
    if ((await accounts.get(account, SCHEDULES)) === undefined) throw createNoSharedKey(account);
    await accounts.setDefault(account);
    await home.refresh();
    const text = `:star: ${bold(account)} is the default account of this workspace. ${code(`${word} accounts`)} lists them all.`;
    return replyPrivately(say(text), { target: account });
  },
});

/** Asks with a menu, which completes the command. */
async function askAccount({ accounts }: Workspace): Promise<UserError> {
  const names = new Set((await accounts.keys()).map(({ name }) => name));
  const choices = [...names].map((name) => ({ value: name, text: name }));
  return new UserError('Which account?', undefined, { choices });
}

/** "disconnect me" names no account. */
const OWN: ReadonlySet<string> = new Set([
  'account',
  'it',
  'key',
  'me',
  'mine',
  'my',
  'myself',
  'this',
  'us',
]);

export const disconnect = defineCommand({
  name: 'disconnect',
  phrase: 'for accounts of the service',
  synonyms: ['logout', 'log out', 'sign out', 'signout'],
  phrases: {
    'remove|delete|revoke key|account|connection *': '$1',
    'disconnect|logout account|from +': '$1',
  },
  summary: 'Disconnects a key of an account (admins), or your own, and deletes it',
  usage: '<account>',
  // Everybody may remove their own key; other keys are for admins.
  role: 'member',
  needsAccount: true,
  takesAccount: false,
  args: z.object({ account: z.string().optional() }),
  async handle({ account: accountText }, { invocation, workspace }) {
    if (accountText === undefined) throw await askAccount(workspace);
    const account = readAccountName(workspace, accountText);
    const keys = (await workspace.accounts.keys()).filter(({ name }) => name === account);
    if (keys.length === 0)
      throw OWN.has(account) ? await askAccount(workspace) : createUnknownAccount(account);
    const removable = await listRemovable(workspace, invocation, keys);
    const [first, ...others] = removable.map((key) => ({ ...key, id: makeKeyId(key) }));
    if (first === undefined) throw await lackKey(workspace);
    if (others.length > 0) return replyPrivately(chooseKeyMessage(account, [first, ...others]));
    return replyPrivately(confirmDisconnectMessage(first, hasShared(keys, account)));
  },
  actions: [
    {
      actionId: 'disconnect:choose',
      async handle(id, context) {
        const key = await findRemovable(context, id);
        if (key === undefined) return replyGone(context.workspace.word);
        const isShared = hasShared(await context.workspace.accounts.keys(), key.name);
        return replyInPlace(confirmDisconnectMessage({ ...key, id: makeKeyId(key) }, isShared));
      },
    },
    defineButton(z.object({ id: z.string() }), {
      actionId: 'disconnect:confirm',
      durable: true,
      async handle({ id }, context) {
        const { workspace } = context;
        const key = await findRemovable(context, id);
        const wasThere = key !== undefined && (await disconnectKey(workspace, key));
        if (key !== undefined && key.purpose !== 'mine') await forgetPolls(workspace, key.name);
        if (key?.purpose === 'shared') await workspace.ledger.forget(key.name);
        // Also for a repeat, because a kill may have come between the two steps.
        await workspace.accountsChanged();
        if (!wasThere) return replyGone(workspace.word);
        const text = `:wastebasket: The ${keyOwner(key)} of ${bold(key.name)} is disconnected and deleted.`;
        return replyInPlace(say(text), { what: 'disconnect', target: nameKeyInAudit(key) });
      },
    }),
  ],
});

function disconnectKey(workspace: Workspace, key: Account): Promise<boolean> {
  const disconnectIt = (): Promise<boolean> => workspace.accounts.disconnect(makeKeyId(key));
  return key.purpose === 'shared' ? endPushesOfAccount(workspace, key.name, disconnectIt) : disconnectIt();
}

function hasShared(keys: readonly Account[], account: string): boolean {
  return keys.some(({ name, purpose }) => name === account && purpose === 'shared');
}

function replyGone(word: string): Reply {
  return replyInPlace(
    say(`This key is no longer connected. ${code(`${word} accounts`)} lists those that are.`),
  );
}

/** Returns undefined if the key was removed already. @throws Refusal for another person's key, or everybody's */
async function findRemovable(
  { invocation, workspace }: ActionContext,
  id: string | undefined,
): Promise<Account | undefined> {
  const key = (await workspace.accounts.keys()).find((one) => makeKeyId(one) === id);
  if (key === undefined) return undefined;
  if ((await listRemovable(workspace, invocation, [key])).length === 0) throw await lackKey(workspace);
  return key;
}

function lackKey(workspace: Workspace): Promise<Refusal> {
  return lacking(workspace, 'admin', 'disconnect', 'disconnect a key that is not their own');
}

async function listRemovable(
  { roles }: Pick<Workspace, 'roles'>,
  { user }: Invocation,
  keys: readonly Account[],
): Promise<Account[]> {
  if (await roles.holds(user, 'admin')) return [...keys];
  return keys.filter(({ purpose, createdBy }) => purpose === 'mine' && createdBy === user);
}

const API_KEY_LENGTH = 40;

const Fields = z.object({
  account: z.string({ error: 'Give the account’s name.' }),
  purpose: z.enum(PURPOSES, { error: 'Choose what the key is for.' }).optional(),
  email: z.string({ error: 'Give your login e-mail address.' }).trim(),
  api_key: z
    .string({ error: 'Give the API key.' })
    .trim()
    .regex(/^[\x21-\x7e]+$/, 'An API key has no spaces or special characters in it.'),
});

export const connect = defineCommand({
  name: 'connect',
  phrase: 'for accounts of the service',
  synonyms: ['login', 'log in', 'sign in', 'signin', 'reconnect'],
  phrases: {
    'add|connect|link another|new|second|other account *': '',
    'add|connect|link account|key to? *': '$1',
    'connect|add|enter|set|update|change|rotate|replace my|api|a|the|new key|token|credentials *': '',
  },
  summary: 'Connects an account (admins), or a key of your own to one that is connected',
  usage: '[account]',
  examples: ['connect', 'connect acme'],
  // Everybody may connect their own key; other keys are for admins.
  role: 'member',
  args: z.object({ account: z.string().optional() }),
  handle: ({ account }, context) => openKeyForm(context, { account }),
  actions: [
    defineButton(ConnectOrigin, {
      actionId: 'connect:open',
      handle: (origin, context) => openKeyForm(context, origin),
    }),
  ],
  shortcuts: [
    {
      callbackId: 'connect_account',
      kind: 'global',
      name: 'Connect account',
      description: 'Connects an account of your deployment service',
      handle: (context) => openKeyForm(context, {}),
    },
  ],
  submissions: [{ callbackId: CONNECT, secrets: ['api_key'], submit: submitConnect }],
});

async function openKeyForm(context: CommandContext, origin: ConnectOrigin): Promise<Reply> {
  const { invocation, workspace } = context;
  const account = parseAccountName(origin.account ?? '', workspace.config.SERVICE_BASE_URL);
  const choice = await findPurposes(context, account);
  const email = (await workspace.links.get(invocation.user))?.email;
  return { kind: 'modal', view: connectModal({ ...origin, channel: invocation.channel }, choice, email) };
}

/**
 * Purposes to choose from; undefined if the form does not ask.
 * @param account undefined if it is not named yet
 * @throws Refusal if the person may not connect it at all
 */
async function findPurposes(
  { invocation, workspace }: CommandContext,
  account: string | undefined,
): Promise<PurposeChoice | undefined> {
  const { accounts, roles } = workspace;
  const shared = account === undefined ? undefined : await accounts.get(account);
  const isAdmin = await roles.holds(invocation.user, 'admin');
  if (isAdmin && shared === undefined) return undefined;
  if (isAdmin) return { purposes: PURPOSES, initial: shared?.state === 'ok' ? 'mine' : 'shared', shared };
  const isConnected = account === undefined ? (await accounts.list()).length > 0 : shared !== undefined;
  if (!isConnected) throw await lacking(workspace, 'admin', 'connect');
  return { purposes: ['mine'], initial: 'mine' };
}

async function submitConnect(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { invocation, workspace } = context;
  const origin = parseForm(ConnectOrigin, state.metadata);
  const { email, api_key: apiKey, ...fields } = readFields(Fields, state);
  const account = parseAccountName(fields.account, workspace.config.SERVICE_BASE_URL);
  if (account === undefined)
    throw new FormFault({ account: 'An account name has letters, digits and hyphens only.' });
  const choice = await findPurposes(context, account);
  const purpose = fields.purpose ?? choosePurpose(choice);
  if (purpose !== undefined && choice?.purposes.includes(purpose) === false)
    throw await lacking(workspace, 'admin', 'connect');
  const results = await tryKey(context, { account, email, apiKey });
  if (purpose === undefined) return askPurpose(state, { ...origin, account }, choice);
  const newKey = { name: account, email, apiKey, purpose, createdBy: invocation.user, state: 'ok' } as const;
  const key = await workspace.accounts.connect(newKey);
  await startAgain(workspace, account);
  const usual = await resolveAccount(
    context,
    key.purpose === 'billing' ? makeInvoiceUse(invocation) : invocation,
  );
  return closeWith(connectedMessage(workspace.word, key, results, usual.name), {
    target: nameKeyInAudit(key),
  });
}

/** The purpose if the form did not ask; undefined if it has to, because another key works. */
function choosePurpose(choice: PurposeChoice | undefined): Purpose | undefined {
  if (choice === undefined || choice.initial === 'shared') return 'shared';
  return choice.purposes.length === 1 ? choice.initial : undefined;
}

/** The account is connected already, so the same form asks for a purpose. A key is never put back into a form. */
function askPurpose(state: ViewState, origin: ConnectOrigin, choice: PurposeChoice | undefined): Submitted {
  const view = refill(connectModal(origin, choice), state.values, ['api_key']);
  const text = `${code(origin.account)} is connected already. The key works: choose what it is for, and give it again.`;
  return { kind: 'view', view: withBanner(view, text) };
}

interface KeyResults {
  profile: Profile;
  projects: number;
}

/** Makes both basic calls, so that Deckhand stores only a key that works. @throws FormFault */
async function tryKey(
  { workspace, explain }: CommandContext,
  credentials: { account: string; email: string; apiKey: string },
): Promise<KeyResults> {
  try {
    const client = workspace.service.account(credentials);
    const [projects, profile] = await Promise.all([listProjects(client), getProfile(client)]);
    return { profile, projects: projects.length };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const text = failureWords(explain(error, { newAccount: credentials.account }));
    throw createKeyFault(error, text, credentials.apiKey);
  }
}

/** Slack shows no markup under a field, and shows escapes as typed. */
function createKeyFault(error: ServiceError, text: string, apiKey: string): FormFault {
  switch (error.kind) {
    case 'unauthorized':
      // The specification gives keys 40 characters, so a rejected key of another length was cut off.
      if (apiKey.length === API_KEY_LENGTH) return new FormFault({ api_key: unmarked(text) });
      return new FormFault({
        api_key: `API keys have ${API_KEY_LENGTH} characters, and this has ${apiKey.length}. Copy it again.`,
      });
    case 'account_not_found':
    case 'api_access_restricted':
    case 'forbidden':
      return new FormFault({ account: unmarked(text) });
    default:
      return new FormFault({}, text);
  }
}

/** @param usual the account of the channel's commands that name none */
function connectedMessage(
  word: string,
  key: Account,
  { profile, projects }: KeyResults,
  usual: string,
): Message {
  const { name, keyTail, purpose } = key;
  const next = `${word} ${purpose === 'billing' ? 'invoices' : 'test'}${usual === name ? '' : ` --account ${name}`}`;
  return say(
    `:white_check_mark: Connected ${bold(profile.account.name || name)} (${code(name)}) with ${CONNECTED[purpose]} ${code(maskedKey(keyTail))}: ${count(projects, 'project')}. Next: ${code(next)}.`,
  );
}

const CONNECTED: Readonly<Record<Purpose, string>> = {
  shared: 'the key',
  billing: 'the billing key',
  mine: 'your own key',
};
