import type { Message } from '../../core/message.ts';
import { bold, code, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';
import { menu } from '../blocks/inputs.ts';
import { LIMITS } from '../blocks/limits.ts';
import { inPages, listBlocks } from '../blocks/lists.ts';
import { button, buttons, context, headed, say } from '../blocks/message.ts';

const HEALTH = {
  ok: ':white_check_mark: works',
  unverified: ':hourglass_flowing_sand: waiting for its e-mail to be verified',
  broken: ':x: the key was revoked or rotated',
} as const;

/** How a key is, in mrkdwn. */
export function healthOf({ state, isUnreadable }: Pick<Account, 'state' | 'isUnreadable'>): string {
  return isUnreadable === true ? ':x: the stored key cannot be read' : HEALTH[state];
}

/** @param keys of all accounts */
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
  const { keyTail, email, connectedBy, connectedAt } = key;
  const by = key.purpose === 'mine' ? 'connected' : `connected by <@${connectedBy}>`;
  return `${healthOf(key)}  ${keyOwner(key)} ${code(maskedKey(keyTail))} of ${mrkdwn(email, 100)}, ${by} ${dateTime(connectedAt)}`;
}

/** E.g. "shared key", in mrkdwn. */
export function keyOwner({ purpose, connectedBy }: Account): string {
  return purpose === 'mine' ? `personal key of <@${connectedBy}>` : `${purpose} key`;
}

/** A key is only ever shown as its last four characters. */
export function maskedKey(tail: string): string {
  return `••••${tail}`;
}

/** `id`: its `keyId`. */
type ShownKey = Account & { id: string };

/** Asks which of several keys is meant. */
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

/** A menu shows no mentions, so a person is known by the e-mail address beside it. */
const PURPOSE_NAMES = { shared: 'Shared key', billing: 'Billing key', mine: 'Personal key' } as const;

/** @param isShared the account has a shared key */
export function confirmDisconnectMessage(key: ShownKey, isShared: boolean): Message {
  const then = isShared ? CONSEQUENCES[key.purpose] : '. The account has no shared key to use in its place';
  const said = `Disconnect the ${keyOwner(key)} ${code(maskedKey(key.keyTail))} from ${bold(key.name)}? The key is deleted${then}.`;
  const confirm = button('Disconnect', 'disconnect:confirm', { style: 'danger', value: { id: key.id } });
  return say(said, ...buttons(confirm));
}

const CONSEQUENCES = {
  shared: ', and the account’s schedules stop',
  billing: ', and invoices are read with the shared key',
  mine: ', and you use the shared key',
} as const;
