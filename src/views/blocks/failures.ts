import type { Message } from '../../core/message.ts';
import { code, mrkdwn } from '../../core/mrkdwn.ts';
import type { AnswerFault, ServiceError } from '../../service/errors.ts';
import { safeUrl } from './links.ts';
import { buttons, say } from './message.ts';
import { dateTime } from './time.ts';

/** A failure as the person who caused it reads it: one sentence, one next step. Both are mrkdwn, escaped. */
export interface Explained {
  text: string;
  /** What to do next; already a sentence. */
  next?: string | undefined;
  link?: { label: string; url: string } | undefined;
  /** The log's reference, for the unexpected. */
  reference?: string | undefined;
}

/** What the sentences need to know about the call that failed. */
export interface ServiceCase {
  account: string;
  /** `new`: the key is being tried for the first time. */
  connection: 'new' | 'ok' | 'unverified' | 'broken';
  /** The slash word. */
  word: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** What a 404 did not find, e.g. `server web-9`, and the command that lists what there is. */
  sought?: { what: string; list: string } | undefined;
}

/** DESIGN's table of errors, in sentences. */
export function explainServiceError(error: ServiceError, at: ServiceCase): Explained {
  switch (error.kind) {
    case 'unauthorized':
      return explainUnauthorized(at);
    case 'email_verification_required':
      return {
        text: `The e-mail address of the account ${code(at.account)} must be verified first.`,
        next: 'Follow the link in the verification e-mail, then try again.',
      };
    case 'api_access_restricted':
      return {
        text: `The plan of the account ${code(at.account)} has no API access.`,
        next: 'Its owner can change the plan in the account’s billing settings.',
        link: linkTo('Change the plan', error.upgradeUrl),
      };
    case 'admin_required':
      return {
        text: 'An administrator of the account must do this.',
        next: 'Ask one of them to open the page, or to connect with their own key.',
        link: linkTo('Open the beta page', error.betaUrl),
      };
    case 'forbidden':
      if (BILLING.has(error.operation)) return explainBillingRefusal(at);
      return {
        text: `The service refused: the key’s owner lacks the permission, or the account ${code(at.account)} is suspended.`,
        next: 'Ask an administrator of the account, or look at its settings.',
      };
    case 'account_not_found':
      return {
        text: `There is no account named ${code(at.account)} at the service.`,
        next: 'Check the name: it is the first part of the account’s address.',
      };
    case 'record_not_found':
      return {
        text: at.sought ? `The service has no ${at.sought.what}.` : 'The service did not find it.',
        next: `See what there is with ${code(`${at.word} ${at.sought?.list ?? 'projects'}`)}.`,
      };
    case 'invalid':
      return {
        text: `The service did not accept this: ${listMessages(error)}`,
        next: 'Correct it and try again.',
      };
    case 'rejected':
      return { text: `The service refused this: ${listMessages(error)}`, next: 'Change it and try again.' };
    case 'busy':
      return {
        text: 'The service is busy right now.',
        next:
          error.retryAt === undefined
            ? 'Try again in a minute.'
            : `It asks to be tried again ${dateTime(Math.max(error.retryAt, at.now))}.`,
      };
    case 'unexpected':
      return explainUnexpected(error);
    case 'unreachable':
      return { text: 'The service cannot be reached.', next: 'Try again in a minute.' };
  }
}

function explainUnauthorized(at: ServiceCase): Explained {
  const connect = code(`${at.word} connect ${at.account}`);
  switch (at.connection) {
    case 'new':
      return {
        text: 'E-mail, key or account do not match.',
        next: 'If the account is new, its e-mail address must be verified first.',
      };
    case 'unverified':
      return {
        text: `The account ${code(at.account)} answers once its e-mail address is verified.`,
        next: 'Follow the link in the verification e-mail, then try again.',
      };
    case 'ok':
    case 'broken':
      return {
        text: `The key of the account ${code(at.account)} was revoked or rotated, so the connection is broken.`,
        next: `Connect again with ${connect}.`,
      };
  }
}

/** Spec 4.10: what only a billing manager may see. */
const BILLING = new Set(['listInvoices', 'downloadInvoice']);

function explainBillingRefusal(at: ServiceCase): Explained {
  return {
    text: `Invoices need a billing manager, and the key’s owner is none, or the account ${code(at.account)} is suspended.`,
    next: `A billing manager can connect with their own key: ${code(`${at.word} connect ${at.account}`)}.`,
  };
}

const FAULTS: Readonly<Record<AnswerFault, string>> = {
  foreign_address:
    'The service named an address on another host than the account’s, so I did not follow it: the key would go there too.',
  not_pdf: 'What the service sent is not a PDF, so I did not pass it on.',
  too_large: 'What the service sent is larger than I take.',
};

function explainUnexpected({ fault }: ServiceError): Explained {
  return {
    text: fault === undefined ? 'The service answered unexpectedly.' : FAULTS[fault],
    next: 'Try again; if it stays, tell your operator.',
  };
}

/** All of it in one line of mrkdwn, for places that hold no blocks of their own. */
export function failureWords({ text, next, reference }: Explained): string {
  const named = reference === undefined ? undefined : `Reference ${code(reference)}.`;
  return [text, next, named].filter(Boolean).join(' ');
}

export function failureMessage(explained: Explained): Message {
  const { link } = explained;
  const more = link === undefined ? [] : buttons({ label: link.label, actionId: 'link:open', url: link.url });
  return say(`:warning: ${failureWords(explained)}`, ...more);
}

function linkTo(label: string, url: string | undefined): Explained['link'] {
  const safe = safeUrl(url);
  return safe === undefined ? undefined : { label, url: safe };
}

function listMessages(error: ServiceError): string {
  const fields = Object.entries(error.fields ?? {}).flatMap(([field, messages]) =>
    messages.map((message) => (field === 'base' ? message : `${field.replaceAll('_', ' ')} ${message}`)),
  );
  const all = [...fields, ...(error.messages ?? [])];
  const told = all.length > 0 ? all : [error.hint ?? 'no reason given'];
  const said = mrkdwn(told.join('; '), 500);
  return /[.!?…]$/.test(said) ? said : `${said}.`;
}
