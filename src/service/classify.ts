import { ServiceError, type ServiceErrorKind } from '../core/errors.ts';
import { describeUnreached, wasNeverSent } from '../core/http.ts';
import { isObject, parseObject } from '../core/json.ts';
import { parseRetryAfter } from '../core/retry.ts';

/** Sign-up has no account yet. */
export type Scope = 'account' | 'signup';

export interface ErrorAnswer {
  operation: string;
  scope: Scope;
  /** Any status but 2xx. */
  status: number;
  retryAfter: string | undefined;
  body: string;
  /** Milliseconds since the epoch. */
  now: number;
}

const FORBIDDEN = ['api_access_restricted', 'admin_required', 'email_verification_required'] as const;

/** Makes the error of an answer. API 7 (docs/service-api.md). Accepts any body. */
export function classifyAnswer(answer: ErrorAnswer): ServiceError {
  const body = readErrorBody(answer.body);
  const kind = classifyStatus(answer, body);
  const isTemporary = answer.status === 429 || answer.status >= 500;
  const retryAt = isTemporary ? parseRetryAfter(answer.retryAfter, answer.now) : undefined;
  const messages = body.messages.length > 0 ? body.messages : undefined;
  return new ServiceError(kind, answer.operation, {
    status: answer.status,
    detail: kind === 'unexpected' ? describeDetail(answer.status, body) : undefined,
    fields: kind === 'invalid' ? withBase(body) : undefined,
    messages,
    errorCode: body.errorCode,
    hint: body.hint,
    betaUrl: body.betaUrl,
    upgradeUrl: body.upgradeUrl,
    retryAt,
    certainlyNotDone: isCertainlyNotDone(answer.status, retryAt),
  });
}

function classifyStatus({ status, scope }: ErrorAnswer, body: ErrorBody): ServiceErrorKind {
  if (body.errorCode === 'invalid_api_method' || body.errorCode === 'invalid_json') return 'unexpected';
  if (status === 401)
    return body.errorCode === 'email_verification_required' ? body.errorCode : 'unauthorized';
  if (status === 403) return FORBIDDEN.find((kind) => kind === body.errorCode) ?? 'forbidden';
  if (status === 404) return classifyNotFound(scope, body);
  if (status === 422) return 'invalid';
  if (status === 429 || status === 503) return 'busy';
  if (status === 408) return 'unreachable';
  return status >= 400 && status < 500 ? 'rejected' : 'unexpected';
}

/** The host answers for a wrong account name, without the service's error body. API 5.1. */
function classifyNotFound(scope: Scope, { errorCode, isObject }: ErrorBody): ServiceErrorKind {
  if (scope === 'signup') return 'unexpected';
  return isObject && errorCode !== 'account_not_found' ? 'record_not_found' : 'account_not_found';
}

/** A refusal without fields is about the whole form, so that people always see its text. */
function withBase(body: ErrorBody): Record<string, string[]> {
  if (body.messages.length === 0 || Object.keys(body.fields).length > 0) return body.fields;
  return { base: body.messages };
}

function describeDetail(status: number, body: ErrorBody): string | undefined {
  if (status >= 300 && status < 400) return 'a redirect, which is never followed';
  return body.errorCode;
}

function isCertainlyNotDone(status: number, retryAt: number | undefined): boolean {
  if (status === 503) return retryAt !== undefined;
  return status >= 400 && status < 500 && status !== 408;
}

/** Makes the error of a failed request: no connection, a dropped one, or an answer that is not HTTP. */
export function classifyFailure(operation: string, error: unknown): ServiceError {
  const {
    name = '',
    message = '',
    code,
  }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  // EOF means that the connection was dropped.
  const isGarbage = name === 'HTTPParserError' && !message.includes('EOF');
  return new ServiceError(isGarbage ? 'unexpected' : 'unreachable', operation, {
    detail: isGarbage ? 'the answer is not HTTP' : (describeUnreached(error) ?? code),
    certainlyNotDone: wasNeverSent(error),
    // A copy, because the parser's errors hold bytes of the answer, which must not appear in a log.
    cause: Object.assign(new Error(message || code), { code }),
  });
}

/** The body of an error, for all shapes of API 7 (docs/service-api.md). All of it is foreign text. */
interface ErrorBody {
  /** False for a body that is empty, not JSON, or not an object. */
  isObject: boolean;
  errorCode: string | undefined;
  hint: string | undefined;
  messages: string[];
  fields: Record<string, string[]>;
  betaUrl: string | undefined;
  upgradeUrl: string | undefined;
}

type Json = Record<string, unknown>;

const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
/** Keys that describe the error. Every other key of a validation error names an attribute. */
const DESCRIBING: ReadonlySet<string> = new Set(
  'error_code hint status error message errors beta_url upgrade_url'.split(' '),
);
/** Parts of the request that are no fields of a form. */
const WRAPPERS =
  /^(?:(?:server|integration|hosted_website(?:_attributes)?|hosted_resource|static_hosting|managed_vps)\.)+/;
const MAX_TEXT = 500;
const MAX_TEXTS = 20;
const MAX_FIELDS = 50;
const MAX_DEPTH = 3;

/** Reads an error of API 7.1 to 7.4, and similar shapes. Never throws. */
function readErrorBody(text: string): ErrorBody {
  const json = parseObject(text);
  const body = json ?? {};
  const attributes = isObject(body.errors) ? body.errors : pickAttributes(body);
  return {
    isObject: json !== undefined,
    errorCode: [body.error_code, body.error, body.status].find(isCode),
    hint: readTexts(body.hint)[0],
    messages: readMessages(body),
    fields: Object.fromEntries(flattenFields(attributes).slice(0, MAX_FIELDS)),
    betaUrl: webAddress(body.beta_url),
    upgradeUrl: webAddress(body.upgrade_url),
  };
}

function readMessages(body: Json): string[] {
  const errors = isObject(body.errors) ? [] : readTexts(body.errors);
  const error = isCode(body.error) ? [] : readTexts(body.error);
  return [...new Set([...errors, ...readTexts(body.message), ...error])].slice(0, MAX_TEXTS);
}

function pickAttributes(body: Json): Json {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !DESCRIBING.has(key)));
}

function flattenFields(attributes: Json, prefix = '', depth = 1): Array<[string, string[]]> {
  return Object.entries(attributes).flatMap(([key, value]): Array<[string, string[]]> => {
    const name = `${prefix}${key}`;
    if (isObject(value)) return depth < MAX_DEPTH ? flattenFields(value, `${name}.`, depth + 1) : [];
    const texts = readTexts(value);
    return texts.length === 0 ? [] : [[name.replace(WRAPPERS, '').slice(0, MAX_TEXT), texts]];
  });
}

function readTexts(value: unknown): string[] {
  const values = Array.isArray(value) ? value.slice(0, MAX_TEXTS) : [value];
  return values
    .map((item: unknown) => (isObject(item) ? item.message : item))
    .filter((item): item is string => typeof item === 'string' && item.trim() !== '')
    .map((item) => item.slice(0, MAX_TEXT))
    .filter((item, at, all) => all.indexOf(item) === at);
}

function isCode(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64 && CODE.test(value);
}

/** Allows only addresses of web pages, so that no button runs `javascript:`. */
function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { protocol, href } = new URL(value);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
