/**
 * There are three kinds of failure.
 * - `UserError`: the person did something that Deckhand cannot do. They read its message; the log has it as
 * info.
 * - The other classes here: the service, Slack or the database failed. `views/blocks/failures.ts` has their
 * sentences.
 * - Any other error is a bug: the person gets a reference, and the log has the same.
 */
export class UserError extends Error {
  readonly code = 'user_error';
  /** One next step, without the slash word; mrkdwn. */
  readonly next: string | undefined;
  /** The role that the person lacks and can ask for, and the command that needs it. */
  readonly lacks: { role: string; command: string } | undefined;
  readonly offers: readonly Offer[];
  /** Completions of the typed command, for a menu. */
  readonly choices: ReadonlyArray<{ value: string; text: string }> | undefined;

  /** @param message one sentence for the person; foreign text in it must be escaped */
  constructor(
    message: string,
    next?: string,
    options?: ErrorOptions & Pick<Partial<UserError>, 'lacks' | 'offers' | 'choices'>,
  ) {
    super(message, options);
    this.name = 'UserError';
    this.next = next;
    this.lacks = options?.lacks;
    this.offers = options?.offers ?? [];
    this.choices = options?.choices;
  }
}

/** The words name nothing that Deckhand knows. Another way to read the line may fit. */
export class UnmatchedWords extends UserError {}

/** A button: its label, and the command line that it runs. */
export interface Offer {
  label: string;
  text: string;
}

/**
 * Error for a part of a message or form that this version does not know.
 * @param next the command to type instead
 */
export function outdated(what: 'button' | 'form' | 'menu' | 'shortcut', next = 'help'): UserError {
  return new UserError(`This ${what} is from an older version of Deckhand.`, next);
}

/** A command needs an account, but none is connected. Deckhand stores the command, and runs it once one is. */
export class AccountNeeded extends Error {
  readonly code = 'account_needed';

  constructor() {
    super('no account is connected');
    this.name = 'AccountNeeded';
  }
}

/** Deckhand was uninstalled after this work began. Nothing of the workspace may be stored any more. */
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
/** Kinds of failure of the service; people read a sentence for each. API 7 (docs/service-api.md). */
export type ServiceErrorKind = (typeof SERVICE_ERROR_KINDS)[number];

/** Kinds that may pass by themselves. After any other kind, another try fails too. */
export const MAY_PASS: ReadonlySet<ServiceErrorKind> = new Set(['busy', 'unexpected', 'unreachable']);

/** Faults of an answer that people read a sentence about. */
export type AnswerFault = 'encoded' | 'foreign_address' | 'no_address' | 'not_pdf' | 'too_large';

/** The thing that a call asks for, e.g. "managed server `x`" in mrkdwn, and the command that lists such things. */
export interface Sought {
  what: string;
  list: string;
}

/**
 * How a call of Slack failed.
 * - `gone`: the channel, message or person can no longer be reached (deleted, archived, not in it), or the message can no
 *   longer be edited
 * - `revoked`: the workspace's token no longer works
 * - `busy`: rate limited, until `retryAt`
 * - `unreachable`: no response, or a 5xx; Slack may have carried out the call
 * - `expired`: a trigger or view that expired or was replaced
 * - `forbidden`: a scope or permission is missing, or a limit or policy of the workspace forbids it
 * - `rejected`: the call itself is wrong, which is a bug of Deckhand
 */
export type SlackFailureKind =
  | 'gone'
  | 'revoked'
  | 'busy'
  | 'unreachable'
  | 'expired'
  | 'forbidden'
  | 'rejected';

/** A failed call of Slack. */
export class SlackFailure extends Error {
  readonly code = 'slack_failure';
  readonly kind: SlackFailureKind;
  /** Slack's own error word, e.g. `is_archived`. */
  readonly reason: string;
  readonly method: string;
  /** Milliseconds since the epoch. */
  readonly retryAt: number | undefined;
  /** The scope that the token lacks, if Slack names it. */
  readonly needed: string | undefined;

  constructor(
    method: string,
    kind: SlackFailureKind,
    reason: string,
    options: ErrorOptions & { retryAt?: number; needed?: string | undefined } = {},
  ) {
    super(`${method}: ${reason}`, options);
    this.name = 'SlackFailure';
    this.kind = kind;
    this.reason = reason;
    this.method = method;
    this.retryAt = options.retryAt;
    this.needed = options.needed;
  }
}

