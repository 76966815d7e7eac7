import type { z } from 'zod';
import { forEachInTurns } from '../core/concurrency.ts';
import { type AnswerFault, MAY_PASS, ServiceError } from '../core/errors.ts';
import type { HttpAnswer } from '../core/http.ts';
import { isObject } from '../core/json.ts';
import { newReference } from '../observability/log.ts';
import { classifyAnswer, type Scope } from './classify.ts';
import { MAX_ROWS, type PageInfo, readPageInfo, type rowsIn } from './fields.ts';

export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Number of repetitions after a temporary failure, 3 by default. Pollers use 0. */
  retries?: number | undefined;
}

/** Reads a good answer. @throws ServiceError if it is not what was expected */
export type Reader<T> = (answer: HttpAnswer, operation: string) => T;

export interface Call<T> {
  operation: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Unencoded segments, or an address, which must be on the account's own origin. */
  path: readonly string[] | URL;
  scope: Scope;
  query?: Record<string, string>;
  body?: unknown;
  pdf?: boolean;
  read: Reader<T>;
}

/** Rows of a list that could not be read. */
export interface SkippedRows {
  operation: string;
  count: number;
  /** Shown to the person and logged. */
  reference: string;
  /** Paths and kinds of the first faults, never values. */
  reason: string;
  /** True for rows that were not read, because the service did not give them or the list is too long. */
  isUnlisted?: true;
}

/** Sends calls to one address. Rejects with a ServiceError, or with the reason of the caller's signal. */
export interface Endpoint {
  send<T>(call: Call<T>, options?: CallOptions): Promise<T>;
  reportSkipped(rows: SkippedRows): void;
}

/** The beginning of an endpoint's paths, without a slash at the end. */
export interface Address {
  origin: string;
  path: string;
}

/** A call with a JSON answer. By default a GET of an account. */
export type JsonCall = Omit<Call<unknown>, 'read' | 'pdf' | 'method' | 'scope'> &
  Partial<Pick<Call<unknown>, 'method' | 'scope'>>;

/** Sends a call and reads its JSON answer by a schema. */
export function requestJson<T>(
  endpoint: Endpoint,
  schema: z.ZodType<T>,
  call: JsonCall,
  options?: CallOptions,
): Promise<T> {
  return endpoint.send({ method: 'GET', scope: 'account', ...call, read: readJson(schema) }, options);
}

/** Values of `content-encoding` for an answer that is not encoded. */
const PLAIN: ReadonlySet<string> = new Set(['', 'identity']);

/** Reads a good answer by the call's reader. Throws a ServiceError for any other. */
export function readValue<T>(call: Call<T>, answer: HttpAnswer, now: number): T {
  const { operation, scope } = call;
  const { status, headers } = answer;
  if (status < 200 || status >= 300) {
    const retryAfter = readHeader(answer, 'retry-after');
    throw classifyAnswer({ operation, scope, status, retryAfter, body: decodeBody(answer), now });
  }
  if (answer.tooLarge) throw unexpected(operation, status, 'the answer is too large', { fault: 'too_large' });
  if (PLAIN.has((headers['content-encoding'] ?? '').trim().toLowerCase()))
    return call.read(answer, operation);
  throw unexpected(operation, status, 'the answer has an encoding that was not accepted', {
    fault: 'encoded',
  });
}

export function readJson<T>(schema: z.ZodType<T>): Reader<T> {
  return (answer, operation) => {
    const parsed = schema.safeParse(parseJson(answer, operation));
    if (parsed.success) return parsed.data;
    // Without values, which must not appear in a log.
    const cause = new Error(describeIssues(parsed.error));
    throw unexpected(operation, answer.status, 'the answer has another shape', { cause });
  };
}

