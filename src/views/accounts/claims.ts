import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count, cut, dateOnly } from '../../core/mrkdwn.ts';
import type { Claim } from '../../records/service-names.ts';
import { LIMITS } from '../blocks/limits.ts';
import { button, context, say, section } from '../blocks/message.ts';

const MOST = 40;

/**
 * The reader's name at the service, and for an admin everybody's.
 * @param reader the person who asks, with the account and the slash word
 */
export function claimsMessage(
  claims: readonly Claim[],
  { account, user, word }: { account: string; user: string; word: string },
  isAdmin: boolean,
): Message {
  const own = claims.find((claim) => claim.user === user);
  const text =
    own === undefined
      ? `You have claimed no name at ${code(account)}. ${code(`${word} me <name>`)} claims the one that events have, so that watches mention you.`
      : `You are ${bold(own.name, 100)} at ${code(account)}, and watches mention you. ${code(`${word} me none`)} ends that.`;
  return say(text, ...(isAdmin ? claimRows(account, claims) : []));
}

function claimRows(account: string, claims: readonly Claim[]): KnownBlock[] {
  if (claims.length === 0) return [];
  const rows = claims.slice(-MOST).map((claim) => {
    const { name, user, at } = claim;
    return section(
      cut(`${bold(name, 100)} is <@${user}>, since ${dateOnly(at)}`, LIMITS.sectionText),
      button('Release', `me:release#${user}`, { value: { account, user, at } }),
    );
  });
  const left = claims.length - rows.length;
  const more = left === 0 ? '' : `, of which the newest ${MOST} are listed`;
  return [
    ...rows,
    context(`${count(claims.length, 'claimed name')} at ${code(account)}${more}. Admins see them all.`),
  ];
}
