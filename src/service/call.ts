import { z } from 'zod';
import { inTurns } from '../core/concurrency.ts';
import { type AnswerFault, ServiceError } from '../core/errors.ts';
import type { HttpAnswer } from '../core/http.ts';
import { isObject } from '../core/json.ts';
import { instantText } from '../core/time/clock.ts';
import { newReference } from '../observability/log.ts';
import { classifyAnswer, type Scope } from './classify.ts';

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

/** What `content-encoding` is of an answer as it is. */
const PLAIN: ReadonlySet<string> = new Set(['', 'identity']);

/** What the call's reader makes of a good answer. Throws a ServiceError for any other. */
export function readValue<T>(call: Call<T>, answer: HttpAnswer, now: number): T {
  const { operation, scope } = call;
  const { status, headers } = answer;
  if (status < 200 || status >= 300) {
    const retryAfter = headerOf(answer, 'retry-after');
    throw classifyAnswer({ operation, scope, status, retryAfter, body: textOf(answer), now });
  }
  if (answer.tooLarge) throw unexpected(operation, status, 'the answer is too large', { fault: 'too_large' });
  if (PLAIN.has((headers['content-encoding'] ?? '').trim().toLowerCase()))
    return call.read(answer, operation);
  throw unexpected(operation, status, 'the answer is encoded, which was not asked for', { fault: 'encoded' });
}

