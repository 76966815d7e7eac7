import type { Message, ModalView } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { buttons, context, say } from '../blocks/message.ts';
import { emailInput, modal, textInput } from '../blocks/modal.ts';

export const CONNECT = 'connect';

/** Where the modal came from, and what runs once it is done. */
export interface ConnectOrigin {
  channel?: string | undefined;
  account?: string | undefined;
  /** The command that was typed before an account was connected. */
  replay?: string | undefined;
}

/** A command that is longer than a form's metadata holds is not run again. */
const LONGEST_REPLAY = 1_000;

/** Slack has no masked input, so the form says what becomes of the key. */
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
        hint: 'The first part of the account’s address; the whole address will do.',
        placeholder: 'acme',
        maxLength: 300,
        ...(account === undefined ? {} : { initial: account }),
      }),
      emailInput({ field: 'email', label: 'E-mail address', hint: 'The one that you log in with.' }),
      textInput({
        field: 'api_key',
        label: 'API key',
        hint: 'From the account’s security or API settings.',
        maxLength: 300,
      }),
      context(
        ':lock: Slack cannot hide what you type here. The key is sealed at once, never shown again but for its last four characters, and used for this workspace only.',
      ),
    ],
  });
}

/** What was typed runs once an account is connected; the admin who connects may be the one who typed it. */
export function connectFirstMessage(word: string, typed: string): Message {
  return say(
    `No account is connected in this workspace yet. An admin can connect one; then ${code(`${word} ${typed}`, 120)} runs by itself.`,
    ...buttons({ label: 'Connect an account', actionId: 'connect:open', style: 'primary', value: {} }),
  );
}
