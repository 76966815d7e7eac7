import type { Button } from '@slack/types';
import {
  AccountFailure,
  AccountKeyUnreadable,
  type AnswerFault,
  DocumentUnreadable,
  type Offer,
  ServiceError,
  SlackFailure,
  type Sought,
  StoreUnavailable,
  UserError,
} from '../../core/errors.ts';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, count, dateTime, mrkdwn } from '../../core/mrkdwn.ts';
import { isServiceUrl } from '../../service/addresses.ts';
import { type Choice, menu } from './inputs.ts';
import { button, buttons, safeUrl, say } from './make-blocks.ts';
import {
  addReasons,
  explainUnauthorized,
  type KeyCase,
  listMessages,
  listReasons,
  splitSentences,
  UNNAMED,
} from './service-failures.ts';
import { explainSlackFailure } from './slack-failures.ts';

/** A failure in the words for the person who caused it: one sentence, one next step. Both are escaped mrkdwn. */
export interface Explained {
  text: string;
  next?: string | undefined;
  link?: { label: string; url: string } | undefined;
  /** A role that the person can ask an admin for. */
  lacks?: { role: string; command: string } | undefined;
  /** Buttons for the next step. */
  offers?: readonly Offer[] | undefined;
  /** Completions of the typed command, for a menu. `text` is then a question. */
  choices?: readonly Choice[] | undefined;
  /** True if another attempt may help: a typed command then gets a button that repeats it. */
  mayPass?: boolean | undefined;
  /** The log's reference, for unexpected failures. */
  reference?: string | undefined;
}

export interface CommandButton extends Offer {
  /** True if it changes something. The click is then stored before Deckhand handles it. */
  isDurable?: boolean | undefined;
  /** The message in whose thread a mention is answered. */
  thread?: string | undefined;
}

export interface FailureContext {
  word: string;
  /** The operator's address for help. */
  supportUrl?: string | undefined;
  /** Template of the accounts' addresses. */
  serviceUrl?: string | undefined;
  /** Milliseconds since the epoch. */
  now: number;
  channel?: string | undefined;
  /** The account whose key is not stored yet. */
  newAccount?: string | undefined;
}

const IN_A_MINUTE = 'Try again in a minute.';

/** Describes any failure. A failure without its own sentence is a bug. */
export function explain(error: unknown, at: FailureContext): Explained {
  if (error instanceof UserError)
    return {
      text: error.message,
      next: error.next && `Try ${code(`${at.word} ${error.next}`, 200)}.`,
      lacks: error.lacks,
      offers: error.offers,
      choices: error.choices,
    };
  if (error instanceof AccountFailure) {
    const { cause, account, sought } = error;
    return explainServiceFailure(cause, { ...at, account: account.name, key: account, sought });
  }
  if (error instanceof ServiceError)
    return explainServiceFailure(error, { ...at, account: at.newAccount ?? 'this account', key: undefined });
  if (error instanceof SlackFailure) return explainSlackFailure(error, at.channel);
  return explainStoreFailure(error, at);
}

function explainStoreFailure(error: unknown, at: FailureContext): Explained {
  if (error instanceof StoreUnavailable)
    return splitSentences('Deckhand cannot reach its database. Try again in a minute.');
  if (error instanceof AccountKeyUnreadable) {
    const connect = code(`${at.word} connect ${error.account}`);
    return splitSentences(
      `The stored key of the account ${code(error.account)} cannot be read. An admin can connect it again with ${connect}.`,
    );
  }
  if (error instanceof DocumentUnreadable)
    return splitSentences(
      `A stored record cannot be read. ${code(`${at.word} doctor`)} lists the unreadable records.`,
    );
  return { text: 'Something went wrong in Deckhand.', next: nextForUnexpected(at) };
}

/** The address is spelled out, because form errors have no markup. */
function nextForUnexpected({ supportUrl }: FailureContext): string {
  const help = supportUrl === undefined ? undefined : mrkdwn(supportUrl.replace(/^mailto:/i, ''), 500);
  const who = help === undefined ? 'ask whoever runs Deckhand.' : `get help: ${help}`;
  return `Try again. If it keeps happening, ${who}`;
}

interface ServiceCase extends FailureContext, KeyCase {
  sought?: Sought | undefined;
}

