import type { Message } from '../../core/message.ts';
import { bold, code, mrkdwn } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';
import type { Profile } from '../../service/profile.ts';
import { button, buttons, context, section } from '../blocks/message.ts';
import { maskedKey } from './accounts.ts';

export interface ProfileView {
  /** Slack's id of the reader. */
  user: string;
  profile: Profile;
  /** The key that acts for the reader. */
  key: Account;
  /** The one that acts for invoices, where that is another. */
  billing: Account | undefined;
  /** The slash word. */
  word: string;
  /** The reader's roles in Deckhand. */
  roles: readonly string[];
  /** The reader's link to their own user at the service, as a line of mrkdwn. */
  link: string | undefined;
}

export function profileMessage(view: ProfileView): Message {
  const { profile, key, billing, roles, link } = view;
  const account = key.name;
  const name = [profile.first_name, profile.last_name].filter(Boolean).join(' ');
  const beta = profile.account.beta_features ? 'on' : 'off';
  const role = roles.length === 0 ? 'member' : roles.join(', ');
  const email = profile.email_address || key.email;
  const who = `${bold(name || email)}  ${mrkdwn(email, 200)}`;
  const lines = [
    `You are <@${view.user}>, ${role} in Deckhand.${link === undefined ? '' : ` ${link}`}`,
    actingWords(view, who),
    `Account ${bold(profile.account.name || account)} (${code(account)})`,
    `Managed resources beta: ${beta}`,
    profile.account.suspended && ':warning: The account is suspended.',
    profile.account.trialling && 'The account is in its trial period.',
  ];
  return {
    text: `You are <@${view.user}>. Deckhand uses the account ${code(account)} with the key of ${mrkdwn(email, 200)}`,
    blocks: [
      section(lines.filter(Boolean).join('\n')),
      ...buttons(key.purpose !== 'mine' && button('Use my own', 'connect:open', { value: { account } })),
      context(
        `Key ${code(maskedKey(key.keyTail))}`,
        billing &&
          `For invoices the billing key ${code(maskedKey(billing.keyTail))} of <@${billing.connectedBy}>`,
      ),
    ],
  };
}

/** Whose key acts for the reader, in one line. */
function actingWords({ key: { purpose } }: ProfileView, who: string): string {
  return purpose === 'mine'
    ? `:key: You use your own key, ${who}`
    : `:key: You use the ${purpose} key, ${who}`;
}
