import { z } from 'zod';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Purpose } from '../../records/account-keys.ts';
import type { Account } from '../../records/accounts.ts';
import { type Choice, emailInput, selectInput, textInput } from '../blocks/inputs.ts';
import { button, buttons, context, say } from '../blocks/message.ts';
import { modal } from '../blocks/modal.ts';
import { maskedKey } from './accounts.ts';

export const CONNECT = 'connect';

/** Where the modal was opened. */
export const ConnectOrigin = z.object({
  channel: z.string().optional(),
  account: z.string().optional(),
});
export type ConnectOrigin = z.infer<typeof ConnectOrigin>;

/** What the person may choose; nothing where the account is not connected yet, for then its key is shared. */
export interface PurposeChoice {
  purposes: readonly Purpose[];
  initial: Purpose;
  /** The shared key that a new one would replace. */
  shared?: Account | undefined;
}

/**
 * Slack has no masked input, so the form says what happens to the key.
 * @param email the person's own at the service, where their link says so
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
    emailInput('email', 'E-mail address', { hint: 'The one you log in with.', initial: email }),
    textInput('api_key', 'API key', { hint: 'From the account’s security or API settings.', maxLength: 300 }),
    context(
      ':lock: Slack cannot hide what you type here. Deckhand encrypts the key, shows only its last four characters, and uses it for this workspace only.',
    ),
  ]);
}

function purposeBlocks(choice: PurposeChoice | undefined): KnownBlock[] {
  if (choice === undefined) return [];
  const { purposes, initial, shared } = choice;
  const choices = purposes.map((purpose) => choiceOf(purpose, shared));
  return [selectInput('purpose', 'What is this key for?', { choices, initial }, 'radio_buttons')];
}

function choiceOf(value: Purpose, shared: PurposeChoice['shared']): Choice {
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

/** The typed command runs once an account is connected, by its author or by an admin. */
export function connectFirstMessage(word: string, typed: string, isAdmin: boolean): Message {
  const command = code(`${word} ${typed}`, 120);
  if (!isAdmin)
    return say(
      `No account is connected in this workspace yet. Ask an admin to run ${code(`${word} connect`)}, and ${command} runs by itself.`,
    );
  return say(
    `No account is connected in this workspace yet. Connect one, and ${command} runs by itself.`,
    ...buttons(button('Connect an account', 'connect:open', { style: 'primary', value: {} })),
  );
}
