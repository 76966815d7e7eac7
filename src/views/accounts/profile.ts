import type { Message } from '../../core/message.ts';
import { bold, code, mrkdwn } from '../../core/mrkdwn.ts';
import type { Profile } from '../../service/profile.ts';
import { context, section } from '../blocks/message.ts';
import { maskedKey } from './accounts.ts';

export interface ProfileView {
  profile: Profile;
  /** The account's name in its address. */
  account: string;
  keyTail: string;
  /** The reader's roles in Deckhand. */
  roles: readonly string[];
  /** The reader's link to their own user at the service, as a line of mrkdwn. */
  link: string | undefined;
}

export function profileMessage(view: ProfileView): Message {
  const { profile, account, keyTail, roles, link } = view;
  const name = [profile.first_name, profile.last_name].filter(Boolean).join(' ');
  const beta = profile.account.beta_features ? 'on' : 'off';
  const lines = [
    `${bold(name === '' ? profile.email_address : name)}  ${mrkdwn(profile.email_address, 200)}`,
    `Account ${bold(profile.account.name)} (${code(account)})`,
    `Managed resources beta: ${beta}`,
    ...(profile.account.suspended ? [':warning: The account is suspended.'] : []),
    ...(profile.account.trialling ? ['The account is in its trial period.'] : []),
  ];
  const role = roles.length === 0 ? 'member' : roles.join(', ');
  return {
    text: `Deckhand uses the account ${code(account)} with the key of ${mrkdwn(profile.email_address, 200)}`,
    blocks: [
      section(lines.join('\n')),
      context(
        `Key ${code(maskedKey(keyTail))}`,
        `Your role in Deckhand: ${role}`,
        ...(link === undefined ? [] : [link]),
      ),
    ],
  };
}
