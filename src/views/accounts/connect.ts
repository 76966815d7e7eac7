import { defined } from '../../core/defined.ts';
import type { Message, ModalView } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { buttons, context, say } from '../blocks/message.ts';
import { emailInput, modal, textInput } from '../blocks/modal.ts';

export const CONNECT = 'connect';

/** Where the modal was opened, and what runs after it. */
export interface ConnectOrigin {
  channel?: string | undefined;
  account?: string | undefined;
  /** The command that was typed before an account was connected. */
  replay?: string | undefined;
}

/** A longer command does not fit into a form's metadata, and is not run again. */
const LONGEST_REPLAY = 1_000;

/** Slack has no masked input, so the form says what happens to the key. */
export function connectModal({ account, channel, replay = '' }: ConnectOrigin): ModalView {
  const isKept = replay !== '' && JSON.stringify(replay).length <= LONGEST_REPLAY;
  return modal({
    callbackId: CONNECT,
    title: 'Connect an account',
    submit: 'Connect',
    metadata: { channel, ...(isKept ? { replay } : {}) },
    blocks: [
      textInput({
        field: 'account',
        label: 'Account',
        hint: 'The first part of the account’s address. The whole address works too.',
        placeholder: 'acme',
        maxLength: 300,
        ...defined({ initial: account }),
      }),
      emailInput({ field: 'email', label: 'E-mail address', hint: 'The one you log in with.' }),
      textInput({
        field: 'api_key',
        label: 'API key',
        hint: 'From the account’s security or API settings.',
        maxLength: 300,
      }),
      context(
        ':lock: Slack cannot hide what you type here. Deckhand encrypts the key, shows only its last four characters, and uses it for this workspace only.',
      ),
    ],
  });
}

/** The typed command runs once an account is connected; its author and the admin may be one person. */
export function connectFirstMessage(word: string, typed: string): Message {
  return say(
    `No account is connected in this workspace yet. Once an admin connects one, ${code(`${word} ${typed}`, 120)} runs by itself.`,
    ...buttons({ label: 'Connect an account', actionId: 'connect:open', style: 'primary', value: {} }),
  );
}
