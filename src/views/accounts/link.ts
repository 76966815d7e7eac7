import type { Message } from '../../core/message.ts';
import { code, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import type { Link } from '../../records/user-links.ts';
import { button, buttons, context, say } from '../blocks/message.ts';

/** For the asker alone. `url` is our own address, which leads to the service. */
export function linkMessage(url: string, link: Link | undefined, now: number, word: string): Message {
  const current = link === undefined ? '' : `${linkLine(link, now, word)} You can link again.\n`;
  return say(
    `${current}:link: Open the service in your browser to link your user there. Your password stays with the service.`,
    ...buttons(button('Link my user', 'link:open', { style: 'primary', url })),
    context('Only you see this. The button works once, for ten minutes, in the browser that opens it.'),
  );
}

/** The state of a person's link, for `whoami`. */
export function linkLine(link: Link | undefined, now: number, word: string): string {
  if (link === undefined) return `Your own user is not linked. ${code(`${word} link`)} links it.`;
  if (link.email !== undefined)
    return `You are ${mrkdwn(link.email, 200)} at the service, linked ${dateTime(link.linkedAt)}.`;
  if (link.expiresAt !== undefined && link.expiresAt <= now)
    return `Your link ended ${dateTime(link.expiresAt)}. ${code(`${word} link`)} links you again.`;
  return `Linked ${dateTime(link.linkedAt)}.`;
}

export function linkedMessage(word: string, linkedAt: number, email?: string): Message {
  const who = email === undefined ? 'Linked' : `Linked. You are ${mrkdwn(email, 200)}`;
  return say(
    `:link: ${who}. Commands still use the key that is connected. If that was not you, undo it now.`,
    ...buttons(
      button('Use my own key', 'connect:open', { value: {} }),
      button('Undo', 'link:undo', { style: 'danger', value: { linkedAt } }),
    ),
    context(`${code(`${word} unlink`)} removes the link.`),
  );
}

/** Only the service's own page revokes the permission. API 5.3 (docs/service-api.md). */
export function unlinkedMessage(): Message {
  return say(
    ':white_check_mark: Your link is removed and its token deleted. The permission remains at the service until you remove Deckhand from your list of authorised applications there.',
  );
}

export function linkGoneMessage(word: string): Message {
  return say(`That link was removed or replaced already. ${code(`${word} whoami`)} shows what holds now.`);
}

export function notLinkedMessage(word: string): Message {
  return say(`You are not linked. ${code(`${word} link`)} links you.`);
}
