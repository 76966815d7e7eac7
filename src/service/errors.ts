/** The kinds of failure that people read different sentences about. API 7 (docs/service-api.md). */
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
export type ServiceErrorKind = (typeof SERVICE_ERROR_KINDS)[number];

/** A fault of an answer that has a sentence of its own. */
export type AnswerFault = 'foreign_address' | 'not_pdf' | 'too_large';

export interface ServiceErrorDetails {
  /** HTTP status; undefined if there was no answer. */
  status?: number | undefined;
  /** The fault of the answer in our own words, for the error's text. */
  detail?: string | undefined;
  fault?: AnswerFault | undefined;
  /** 422: messages by field; `base` for the record as a whole. Foreign text. */
  fields?: Record<string, string[]> | undefined;
  /** The service's own messages. Foreign text. */
  messages?: string[] | undefined;
  errorCode?: string | undefined;
  /** The service's suggestion. Foreign text. */
  hint?: string | undefined;
  betaUrl?: string | undefined;
  upgradeUrl?: string | undefined;
  /** Milliseconds since the epoch, from `Retry-After`. */
  retryAt?: number | undefined;
  /** True if the request certainly changed nothing, so that it may be sent again. */
  certainlyNotDone?: boolean | undefined;
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
  readonly status: number | undefined;
  readonly fault: AnswerFault | undefined;
  readonly fields: Record<string, string[]> | undefined;
  readonly messages: string[] | undefined;
  readonly errorCode: string | undefined;
  readonly hint: string | undefined;
  readonly betaUrl: string | undefined;
  readonly upgradeUrl: string | undefined;
  readonly retryAt: number | undefined;
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