/** Reads a JSON answer by a schema. */
export function jsonOf<T>(schema: z.ZodType<T>): Reader<T> {
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

function describeIssues({ issues }: z.ZodError): string {
  const faults = issues.slice(0, 5).map(({ path, code }) => {
    return `${path.map(String).join('.').slice(0, 80) || 'the whole answer'}: ${code}`;
  });
  return faults.join('; ');
}

/** An opaque identifier or name on the wire; some services send numbers for strings. */
export const Identifier = z.union([z.string().min(1), z.number()]).transform(String);

/** What is not essential: `fallback` where it is absent, null, or cannot be read. */
export function orElse<T extends z.ZodType, F>(schema: T, fallback: F) {
  return schema
    .nullish()
    .catch(null)
    .transform((value) => value ?? fallback);
}

/** Text, also where services write a number. */
const Words = z.union([z.string(), z.number().transform(String)]);

/** Text that is not essential. */
export const NullableText = orElse(Words, null);

/** Text that is not essential, or empty. */
export const OptionalText = orElse(Words, '');

/** Text that may be none: null where the service says so, undefined where it says nothing that can be read. */
export const StatedText = Words.nullish().catch(undefined);

/** A yes or no that something depends on; services also write it as text or as 0 and 1. */
export const YesOrNo = z.preprocess((value) => FLAG_WORDS.get(String(value)) ?? value, z.boolean());

const FLAG_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** A yes or no that is not essential: false where it is absent or anything else. */
export const Flag = z
  .unknown()
  .optional()
  .transform((value) => FLAG_WORDS.get(String(value)) ?? false);

/** ISO 8601 text that is a date. API 1 (docs/service-api.md). */
export const Timestamp = z
  .string()
  .transform(instantText)
  .refine((text) => !Number.isNaN(Date.parse(text)));

/** A timestamp that may be none: null where the service says so, undefined where it says nothing that can be read. */
export const StatedTimestamp = Timestamp.nullish().catch(undefined);

/** A timestamp, or null where it is absent or no date. */
export const NullableTimestamp = orElse(Timestamp, null);

/** A number, also when written as text: services send amounts and ports both ways. */
export const Numeric = z.union([
  z.number(),
  z
    .string()
    .trim()
    .regex(/^-?\d+(?:\.\d+)?$/)
    .transform(Number),
]);

/** A number that is not essential. */
export const NullableNumber = orElse(Numeric, null);

/** Words of API 3.1, which services write in any letter case. Any other word is shown as it is. */
const STATUS_WORDS: ReadonlySet<string> = new Set(
  'ok error running completed failed provisioning active suspended disabled destroying'.split(' '),
);

export function readStatus(word: string): string {
  const lower = word.trim().toLowerCase();
  return STATUS_WORDS.has(lower) ? lower : word;
}

/** The rows of a list, by itself or under a key; each is read by itself. */
export function listUnder(key: string) {
  return rowsIn((value) => (isObject(value) ? listAt(value, key) : value));
}

/** @param findRows takes the rows out of an answer */
export function rowsIn(findRows: (answer: unknown) => unknown) {
  return z.preprocess(
    (answer) => ({ rows: findRows(answer), total: countRows(answer) }),
    z.object({ rows: z.array(z.unknown()), total: z.number() }),
  );
}

/** Keys under which services put a list that has paging beside it. */
const WRAPPERS = ['records', 'data', 'items'];

/**
 * The list under a key or a usual wrapper, or under both; null, as services write where there is nothing, is an empty list.
 */
export function listAt(value: Record<string, unknown>, key: string): unknown {
  const inner = [key, ...WRAPPERS].map((name) => value[name]).find(isObject);
  return findList(value, key) ?? (inner && findList(inner, key)) ?? value[key];
}

function findList(value: Record<string, unknown>, key: string): unknown {
  const wrapper = [key, ...WRAPPERS].find((name) => value[name] === null || Array.isArray(value[name]));
  return wrapper === undefined ? undefined : (value[wrapper] ?? []);
}

/** The number of rows that a paged answer says there are in all; 0 if it says nothing. */
function countRows(answer: unknown): number {
  if (!isObject(answer)) return 0;
  const { total_count, total_records, pagination, meta } = answer;
  // Beside the rows themselves, a plain `total` may be an amount.
  const paging = [pagination, meta].filter(isObject);
  const totals = paging.flatMap((page) => [page.total, page.total_count, page.total_records]);
  return Math.max(0, ...[total_count, total_records, ...totals].map(Number).filter(Number.isInteger));
}

/** A record, by itself or under a key. */
export function recordUnder<T extends z.ZodType>(key: string, record: T) {
  return z.preprocess((value) => (isObject(value) && isObject(value[key]) ? value[key] : value), record);
}

export interface ListOptions extends CallOptions {
  /** Gets the rows that could not be read, so that the list can say so. */
  skipped?: SkippedRows[];
}

/** The rows of a list that can be read. The answer is `unexpected` only where it is no list. */
export async function requestRows<T>(
  endpoint: Endpoint,
  list: ReturnType<typeof rowsIn>,
  row: z.ZodType<T>,
  call: JsonCall,
  options: ListOptions = {},
): Promise<T[]> {
  const { operation } = call;
  const { rows, total } = await requestJson(endpoint, list, call, options);
  if (total > rows.length)
    reportSkipped(endpoint, options, operation, total - rows.length, 'the answer is one page of several');
  const parsed: ParsedRow<T>[] = [];
  await inTurns(rows, (one) => parsed.push(row.safeParse(one)));
  return keepReadable(endpoint, parsed, operation, options);
}

function reportSkipped(
  endpoint: Pick<Endpoint, 'reportSkipped'>,
  { skipped }: ListOptions,
  operation: string,
  count: number,
  reason: string,
): void {
  const rows = { operation, count, reference: newReference(), reason };
  endpoint.reportSkipped(rows);
  skipped?.push(rows);
}

/** Reads each row by itself: one that cannot be read costs itself alone, is logged, and is reported to the caller. */
export function readRows<T>(
  endpoint: Pick<Endpoint, 'reportSkipped'>,
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  operation: string,
  options?: ListOptions,
): T[] {
  const parsed = rows.map((row) => schema.safeParse(row));
  return keepReadable(endpoint, parsed, operation, options);
}

type ParsedRow<T> = ReturnType<z.ZodType<T>['safeParse']>;

function keepReadable<T>(
  endpoint: Pick<Endpoint, 'reportSkipped'>,
  parsed: readonly ParsedRow<T>[],
  operation: string,
  options: ListOptions = {},
): T[] {
  const faults = parsed.flatMap(({ error }) => (error === undefined ? [] : [describeIssues(error)]));
  const [reason] = faults;
  if (reason !== undefined) reportSkipped(endpoint, options, operation, faults.length, reason);
  return parsed.flatMap(({ success, data }) => (success ? [data] : []));
}
