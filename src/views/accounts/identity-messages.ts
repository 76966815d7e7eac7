import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count, dateOnly, dateTime, mrkdwn, truncateMarkup } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';
import type { Claim } from '../../records/service-people.ts';
import type { Link } from '../../records/user-links.ts';
import type { Profile } from '../../service/profile.ts';
import { menu } from '../blocks/inputs.ts';
import { button, buttons, context, LIMITS, notes, say, section } from '../blocks/make-blocks.ts';

export interface ProfileView {
  /** Slack's id of the reader. */
  user: string;
  profile: Profile;
  /** The key that the reader's commands use. */
  key: Account;
  /** The key for invoices, if it is another one. */
  billing: Account | undefined;
  roles: readonly string[];
  /** Line of mrkdwn about the reader's link to their own user at the service. */
  link: string | undefined;
}

export function profileMessage(view: ProfileView): Message {
  const { profile, key, billing, roles, link } = view;
  const account = key.name;
  const name = [profile.first_name, profile.last_name].filter(Boolean).join(' ');
  const role = roles.length === 0 ? 'member' : roles.join(', ');
  const email = profile.email_address || key.email;
  const owner = `${bold(name || email)}  ${mrkdwn(email, 200)}`;
  const who = `You are <@${view.user}>, ${role} in Deckhand.${link === undefined ? '' : ` ${link}`}`;
  const lines = [
    who,
    `:key: You use ${key.purpose === 'mine' ? 'your own' : `the ${key.purpose}`} key, ${owner}`,
    `Account ${bold(profile.account.name || account)} (${code(account)})`,
    profile.account.suspended && ':warning: The account is suspended. Ask its owner why.',
    profile.account.trialling && 'The account is in its trial period.',
  ];
  return {
    text: who,
    blocks: [
      section(lines.filter(Boolean).join('\n')),
      ...buttons(key.purpose !== 'mine' && button('Use my own', 'connect:open', { value: { account } })),
      ...notes(billing && `For invoices: the billing key of <@${billing.createdBy}>`),
    ],
  };
}

/** Shown only to the person who asked. `url` is Deckhand's own address, which redirects to the service. */
export function linkMessage(url: string, link: Link | undefined, word: string): Message {
  const current = link === undefined ? '' : `${linkLine(link, word)} You can link again.\n`;
  return say(
    `${current}:link: Open the service in your browser to link your user there. Your password stays with the service.`,
    ...buttons(button('Link my user', 'link:open', { style: 'primary', url })),
    context('Only you see this. The button works once, for ten minutes, in the browser that opens it.'),
  );
}

export function linkLine(link: Link | undefined, word: string): string {
  if (link === undefined) return `Your own user is not linked. ${code(`${word} link`)} links it.`;
  const who = describePerson(link);
  if (who === '') return `Linked ${dateTime(link.linkedAt)}.`;
  return `You are ${who} at the service, linked ${dateTime(link.linkedAt)}.`;
}

/** Empty if the service told nothing. */
function describePerson({ name, email }: Link): string {
  const address = email === undefined ? '' : mrkdwn(email, 200);
  if (name === undefined) return address;
  return address === '' ? bold(name, 100) : `${bold(name, 100)} (${address})`;
}

export function linkedMessage(word: string, link: Link): Message {
  const { linkedAt } = link;
  const person = describePerson(link);
  const who = person === '' ? 'Linked' : `Linked. You are ${person}`;
  return say(
    `:link: ${who}. Commands still use the key that is connected. If that was not you, undo it now.`,
    ...buttons(
      button('Use my own key', 'connect:open', { value: {} }),
      button('Undo', 'link:undo', { style: 'danger', value: { linkedAt } }),
    ),
    context(`${code(`${word} unlink`)} removes the link.`),
  );
}

/** Only the service's own page can revoke the permission. API 5.3 (docs/service-api.md). */
export function unlinkedMessage(): Message {
  return say(
    ':white_check_mark: Your link is removed. To take back the permission too, remove Deckhand from your authorised applications at the service.',
  );
}

