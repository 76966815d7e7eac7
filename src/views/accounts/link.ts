import type { Message } from '../../core/message.ts';
import { code, mrkdwn } from '../../core/mrkdwn.ts';
import { buttons, context, say } from '../blocks/message.ts';
import { dateTime } from '../blocks/time.ts';

interface ShownLink {
  scope?: string | undefined;
  linkedAt: number;
  expiresAt?: number | undefined;
}

/** For the asker alone: their way to the service. `url` is our own address. */
export function linkMessage(url: string, link: ShownLink | undefined, now: number, word: string): Message {
  const standing = link === undefined ? '' : `${linkLine(link, now, word)} You can link again.\n`;
  return say(
    `${standing}:link: Open the service in your browser and let Deckhand know who you are there. Your password stays with the service.`,
    ...buttons({ label: 'Link my user', actionId: 'link:open', style: 'primary', url }),
    context('Only for you: the button works once, for ten minutes, in the browser that opens it.'),
  );
}

/** How a person stands, for `whoami`. */
export function linkLine(link: ShownLink | undefined, now: number, word: string): string {
  if (link === undefined) return `Your own user at the service is not linked: ${code(`${word} link`)}`;
  if (link.expiresAt !== undefined && link.expiresAt <= now)
    return `Your link to the service ended ${dateTime(link.expiresAt)}: ${code(`${word} link`)}`;
  const scopes = link.scope === undefined ? '' : ` with ${mrkdwn(link.scope, 100)}`;
  return `Your own user at the service is linked since ${dateTime(link.linkedAt)}${scopes}.`;
}

export function linkedMessage(word: string): Message {
  return say(
    `:link: Your user at the service is linked. ${code(`${word} whoami`)} shows it, ${code(`${word} unlink`)} takes it back.`,
  );
}

/** Spec 5.3: revocation is the service's own page. */
export function unlinkedMessage(): Message {
  return say(
    ':broken_chain: Your link is gone and its token deleted here. The permission itself stands until you take it back at the service: remove Deckhand from your list of authorised applications there.',
  );
}

export function notLinkedMessage(word: string): Message {
  return say(`You are not linked. ${code(`${word} link`)} links you.`);
}
