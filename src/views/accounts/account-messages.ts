import { z } from 'zod';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { bold, code, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import type { Account, Purpose } from '../../records/accounts.ts';
import { type CommandButton, commandButton } from '../blocks/failures.ts';
import { type Choice, emailInput, menu, selectInput, textInput } from '../blocks/inputs.ts';
import { inPages, listBlocks } from '../blocks/lists.ts';
import { button, buttons, context, headed, LIMITS, say } from '../blocks/make-blocks.ts';
import { modal } from '../blocks/modal.ts';

const HEALTH = {
  ok: ':white_check_mark: works',
  unverified: ':hourglass_flowing_sand: waiting for its e-mail to be verified',
  broken: ':x: the key was revoked or rotated',
} as const;

export function describeHealth({ state, isUnreadable }: Pick<Account, 'state' | 'isUnreadable'>): string {
  return isUnreadable === true ? ':x: the stored key cannot be read' : HEALTH[state];
}

export function accountsMessage(
  keys: readonly Account[],
  defaultName: string | undefined,
  word: string,
): Message {
  if (keys.length === 0) return say(`No account is connected. An admin can run ${code(`${word} connect`)}.`);
  const names = [...new Set(keys.map(({ name }) => name))];
  const lines = names.flatMap((name) => {
    const isDefault = name === defaultName ? '  _default_' : '';
    const own = ORDER.flatMap((purpose) =>
      keys.filter((key) => key.name === name && key.purpose === purpose),
    );
    return [`${bold(name)}${isDefault}`, ...own.map(keyLine)];
  });
  return headed(
    'Connected accounts',
    ...listBlocks(lines),
    context(
      `Add ${code('--account <name>')} to a command to use an account other than the default. ${code(`${word} connect <account>`)} connects a key of your own.`,
    ),
  );
}

const ORDER = ['shared', 'billing', 'mine'] as const;

function keyLine(key: Account): string {
  const { keyTail, email, createdBy, createdAt } = key;
  const connection = key.purpose === 'mine' ? 'connected' : `connected by <@${createdBy}>`;
  return `${describeHealth(key)}  ${keyOwner(key)} ${code(maskedKey(keyTail))} of ${mrkdwn(email, 100)}, ${connection} ${dateTime(createdAt)}`;
}

export function keyOwner({ purpose, createdBy }: Account): string {
  return purpose === 'mine' ? `personal key of <@${createdBy}>` : `${purpose} key`;
}

/** Deckhand shows only the last four characters of a key. */
export function maskedKey(tail: string): string {
  return `••••${tail}`;
}

/** `id`: its `makeKeyId`. */
type ShownKey = Account & { id: string };

export function chooseKeyMessage(account: string, keys: readonly ShownKey[]): Message {
  const choices = keys.map(({ id, purpose, email, keyTail }) => ({
    value: id,
    text: `${PURPOSE_NAMES[purpose]} ${maskedKey(keyTail)} of ${email}`,
  }));
  const menus = inPages(choices, { most: LIMITS.options }).flatMap((page, at) =>
    menu({
      actionId: at === 0 ? 'disconnect:choose' : `disconnect:choose#${at}`,
      placeholder: 'Choose a key',
      choices: page,
    }),
  );
  return say(`Which key of ${bold(account)} do you want to disconnect?`, ...menus);
}

/** Menus show no mentions, so the e-mail address names the person. */
const PURPOSE_NAMES = { shared: 'Shared key', billing: 'Billing key', mine: 'Personal key' } as const;

/** @param isShared true if the account has a shared key */
export function confirmDisconnectMessage(key: ShownKey, isShared: boolean): Message {
  const then = isShared ? describeConsequence(key) : '. The account has no shared key to use in its place';
  const question = `Disconnect the ${keyOwner(key)} ${code(maskedKey(key.keyTail))} from ${bold(key.name)}? The key is deleted${then}.`;
  const confirm = button('Disconnect', 'disconnect:confirm', { style: 'danger', value: { id: key.id } });
  return say(question, ...buttons(confirm));
}

/** An admin may disconnect the key of somebody else. */
function describeConsequence({ purpose, createdBy }: Account): string {
  const consequences = {
    shared: ', and the account’s schedules pause',
    billing: ', and invoices are read with the shared key',
    mine: `, and <@${createdBy}> uses the shared key`,
  };
  return consequences[purpose];
}

export const CONNECT = 'connect';

/** The channel or message in which a person opened the modal. */
export const ConnectOrigin = z.object({
  channel: z.string().optional(),
  account: z.string().optional(),
});
export interface ConnectOrigin extends z.infer<typeof ConnectOrigin> {}

/** The choice of purpose. A new account has none, because its first key is always shared. */
export interface PurposeChoice {
  purposes: readonly Purpose[];
  initial: Purpose;
  /** The shared key that a new one would replace. */
  shared?: Account | undefined;
}

/**
 * Slack has no masked input, so the form says what happens to the key.
 * @param email the person's address at the service, if their link gives it
 */
export function connectModal(
  { account, channel }: ConnectOrigin,
  choice: PurposeChoice | undefined,
  email?: string,
): ModalView {
  return modal(CONNECT, 'Connect an account', { submit: 'Connect', metadata: { channel } }, [
    textInput('account', 'Account', {
      hint: 'The first part of the account’s address. The whole address works too.',
      placeholder: 'acme',
      maxLength: 300,
      initial: account,
    }),
    ...purposeBlocks(choice),
    emailInput({ hint: 'The one you log in with.', initial: email }),
    textInput('api_key', 'API key', { hint: 'From the account’s security or API settings.', maxLength: 300 }),
    context(
      ':lock: Slack cannot hide what you type here. Deckhand encrypts the key, shows only its last four characters, and uses it for this workspace only.',
    ),
  ]);
}

function purposeBlocks(choice: PurposeChoice | undefined): KnownBlock[] {
  if (choice === undefined) return [];
  const { purposes, initial, shared } = choice;
  const choices = purposes.map((purpose) => nameChoice(purpose, shared));
  return [selectInput('purpose', 'What is this key for?', { choices, initial }, 'radio_buttons')];
}

function nameChoice(value: Purpose, shared: PurposeChoice['shared']): Choice {
  switch (value) {
    case 'shared': {
      const replaced = shared && `Replaces the key ${maskedKey(shared.keyTail)} of ${shared.email}`;
      const description = replaced ?? 'For commands without a key of their own';
      return { value, text: 'Everybody’s commands, and schedules', description };
    }
    case 'billing':
      return { value, text: 'Invoices', description: 'For the billing role, and for invoice notices' };
    case 'mine':
      return { value, text: 'My own commands', description: 'Nobody else’s, and no schedules' };
  }
}

/** The typed command runs by itself once an account is connected. A button repeats it too. */
export function connectFirstMessage(
  word: string,
  typed: Omit<CommandButton, 'label'>,
  isAdmin: boolean,
): Message {
  const next = isAdmin ? 'Connect one' : `Ask an admin to run ${code(`${word} connect`)}`;
  const command = code(`${word} ${typed.text}`, 120);
  return say(
    `No account is connected in this workspace yet. ${next}, and ${command} runs by itself.`,
    ...buttons(
      isAdmin && button('Connect an account', 'connect:open', { style: 'primary', value: {} }),
      commandButton({ ...typed, label: 'Try again' }, 1),
    ),
  );
}