/** Adds the service's own reason and hint to Deckhand's sentence, each text once. */
function explainServiceFailure(error: ServiceError, at: ServiceCase): Explained {
  const explained = withUpgrade(explainKind(error, at), error, at);
  return { ...explained, text: `${explained.text}${addReasons(explained.text, error)}` };
}

/** Adds where the plan is changed: a link for an address of the service, and only the words of any other address. */
function withUpgrade(explained: Explained, { upgradeUrl }: ServiceError, at: ServiceCase): Explained {
  if (upgradeUrl === undefined || explained.link !== undefined) return explained;
  const url = at.serviceUrl && isServiceUrl(upgradeUrl, at.serviceUrl) ? safeUrl(upgradeUrl) : undefined;
  if (url === undefined)
    return { ...explained, next: `The service names ${code(upgradeUrl, 200)} to change the plan.` };
  const link = `<${url.replaceAll('|', '%7C').replaceAll('>', '%3E')}|Change the plan>`;
  return { ...explained, next: `${link} of the account, then try again.` };
}

function explainKind(error: ServiceError, at: ServiceCase): Explained {
  const account = code(at.account);
  switch (error.kind) {
    case 'unauthorized':
      return explainUnauthorized(at);
    case 'email_verification_required':
      return splitSentences(
        `The e-mail address of the account ${account} must be verified first. Follow the link in the verification e-mail, then try again.`,
      );
    case 'api_access_restricted':
      return {
        text: `The plan of the account ${account} has no API access.`,
        next: 'Its owner can change the plan in the account’s billing settings.',
        link: linkTo('Change the plan', error.upgradeUrl),
      };
    case 'admin_required':
      return {
        text: 'An administrator of the account must do this.',
        next: `Ask one of them to ${error.betaUrl === undefined ? '' : 'open the page, or to '}connect with their own key.`,
        link: linkTo('Open the beta page', error.betaUrl),
      };
    case 'forbidden':
      return explainRefusal(error, at);
    case 'account_not_found':
      return splitSentences(
        `There is no account named ${account} at the service. Check the name. It is the first part of the account’s address.`,
      );
    case 'record_not_found':
      return explainNotFound(error.operation, at);
    case 'invalid':
      return {
        text: `The service did not accept this: ${listMessages(error)}`,
        next: CORRECTABLE.has(error.operation) ? 'Correct it and try again.' : LATER,
      };
    case 'rejected':
      return {
        text: `The service refused this: ${listMessages(error)}`,
        next: FILLED_IN.has(error.operation) ? 'Change it and try again.' : LATER,
      };
    case 'busy':
      return { text: 'The service is busy.', next: whenToRetry(error.retryAt, at.now), mayPass: true };
    case 'unexpected':
      return {
        text: error.fault === undefined ? 'The service answered unexpectedly.' : FAULTS[error.fault],
        next: nextForUnexpected(at),
      };
    case 'unreachable':
      return { text: 'The service cannot be reached.', next: IN_A_MINUTE, mayPass: true };
  }
}

/** The operations that send a filled-in form. */
const FILLED_IN = new Set(['signUp', 'createServer', 'createIntegration', 'updateIntegration']);

/** Operations whose fault a person can correct, also at the service, such as a project without servers. */
const CORRECTABLE = new Set([...FILLED_IN, 'startTestAccess']);

const LATER = 'Try again later. If it keeps happening, ask an administrator of the account.';

/** The operations that only a billing manager may call. API 4.10 (docs/service-api.md). */
const BILLING = new Set(['listInvoices', 'downloadInvoice']);

/** If the service gives no reason, the sentence names the likely ones. */
function explainRefusal(error: ServiceError, at: ServiceCase): Explained {
  const account = `the account ${code(at.account)}`;
  const isGiven = listReasons(error).length > 0;
  if (BILLING.has(error.operation)) {
    const text = isGiven
      ? `The service refused the invoices of ${account}.`
      : `This key may not read invoices, or ${account} is suspended.`;
    const connect = code(`${at.word} connect ${at.account}`);
    return { text, next: `A billing manager can connect a key of their own with ${connect}.` };
  }
  return splitSentences(
    isGiven
      ? `The service refused this for ${account}. Ask an administrator of the account.`
      : `The service refused, because the key’s owner lacks the permission or ${account} is suspended. Ask an administrator of the account, or look at its settings.`,
  );
}

