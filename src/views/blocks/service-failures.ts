import type { ServiceError, ServiceErrorKind } from '../../core/errors.ts';
import { code, dateTime, mrkdwn, toSentence } from '../../core/mrkdwn.ts';
import type { Account } from '../../records/accounts.ts';

/** One sentence and one next step, both mrkdwn. */
export interface Sentences {
  text: string;
  next: string;
  /** True if another attempt may help: a typed command then gets a button that repeats it. */
  mayPass?: boolean;
}

/** Splits off the first sentence of a text; the rest is the next step. */
export function splitSentences(text: string): Sentences {
  const end = text.indexOf('. ') + 1;
  return { text: text.slice(0, end), next: text.slice(end + 1) };
}

/** The account and the key of a call. */
export interface KeyCase {
  word: string;
  account: string;
  /** Undefined for a key that is tried for the first time. */
  key: Pick<Account, 'state' | 'purpose' | 'createdBy'> | undefined;
}

export function explainUnauthorized(at: KeyCase): Sentences {
  switch (at.key?.state) {
    case undefined:
      return splitSentences(
        'The e-mail address, the key and the account do not match. Check all three. If the account is new, its e-mail address must be verified first.',
      );
    case 'unverified':
      return splitSentences(
        `The account ${code(at.account)} answers once its e-mail address is verified. Follow the link in the verification e-mail, then try again.`,
      );
    case 'ok':
    case 'broken':
      return explainBrokenKey(at);
  }
}

/** Names the owner of a personal key, because a channel may read the sentence too. */
function explainBrokenKey({ account, key, word }: KeyCase): Sentences {
  const name = code(account);
  const connect = code(`${word} connect ${account}`);
  switch (key?.purpose) {
    case 'mine':
      return splitSentences(
        `The personal key of <@${key.createdBy}> for the account ${name} was revoked or rotated. Connect again with ${connect}, or remove it with ${code(`${word} disconnect ${account}`)} to use the shared key.`,
      );
    case 'billing':
      return splitSentences(
        `The billing key of the account ${name} was revoked or rotated. An admin can replace it with ${connect}.`,
      );
    default:
      return splitSentences(
        `The key of the account ${name} was revoked or rotated, so the connection is broken. An admin can connect it again with ${connect}.`,
      );
  }
}

/** The service's texts about a failure, each once. Ignores other texts, which may come from a proxy. */
export function listReasons({ kind, messages = [], hint }: ServiceError): string[] {
  const own = GIVING_REASONS.has(kind) ? messages : [];
  const all = [...new Set([...own, ...(hint === undefined ? [] : [hint])])];
  return kind === 'busy' ? all.filter((text) => !FOR_DEVELOPERS.test(text)) : all;
}

/** Matches a busy service's texts about headers, which are for programmers. */
const FOR_DEVELOPERS = /retry-after|\bhttp\b|\bheaders?\b/i;

const GIVING_REASONS: ReadonlySet<ServiceErrorKind> = new Set([
  'api_access_restricted',
  'admin_required',
  'email_verification_required',
  'forbidden',
]);

/** The reasons that `text` lacks, after a space; empty if there are none. Mrkdwn. */
export function addReasons(text: string, error: ServiceError): string {
  const reasons = listReasons(error).map((reason) => mrkdwn(reason, 500));
  const unsaid = reasons.filter((reason) => !text.includes(reason));
  return unsaid.length === 0 ? '' : ` The service says: ${unsaid.map(toSentence).join(' ')}`;
}

/** Reason for a longer wait of something that Deckhand follows. */
export function troubleWords(cause: ServiceError): string {
  const { retryAt: at } = cause;
  const next = at === undefined ? 'Deckhand keeps trying' : `The next try is ${dateTime(at)}`;
  const sentence = `The service is busy or does not answer. ${next}.`;
  return `${sentence}${addReasons(sentence, cause)}`;
}

export function listMessages({ fields = {}, messages = [], hint = 'no reason given' }: ServiceError): string {
  const byField = Object.entries(fields).flatMap(([field, texts]) =>
    texts.map((text) => (field === 'base' ? text : `${field.replaceAll('_', ' ')} ${text}`)),
  );
  const all = [...new Set([...byField, ...messages])];
  return toSentence(mrkdwn((all.length > 0 ? all : [hint]).join(', '), 500));
}

/** Names of an account's lists, by the operation that reads them. */
export const UNNAMED: Readonly<Record<string, string>> = {
  getActivity: 'activity',
  listInvoices: 'invoices',
  listProjects: 'list of projects',
  getProfile: 'profile',
  listHostedResources: 'managed servers',
  listRegions: 'regions',
  listSizes: 'sizes',
};
