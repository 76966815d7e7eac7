import type { z } from 'zod';
import { type AnswerFault, ServiceError } from '../core/errors.ts';
import type { HttpAnswer } from '../core/exchange.ts';
import { classifyAnswer, classifyFailure, type Scope } from './classify.ts';
import { TimeoutError } from './transport.ts';

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How often a call that failed in passing is sent again, 3 by default. Pollers want 0. */
  retries?: number | undefined;
}

/** Makes a value of a good answer, or throws a ServiceError. */
export type Reader<T> = (answer: HttpAnswer, operation: string) => T;

export interface Call<T> {
  operation: string;
  method: 'GET' | 'POST' | 'PATCH';
  /** Segments, encoded one by one; or an address, which must be on the same origin. */
  path: readonly string[] | URL;
  scope: Scope;
  query?: Record<string, string>;
  body?: unknown;
  pdf?: boolean;
  read: Reader<T>;
}

/** Rows of a list that could not be read, while the others were. */
export interface SkippedRows {
  operation: string;
  count: number;
  /** For the person and the log. */
  reference: string;
  /** What was wrong with the first ones: paths and kinds, never values. */
  reason: string;
}

/** Something that calls can be sent to. Rejects with a ServiceError, or with the reason of the caller's signal. */
export interface Endpoint {
  send<T>(call: Call<T>, options?: CallOptions): Promise<T>;
  /** Reports rows of a good answer that could not be read. */
  reportSkipped(rows: SkippedRows): void;
}

/** Where an endpoint's paths begin; without a slash at the end. */
export interface Address {
  origin: string;
  path: string;
}

/** A call with a JSON answer: a GET of an account, unless it says otherwise. */
export type JsonCall = Omit<Call<unknown>, 'read' | 'pdf' | 'method' | 'scope'> &
  Partial<Pick<Call<unknown>, 'method' | 'scope'>>;

/** Sends a call and reads its JSON answer by a schema. */
export function requestJson<T>(
  endpoint: Endpoint,
  schema: z.ZodType<T>,
  call: JsonCall,
  options?: CallOptions,
): Promise<T> {
  return endpoint.send({ method: 'GET', scope: 'account', ...call, read: jsonOf(schema) }, options);
}

/** Both JSON headers on every request; only a PDF is accepted as something else. API 1 (docs/service-api.md). */
export function headersOf(
  call: Call<unknown>,
  version: string,
  authorization?: string,
): Record<string, string> {
  return {
    accept: call.pdf ? 'application/pdf' : 'application/json',
    'content-type': 'application/json',
    // An encoded body could grow past the size limit only after it was received.
    'accept-encoding': 'identity',
    'user-agent': `deckhand/${version}`,
    ...(authorization === undefined ? {} : { authorization }),
  };
}

/** Path and query of a call, encoded. Throws a ServiceError for a name or address that must not be requested. */
export function pathOf(call: Call<unknown>, address: Address): string {
  if (call.path instanceof URL) return ownPath(call.path, address, call.operation);
  const segments = call.path.map((segment) => encodeSegment(segment, call.operation));
  const path = [address.path, ...segments].join('/');
  const query = new URLSearchParams(call.query).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** Where accounts differ by their path, another account's path is as foreign as another host. */
function ownPath(url: URL, { origin, path }: Address, operation: string): string {
  const isPlain = url.username === '' && url.password === '';
  const isOwn = isPlain && url.origin === origin && url.pathname.startsWith(`${path}/`);
  if (isOwn) return `${url.pathname}${url.search}`;
  throw foreignAddress(operation, "an address that is not on the account's own host");
}

/** The address was not requested. */
export function foreignAddress(operation: string, detail: string): ServiceError {
  const fault = 'foreign_address';
  return new ServiceError('unexpected', operation, { detail, fault, certainlyNotDone: true });
}

/** A segment names one record. Anything that a server could take for another path names none. */
function encodeSegment(segment: string, operation: string): string {
  const isName = segment !== '' && segment !== '.' && segment !== '..' && segment.length <= 255;
  if (isName && segment.isWellFormed()) return encodeURIComponent(segment);
  throw new ServiceError('record_not_found', operation, { detail: 'not a name', certainlyNotDone: true });
}

/** What the call's reader makes of a good answer. Throws a ServiceError for any other. */
export function readValue<T>(call: Call<T>, answer: HttpAnswer, now: number): T {
  const { operation, scope } = call;
  const { status, headers } = answer;
  if (status < 200 || status >= 300) {
    const retryAfter = headerOf(answer, 'retry-after');
    throw classifyAnswer({ operation, scope, status, retryAfter, body: textOf(answer), now });
  }
  if (answer.tooLarge) throw unexpected(operation, status, 'the answer is too large', { fault: 'too_large' });
  const isEncoded = (headers['content-encoding'] ?? 'identity') !== 'identity';
  if (isEncoded) throw unexpected(operation, status, 'the answer is encoded, which was not asked for');
  return call.read(answer, operation);
}

function jsonOf<T>(schema: z.ZodType<T>): Reader<T> {
  return (answer, operation) => {
    const parsed = schema.safeParse(parseJson(answer, operation));
    if (parsed.success) return parsed.data;
    // Only the paths and kinds of the faults: the values belong in no log.
    const cause = new Error(describeIssues(parsed.error));
    throw unexpected(operation, answer.status, 'the answer has another shape', { cause });
  };
}

export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const header = answer.headers[name];
  return Array.isArray(header) ? header[0] : header;
}

export function unexpected(
  operation: string,
  status: number,
  detail: string,
  more: { fault?: AnswerFault; cause?: Error } = {},
): ServiceError {
  return new ServiceError('unexpected', operation, { status, detail, ...more });
}

/** The error of an exchange that brought no answer. */
export function failureOf(operation: string, error: unknown): ServiceError {
  if (!(error instanceof TimeoutError)) return classifyFailure(operation, error);
  return new ServiceError('unreachable', operation, { detail: error.message });
}

function parseJson(answer: HttpAnswer, operation: string): unknown {
  try {
    return JSON.parse(textOf(answer));
  } catch {
    // The parser's error quotes the body, so it is not passed on.
    throw unexpected(operation, answer.status, 'the answer is not JSON');
  }
}

const UTF_8 = new TextDecoder();

function textOf(answer: HttpAnswer): string {
  return UTF_8.decode(answer.body);
}

export function describeIssues({ issues }: z.ZodError): string {
  return issues.slice(0, 5).map(describeIssue).join('; ');
}

function describeIssue(issue: z.core.$ZodIssue): string {
  return `${issue.path.map(String).join('.').slice(0, 80) || 'the whole answer'}: ${issue.code}`;
}
