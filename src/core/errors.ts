/**
 * Three kinds of failure. A `UserError` is about something the person did: shown as it is, logged as info. A failure of the
 * service, Slack or the database has its class beside its client, the shape below, and a sentence in
 * `src/views/blocks/failures.ts`. Anything else is a bug: the person gets a reference that the log has too.
 */
export class UserError extends Error {
  readonly code = 'user_error';
  /** One next step, as a person types or does it; Slack mrkdwn of our own making. */
  readonly next: string | undefined;
  /** The role that the person lacks and can ask for, and the command that needs it. */
  readonly lacks: { role: string; command: string } | undefined;
  readonly offer: Offer | undefined;
  /** What may have been meant: each completes the command that was typed. */
  readonly choices: ReadonlyArray<{ value: string; text: string }> | undefined;

  /** @param message one sentence for the person; foreign text in it must be escaped already */
  constructor(
    message: string,
    next?: string,
    options?: ErrorOptions & Pick<Partial<UserError>, 'lacks' | 'offer' | 'choices'>,
  ) {
    super(message, options);
    this.name = 'UserError';
    this.next = next;
    this.lacks = options?.lacks;
    this.offer = options?.offer;
    this.choices = options?.choices;
  }
}

/** What a button offers: its label, and the command line that it runs. */
export interface Offer {
  label: string;
  text: string;
}

/** For what stands in a message or form that this version does not know. @param next the command to type instead */
export function outdated(what: 'button' | 'form' | 'menu' | 'shortcut', next = 'help'): UserError {
  return new UserError(`This ${what} is from an older version of Deckhand.`, next);
}

/** A command needs an account and none is connected: it is kept, and runs once an account is. */
export class AccountNeeded extends Error {
  readonly code = 'account_needed';

  constructor() {
    super('no account is connected');
    this.name = 'AccountNeeded';
  }
}

/** Deckhand was taken out of the workspace since this work began: nothing of it is stored any more. */
export class InstallationEnded extends Error {
  readonly code = 'installation_ended';

  constructor() {
    super('the installation that this belongs to has ended');
    this.name = 'InstallationEnded';
  }
}

export const SERVICE_ERROR_KINDS = [
  'unauthorized',
  'api_access_restricted',
  'admin_required',
  'email_verification_required',
  'forbidden',
  'account_not_found',
  'record_not_found',
  'invalid',
  'rejected',
  'busy',
  'unexpected',
  'unreachable',
] as const;
/** The kinds of failure of the service that people read different sentences about. API 7 (docs/service-api.md). */
export type ServiceErrorKind = (typeof SERVICE_ERROR_KINDS)[number];

/** What may pass by itself; after any other kind, asking again changes nothing. */
export const MAY_PASS: ReadonlySet<ServiceErrorKind> = new Set(['busy', 'unexpected', 'unreachable']);

/** A fault of an answer that has a sentence of its own. */
export type AnswerFault = 'encoded' | 'foreign_address' | 'no_address' | 'not_pdf' | 'too_large';

/** What a call is about, e.g. "managed resource `x`" in mrkdwn, and the command that lists what there is. */
export interface Sought {
  what: string;
  list: string;
}

/** A failed call that was made for a connected account. */
interface AccountCallFailure extends Error {
  readonly code: 'account_failure';
  readonly account: {
    name: string;
    state: 'ok' | 'unverified' | 'broken';
    /** Of the key that was used. */
    purpose: 'shared' | 'billing' | 'mine';
    connectedBy: string;
  };
  readonly sought: Sought | undefined;
  readonly cause: ServiceError;
}

/**
 * How Slack failed a call.
 * - `gone`: the channel, message or person can no longer be reached (deleted, archived, not in it), or the message no
 *   longer edited
 * - `revoked`: the workspace's token no longer works
 * - `busy`: rate limited, until `retryAt`
 * - `unreachable`: no answer, or a 5xx; whether the call was carried out is not known
 * - `expired`: a trigger or view that expired or was replaced in between
 * - `forbidden`: a scope or permission is missing, or a limit or policy of the workspace stands against it
 * - `rejected`: the call itself is wrong, which is a fault of ours
 */
export type SlackFailureKind =
  | 'gone'
  | 'revoked'
  | 'busy'
  | 'unreachable'
  | 'expired'
  | 'forbidden'
  | 'rejected';

interface SlackCallFailure extends Error {
  readonly code: 'slack_failure';
  readonly kind: SlackFailureKind;
  /** Slack's own error word, e.g. `is_archived`. */
  readonly reason: string;
  readonly method: string;
  /** The scope that the token lacks, where Slack says so. */
  readonly needed: string | undefined;
}

interface StoreFailure extends Error {
  readonly code: 'store_unavailable' | 'document_unreadable';
}

interface KeyFailure extends Error {
  readonly code: 'account_key_unreadable';
  /** Its name. */
  readonly account: string;
}

/** Every failure that is not a bug. */
export type Failure =
  | UserError
  | ServiceError
  | AccountCallFailure
  | SlackCallFailure
  | StoreFailure
  | KeyFailure;

const CODES: ReadonlySet<unknown> = new Set<Failure['code']>([
  'user_error',
  'service_error',
  'account_failure',
  'slack_failure',
  'store_unavailable',
  'document_unreadable',
  'account_key_unreadable',
]);

export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && 'code' in error && CODES.has(error.code);
}

export interface ServiceErrorDetails
  extends Partial<Omit<ServiceError, keyof Error | 'code' | 'kind' | 'operation'>> {
  /** The fault of the answer in our own words, for the error's text. */
  detail?: string | undefined;
  cause?: unknown;
}

/**
 * Every failure of a call to the deployment service. Its text has our own words only: no body, credential or address.
 * The service's words are in `fields`, `messages` and `hint`, to be escaped.
 */
export class ServiceError extends Error {
  readonly code = 'service_error';
  readonly kind: ServiceErrorKind;
  /** Name of the operation, e.g. `startTestAccess`. */
  readonly operation: string;
  /** HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  readonly fault: AnswerFault | undefined;
  /** 422: messages by field; `base` for the record as a whole. */
  readonly fields: Record<string, string[]> | undefined;
  readonly messages: string[] | undefined;
  readonly errorCode: string | undefined;
  /** The service's suggestion. */
  readonly hint: string | undefined;
  readonly betaUrl: string | undefined;
  readonly upgradeUrl: string | undefined;
  /** Milliseconds since the epoch, from `Retry-After`. */
  readonly retryAt: number | undefined;
  /** True if the request certainly changed nothing, so that it may be sent again. */
  readonly certainlyNotDone: boolean;

  constructor(kind: ServiceErrorKind, operation: string, details: ServiceErrorDetails = {}) {
    super(describe(kind, operation, details), details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'ServiceError';
    this.kind = kind;
    this.operation = operation;
    this.status = details.status;
    this.fault = details.fault;
    this.fields = details.fields;
    this.messages = details.messages;
    this.errorCode = details.errorCode;
    this.hint = details.hint;
    this.betaUrl = details.betaUrl;
    this.upgradeUrl = details.upgradeUrl;
    this.retryAt = details.retryAt;
    this.certainlyNotDone = details.certainlyNotDone ?? false;
  }
}

function describe(kind: ServiceErrorKind, operation: string, details: ServiceErrorDetails): string {
  const status = details.status === undefined ? '' : ` (${details.status})`;
  const detail = details.detail === undefined ? '' : `: ${details.detail}`;
  return `${operation}: ${kind}${status}${detail}`;
}
