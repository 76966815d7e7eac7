import type { AnswerFault, ServiceErrorKind, ServiceFailure } from '../core/errors.ts';

export interface ServiceErrorDetails
  extends Partial<Omit<ServiceFailure, keyof Error | 'code' | 'kind' | 'operation'>> {
  /** The fault of the answer in our own words, for the error's text. */
  detail?: string | undefined;
  errorCode?: string | undefined;
  /** True if the request certainly changed nothing, so that it may be sent again. */
  certainlyNotDone?: boolean | undefined;
  cause?: unknown;
}

/**
 * Every failure of a call to the deployment service. Its text has our own words only: no body, credential or address.
 * The service's words are in `fields`, `messages` and `hint`, to be escaped.
 */
export class ServiceError extends Error implements ServiceFailure {
  readonly code = 'service_error';
  readonly kind: ServiceErrorKind;
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