/** The database cannot be used; `message` tells the operator what to do. */
export class StoreError extends Error {
  readonly code: string = 'store_error';
  /** True if another attempt may succeed without a change of the configuration. */
  readonly isTemporary: boolean;

  constructor(message: string, options: ErrorOptions & { isTemporary?: boolean } = {}) {
    super(message, options);
    this.name = 'StoreError';
    this.isTemporary = options.isTemporary ?? false;
  }
}

/** The database did not respond or could not be written. Another attempt may succeed. */
export class StoreUnavailable extends StoreError {
  override readonly code = 'store_unavailable';

  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : 'unknown fault';
    super(`The database failed: ${reason}`, { cause, isTemporary: true });
    this.name = 'StoreUnavailable';
  }
}

/** A document of an unknown shape or of a newer release. Only work that needs the document fails. */
export class DocumentUnreadable extends StoreError {
  override readonly code = 'document_unreadable';

  constructor(collection: string, options?: ErrorOptions) {
    super(`A stored document of ${collection} has an unexpected shape`, options);
    this.name = 'DocumentUnreadable';
  }
}

/** The sealed key of an account does not open. */
export class AccountKeyUnreadable extends Error {
  readonly code = 'account_key_unreadable';
  readonly account: string;

  constructor(account: string, options: ErrorOptions) {
    super('The stored key of an account does not open', options);
    this.name = 'AccountKeyUnreadable';
    this.account = account;
  }
}

export interface ServiceErrorDetails
  extends Partial<Omit<ServiceError, keyof Error | 'code' | 'kind' | 'operation'>> {
  /** Deckhand's own words about the answer, for the error's text. */
  detail?: string | undefined;
  cause?: unknown;
}

/**
 * A failed call to the deployment service. Its text holds only Deckhand's words: no body, credential or
 * address. The service's words are in `fields`, `messages` and `hint`, and must be escaped.
 */
export class ServiceError extends Error {
  readonly code = 'service_error';
  readonly kind: ServiceErrorKind;
  /** Name of the operation, e.g. `startTestAccess`. */
  readonly operation: string;
  /** HTTP status; undefined if there was no answer. */
  declare readonly status: number | undefined;
  declare readonly fault: AnswerFault | undefined;
  /** 422: messages by field; `base` for the record as a whole. */
  declare readonly fields: Record<string, string[]> | undefined;
  declare readonly messages: string[] | undefined;
  declare readonly errorCode: string | undefined;
  /** The service's suggestion. */
  declare readonly hint: string | undefined;
  declare readonly betaUrl: string | undefined;
  declare readonly upgradeUrl: string | undefined;
  /** Milliseconds since the epoch, from `Retry-After`. */
  declare readonly retryAt: number | undefined;
  /** True if the request certainly changed nothing. It may then be sent again. */
  readonly certainlyNotDone: boolean;

  constructor(kind: ServiceErrorKind, operation: string, details: ServiceErrorDetails = {}) {
    const { detail, cause, certainlyNotDone = false, ...answer } = details;
    const status = answer.status === undefined ? '' : ` (${answer.status})`;
    const message = `${operation}: ${kind}${status}${detail === undefined ? '' : `: ${detail}`}`;
    super(message, cause === undefined ? {} : { cause });
    this.name = 'ServiceError';
    this.kind = kind;
    this.operation = operation;
    this.certainlyNotDone = certainlyNotDone;
    Object.assign(this, answer);
  }
}

/** A failed call to the deployment service for a connected account. */
export class AccountFailure extends Error {
  readonly code = 'account_failure';
  readonly account: FailedAccount;
  readonly sought: Sought | undefined;
  declare readonly cause: ServiceError;

  constructor(account: FailedAccount, cause: ServiceError, sought?: Sought) {
    super(cause.message, { cause });
    this.name = 'AccountFailure';
    this.account = account;
    this.sought = sought;
  }
}

/** An `Account` of `records/accounts.ts`, with the state and purpose of the key that was used. */
interface FailedAccount {
  name: string;
  state: 'ok' | 'unverified' | 'broken';
  purpose: 'shared' | 'billing' | 'mine';
  createdBy: string;
}