function explainNotFound(operation: string, { sought, account, word, newAccount }: ServiceCase): Explained {
  if (sought) {
    const next = `See what there is with ${code(`${word} ${sought.list}`)}.`;
    const offers = [{ label: 'Choose one', text: sought.list }];
    return { text: `There is no ${sought.what} at ${code(account)}.`, next, offers };
  }
  const what = UNNAMED[operation];
  if (what === undefined)
    return splitSentences(`The service did not find it. See what there is with ${code(`${word} projects`)}.`);
  // Some services answer this if the account does not exist.
  const next = newAccount ? 'Check the account’s name. If it is right, try again in a minute.' : IN_A_MINUTE;
  return { text: `The service did not find the ${what} of the account ${code(account)}.`, next };
}

function whenToRetry(retryAt: number | undefined, now: number): string {
  if (retryAt === undefined) return IN_A_MINUTE;
  const seconds = Math.max(1, Math.ceil((retryAt - now) / 1000));
  if (seconds <= SOON_S) return `Try again in ${count(seconds, 'second')}.`;
  return `Try again ${dateTime(retryAt)}.`;
}

/** For a longer wait, in seconds, the sentence names the time of day. */
const SOON_S = 90;

const FAULTS: Readonly<Record<AnswerFault, string>> = {
  encoded: 'The service’s answer came compressed and cannot be read. A proxy may have done that.',
  foreign_address:
    'The service gave an address that is not on the account’s own host. Deckhand did not open it, because the key would go there too.',
  no_address: 'The service gave no full address for the PDF, so Deckhand did not ask for it.',
  not_pdf: 'The service sent something that is not a PDF, so Deckhand did not pass it on.',
  too_large: 'The service sent more than Deckhand accepts.',
};

/** The whole failure in one line of mrkdwn. */
export function failureWords({ text, next, reference }: Explained): string {
  const referenceSentence = reference === undefined ? undefined : `Reference ${code(reference)}.`;
  return [text, next && withoutRepeat(text, next), referenceSentence].filter(Boolean).join(' ');
}

/** The service's own words may end with our next step. */
function withoutRepeat(text: string, next: string): string {
  const [first = ''] = next.split(/(?<=[.!?]) /);
  return text.toLowerCase().endsWith(first.toLowerCase()) ? next.slice(first.length).trim() : next;
}

/** @param again the failed command, if it was typed */
export function failureMessage(explained: Explained, again?: Omit<CommandButton, 'label'>): Message {
  const { link, lacks, offers = [], choices, mayPass } = explained;
  const open = link && button(link.label, 'link:open', { url: link.url });
  const commands = [
    ...(mayPass && again ? [{ ...again, label: 'Try again' }] : []),
    ...offers.map((offer) => ({ ...offer, thread: again?.thread })),
  ];
  return say(
    `${choices === undefined ? ':warning: ' : ''}${failureWords(explained)}`,
    ...buttons(open, ...commands.map(commandButton)),
    ...(choices && again ? drawChoice(choices, again) : []),
    ...accessButton(lacks),
  );
}

/** A menu or button that completes the command. */
function drawChoice(
  choices: NonNullable<Explained['choices']>,
  { text: command, thread }: Omit<CommandButton, 'label'>,
): KnownBlock[] {
  return menu({ actionId: 'start:choose', placeholder: 'Choose one', target: { command, thread }, choices });
}

export function commandButton({ label, text, isDurable, thread }: CommandButton, at: number): Button {
  const value = { text, thread };
  const id = `${isDurable ? 'start:run' : 'start:at-once'}#${at === 0 ? 'next' : at}`;
  return button(label, id, { ...(at === 0 && { style: 'primary' }), value });
}

/** Button that asks an admin for the missing role. */
export function accessButton(lacks: Explained['lacks']): KnownBlock[] {
  return buttons(lacks && button('Ask for access', 'access:ask', { value: lacks }));
}

function linkTo(label: string, url: string | undefined): Explained['link'] {
  const safe = safeUrl(url);
  return safe === undefined ? undefined : { label, url: safe };
}