export function linkGoneMessage(word: string): Message {
  return say(`That link was removed or replaced already. ${code(`${word} whoami`)} shows your link now.`);
}

export function notLinkedMessage(word: string): Message {
  return say(`You are not linked. ${code(`${word} link`)} links you.`);
}

/** The reader, the account, the slash word, and the names in the account's events. */
interface ClaimReader {
  account: string;
  user: string;
  word: string;
  names: readonly string[];
  /** Asks for the name in place of the usual sentence; mrkdwn. */
  question?: string;
}

/** The reader's claimed name and a menu of names. An admin also sees all claims. */
export function claimsMessage(
  claims: readonly Claim[],
  { account, user, word, names, question }: ClaimReader,
  isAdmin: boolean,
): Message {
  const own = claims.find((claim) => claim.user === user);
  const free = names.filter((name) => !claims.some((claim) => claim.name === name));
  const [text, note] =
    own === undefined
      ? [
          question ?? `Choose your name in ${code(account)} to be mentioned.`,
          `${code(`${word} me <name>`)} takes a name that is not listed.`,
        ]
      : [
          mentionWords(account, own),
          `${code(`${word} me none`)} ends that.${own.isForAll === true ? '' : ` ${code(`${word} me --all`)} mentions you for everything.`}`,
        ];
  return say(text, ...nameMenu(account, free), context(note), ...(isAdmin ? claimRows(account, claims) : []));
}

export function mentionWords(
  account: string,
  { name, isForAll = false }: Pick<Claim, 'name' | 'isForAll'>,
): string {
  const who = bold(name, 100);
  const when = isForAll ? `${who} does something in` : `a deployment by ${who} fails in`;
  return `You are mentioned when ${when} ${code(account)}.`;
}

/** Tells a person that their watch follows the name that the service gives them now. */
export function renamedMessage(account: string, before: string, name: string): Message {
  return say(
    `:label: The service calls you ${bold(name, 100)} in ${code(account)} now, so your watch follows that name instead of ${bold(before, 100)}.`,
  );
}

/** Asks a person whether a new name in the events is theirs. */
export function mayBeRenamedMessage(account: string, before: string, name: string): Message {
  return say(
    `:label: ${bold(name, 100)} has deployed in ${code(account)}. Your watch follows ${bold(before, 100)}, and hears nothing of that. If the service has renamed you, take the new name.`,
    ...buttons(button('That’s me', 'me:claim', { value: { account, name } })),
  );
}

/** Asks for a confirmation before a person claims a name that no event holds. */
export function unknownNameMessage(
  claim: { account: string; name: string; isForAll: boolean },
  names: readonly string[],
): Message {
  const { account, name } = claim;
  const anyway = button('Use it anyway', 'me:claim', { value: claim });
  return say(
    `Nobody called ${bold(name, 100)} has deployed in ${code(account)} lately. Choose your name, or use this one anyway.`,
    ...nameMenu(account, names),
    ...buttons(anyway),
  );
}

function nameMenu(account: string, names: readonly string[]): KnownBlock[] {
  const choices = [...new Set(names)]
    .filter((name) => name.trim() !== '' && name.length <= LIMITS.optionValue)
    .map((name) => ({ value: name, text: name }));
  return choices.length === 0
    ? []
    : menu({ actionId: 'me:name', placeholder: 'Choose your name', target: { account }, choices });
}

function claimRows(account: string, claims: readonly Claim[]): KnownBlock[] {
  if (claims.length === 0) return [];
  const rows = claims.map((claim) => {
    const { name, user, at } = claim;
    return section(
      truncateMarkup(`${bold(name, 100)} is <@${user}>, since ${dateOnly(at)}`, LIMITS.sectionText),
      button('Release', `me:release#${user}`, { value: { account, user, at } }),
    );
  });
  return [...rows, context(`${count(claims.length, 'claimed name')} at ${code(account)}.`)];
}