export function readHeader(answer: HttpAnswer, name: string): string | undefined {
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

/** Parsing more values would hold everything else up. 30,000 projects have fewer. */
const MAX_VALUES = 400_000;
const BEFORE_VALUES: ReadonlySet<number> = new Set(Buffer.from('[{,'));

/** True if the JSON text has too many values, whatever their nesting. */
function hasTooManyValues(body: Buffer): boolean {
  let values = 0;
  for (let at = 0; at < body.length && values <= MAX_VALUES; at += 1)
    if (BEFORE_VALUES.has(body[at] ?? 0)) values += 1;
  return values > MAX_VALUES;
}

function parseJson(answer: HttpAnswer, operation: string): unknown {
  if (hasTooManyValues(answer.body))
    throw unexpected(operation, answer.status, 'the answer is too large', { fault: 'too_large' });
  try {
    return JSON.parse(decodeBody(answer));
  } catch {
    // The parser's error quotes the body.
    throw unexpected(operation, answer.status, 'the answer is not JSON');
  }
}

const UTF_8 = new TextDecoder();

function decodeBody(answer: HttpAnswer): string {
  return UTF_8.decode(answer.body);
}

function describeIssues({ issues }: z.ZodError): string {
  const faults = issues.slice(0, 5).map(({ path, code }) => {
    return `${path.map(String).join('.').slice(0, 80) || 'the whole answer'}: ${code}`;
  });
  return faults.join('; ');
}

export interface ListOptions extends CallOptions {
  /** Collects the rows that could not be read, so that the list can say so. */
  skipped?: SkippedRows[];
}

/** Enough for the 2,000 projects of a large account in pages of 20. */
const MAX_PAGES = 100;

/**
 * Reads the rows of a list on all its pages, and skips those that cannot be read. Reports if the list is not whole. Rejects
 * as `unexpected` if the answer is no list.
 */
export async function requestRows<T>(
  endpoint: Endpoint,
  list: ReturnType<typeof rowsIn>,
  row: z.ZodType<T>,
  call: JsonCall,
  options: ListOptions = {},
): Promise<T[]> {
  const { operation } = call;
  const parsed: ParsedRow<T>[] = [];
  const pageMarks = new Set<string>();
  const earlier = new Set<string>();
  let query: Record<string, string> | undefined = {};
  let [total, before, omitted] = [0, 0, 0];
  for (let page = 1; page <= MAX_PAGES && query !== undefined && parsed.length < MAX_ROWS; page += 1) {
    const place = { page, before };
    const answer: Page | undefined = await requestPage(
      endpoint,
      list,
      { ...call, query: { ...call.query, ...query } },
      place,
      options,
    );
    if (answer === undefined) break;
    const { rows, length, info } = answer;
    total = Math.max(total, info.total);
    // A service may ignore the number of the page, and send the first one again.
    const mark = JSON.stringify([rows.length, rows[0], rows.at(-1)]);
    if (rows.length > 0 && pageMarks.has(mark)) break;
    pageMarks.add(mark);
    before += length;
    omitted += length - rows.length;
    const fresh = page === 1 ? rows : rows.filter((one) => !earlier.has(identifyRow(one)));
    await forEachInTurns(fresh, (one) => parsed.push(row.safeParse(one)));
    query = info.next;
    if (query !== undefined) await forEachInTurns(rows, (one) => earlier.add(identifyRow(one)));
  }
  const missing = Math.max(total - parsed.length, omitted, query === undefined ? 0 : 1);
  if (missing > 0)
    reportSkipped(endpoint, options, { operation, count: missing, reason: UNLISTED, isUnlisted: true });
  return keepReadable(endpoint, parsed, operation, options);
}

/** A row that is added or moves while the pages are read comes again on the next page, maybe with other fields. */
function identifyRow(row: unknown): string {
  const { identifier, number } = isObject(row) ? row : {};
  return JSON.stringify(identifier ?? number ?? row);
}

const UNLISTED = 'the service did not give all pages of the list, or it is too long';

interface Page {
  rows: unknown[];
  /** Number of all rows of the page. */
  length: number;
  info: PageInfo;
}

/** Returns undefined for a later page that the service does not have. */
async function requestPage(
  endpoint: Endpoint,
  list: ReturnType<typeof rowsIn>,
  call: JsonCall,
  place: { page: number; before: number },
  options: ListOptions,
): Promise<Page | undefined> {
  const readList = readJson(list);
  const read: Reader<Page> = (answer, operation) => {
    const { rows, length, body } = readList(answer, operation);
    const info = readPageInfo(body, answer.headers, { ...place, rows: length });
    return { rows, length, info };
  };
  try {
    return await endpoint.send({ method: 'GET', scope: 'account', ...call, read }, options);
  } catch (error) {
    const isAnswer = error instanceof ServiceError && !MAY_PASS.has(error.kind);
    if (place.page > 1 && isAnswer && error.kind !== 'unauthorized') return undefined;
    throw error;
  }
}

function reportSkipped(
  endpoint: Pick<Endpoint, 'reportSkipped'>,
  { skipped }: ListOptions,
  fault: Omit<SkippedRows, 'reference'>,
): void {
  const rows = { ...fault, reference: newReference() };
  endpoint.reportSkipped(rows);
  skipped?.push(rows);
}

/** Reads each row by itself. Skips, logs and reports those that cannot be read. */
export function readRows<T>(
  endpoint: Pick<Endpoint, 'reportSkipped'>,
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  operation: string,
  options?: ListOptions,
): T[] {
  const parsed = rows.slice(0, MAX_ROWS).map((row) => schema.safeParse(row));
  const omitted = rows.length - parsed.length;
  const fault = { operation, count: omitted, reason: 'the list is too long', isUnlisted: true } as const;
  if (omitted > 0) reportSkipped(endpoint, options ?? {}, fault);
  return keepReadable(endpoint, parsed, operation, options);
}

type ParsedRow<T> = ReturnType<z.ZodType<T>['safeParse']>;

function keepReadable<T>(
  endpoint: Pick<Endpoint, 'reportSkipped'>,
  parsed: readonly ParsedRow<T>[],
  operation: string,
  options: ListOptions = {},
): T[] {
  const faults = parsed.flatMap(({ error }) => error ?? []);
  const [first] = faults;
  if (first !== undefined) {
    const fault = { operation, count: faults.length, reason: describeIssues(first) };
    reportSkipped(endpoint, options, fault);
  }
  return parsed.flatMap(({ success, data }) => (success ? [data] : []));
}
