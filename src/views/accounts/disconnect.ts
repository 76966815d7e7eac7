import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';
import { menuBlock } from '../blocks/inputs.ts';
import { LIMITS } from '../blocks/limits.ts';
import { button, buttons, context, say } from '../blocks/message.ts';
import { keyOwner, maskedKey } from './accounts.ts';

/** `id`: its `keyId`. */
type ShownKey = Account & { id: string };

/** Asks which of several keys is meant. */
export function chooseKeyMessage(account: string, keys: readonly ShownKey[]): Message {
  const choices = keys.map(({ id, purpose, email, keyTail }) => ({
    value: id,
    text: `${PURPOSE_NAMES[purpose]} ${maskedKey(keyTail)} of ${email}`,
  }));
  const menu = menuBlock({ actionId: 'disconnect:choose', placeholder: 'Choose a key', choices });
  const left = keys.length - LIMITS.options;
  const more = left > 0 ? [context(`and ${left} more`)] : [];
  return say(`Which key of ${bold(account)} do you want to disconnect?`, menu, ...more);
}

/** A menu shows no mentions, so a person is known by the e-mail address beside it. */
const PURPOSE_NAMES = { shared: 'Shared key', billing: 'Billing key', mine: 'Personal key' } as const;

/** @param isShared the account has a shared key */
export function confirmDisconnectMessage(key: ShownKey, isShared: boolean): Message {
  const then = isShared ? CONSEQUENCES[key.purpose] : '; the account has no shared key to use in its place';
  const said = `Disconnect the ${keyOwner(key)} ${code(maskedKey(key.keyTail))} from ${bold(key.name)}? The sealed key is deleted${then}.`;
  const confirm = button('Disconnect', 'disconnect:confirm', { style: 'danger', value: { id: key.id } });
  return say(said, ...buttons(confirm));
}

const CONSEQUENCES = {
  shared: ', and the account’s schedules stop',
  billing: '; invoices are read with the shared key then',
  mine: '; the shared key is used in its place',
} as const;
