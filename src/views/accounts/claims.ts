import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count, dateOnly, truncate } from '../../core/mrkdwn.ts';
import type { Claim } from '../../records/service-people.ts';
import { menu } from '../blocks/inputs.ts';
import { LIMITS } from '../blocks/limits.ts';
import { button, buttons, context, say, section } from '../blocks/message.ts';

/** The person who asks, the account, the slash word, and the names that the account's events hold. */
interface ClaimReader {
  account: string;
  user: string;
  word: string;
  names: readonly string[];
}

/** The reader's name at the service with a menu of names, and for an admin everybody's. */
export function claimsMessage(
  claims: readonly Claim[],
  { account, user, word, names }: ClaimReader,
  isAdmin: boolean,
): Message {
  const own = claims.find((claim) => claim.user === user);
  const free = names.filter((name) => !claims.some((claim) => claim.name === name));
  const [text, note] =
    own === undefined
      ? [
          `Tell me your name in ${code(account)} and I’ll mention you.`,
          `${code(`${word} me <name>`)} takes a name that is not listed.`,
        ]
      : [mentionWords(account, own.name), `${code(`${word} me none`)} ends that.`];
  return say(text, ...nameMenu(account, free), context(note), ...(isAdmin ? claimRows(account, claims) : []));
}

/** What is said once a name is a person's. */
export function mentionWords(account: string, name: string): string {
  return `I’ll mention you when ${code(account)} says ${bold(name, 100)} did something.`;
}

/** Asked before a name is claimed that no event holds. */
export function unknownNameMessage(account: string, name: string, names: readonly string[]): Message {
  const anyway = button('Use it anyway', 'me:claim', { value: { account, name } });
  return say(
    `No recent event in ${code(account)} names ${bold(name, 100)}.`,
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
      truncate(`${bold(name, 100)} is <@${user}>, since ${dateOnly(at)}`, LIMITS.sectionText),
      button('Release', `me:release#${user}`, { value: { account, user, at } }),
    );
  });
  return [...rows, context(`${count(claims.length, 'claimed name')} at ${code(account)}.`)];
}
