import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { normaliseInstant } from '../core/time/clock.ts';

/** A required identifier or name. Some services send numbers. */
export const Identifier = z.union([z.string().min(1), z.number()]).transform(String);

export const OptionalIdentifier = Identifier.optional().catch(undefined);

/** An optional value: `fallback` if it is absent, null or unreadable. */
export function orElse<T extends z.ZodType, F>(schema: T, fallback: F) {
  return schema
    .nullish()
    .catch(null)
    .transform((value) => value ?? fallback);
}

/** Text, or a number as text. */
const Words = z.union([z.string(), z.number().transform(String)]);

export const NullableText = orElse(Words, null);

/** Empty by default. */
export const OptionalText = orElse(Words, '');

/** Null if the service says null, undefined if it says nothing readable. */
export const StatedText = Words.nullish().catch(undefined);

/** A required boolean. Services also write it as text or as 0 and 1. */
export const YesOrNo = z.preprocess(String, z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] }));

/** False by default. */
export const Flag = YesOrNo.catch(false);

/** An ISO 8601 date and time. API 1 (docs/service-api.md). */
export const Timestamp = z
  .string()
  .transform(normaliseInstant)
  .refine((text) => !Number.isNaN(Date.parse(text)));

/** Null if the service says null, undefined if it says nothing readable. */
export const StatedTimestamp = Timestamp.nullish().catch(undefined);

export const NullableTimestamp = orElse(Timestamp, null);

/** A number, or a number as text: services send amounts and ports both ways. */
export const Numeric = z.union([
  z.number(),
  z
    .string()
    .trim()
    .regex(/^-?\d+(?:\.\d+)?$/)
    .transform(Number),
]);

/** An amount as the service spells it. */
export const NullableAmount = orElse(z.union([z.string(), z.number()]), null);

/** Words of API 3.1. Services write them in any letter case. */
const STATUS_WORDS: ReadonlySet<string> = new Set(
  'ok error running completed failed provisioning active suspended disabled destroying'.split(' '),
);

/** Lower case for a known word; any other word stays as it is. */
export function readStatus(word: string): string {
  const lower = word.trim().toLowerCase();
  return STATUS_WORDS.has(lower) ? lower : word;
}

/** The rows of a list, bare or under a key. `requestRows` reads each row separately. */
export function listUnder(key: string) {
  return rowsIn((value) => (isObject(value) ? listAt(value, key) : value));
}

/** Maximum number of rows that are read of an answer. An answer of 5 MB may have a million. */
export const MAX_ROWS = 30_000;

/** `length` counts the rows that are not read too. */
export function rowsIn(findRows: (answer: unknown) => unknown) {
  return z.preprocess(
    (answer) => {
      const rows = findRows(answer);
      const { length } = Array.isArray(rows) ? rows : [];
      return { rows: takeFirst(rows, MAX_ROWS), length, body: answer };
    },
    z.object({ rows: z.array(z.unknown()), length: z.number(), body: z.unknown() }),
  );
}

/** The first rows of a list; any other value as it is. */
export function takeFirst(rows: unknown, most: number): unknown {
  return Array.isArray(rows) ? rows.slice(0, most) : rows;
}

/** Keys under which services put a list with paging beside it. */
const WRAPPERS = ['records', 'data', 'items'];

/** Finds the list under a key or a usual wrapper, or under both. Null is an empty list. */
export function listAt(value: Record<string, unknown>, key: string): unknown {
  const inner = [key, ...WRAPPERS].map((name) => value[name]).find(isObject);
  return findList(value, key) ?? (inner && findList(inner, key)) ?? value[key];
}

function findList(value: Record<string, unknown>, key: string): unknown {
  const wrapper = [key, ...WRAPPERS].find((name) => value[name] === null || Array.isArray(value[name]));
  return wrapper === undefined ? undefined : (value[wrapper] ?? []);
}

/** The rest of a list, as one of its pages gives it. */
export interface PageInfo {
  /** Number of rows in the whole list. */
  total: number;
  /** Query that asks for the next page. */
  next: Record<string, string> | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** @param page number of this page, from 1 @param before number of rows on earlier pages */
export function readPageInfo(
  body: unknown,
  headers: Headers,
  { page, rows, before }: { page: number; rows: number; before: number },
): PageInfo {
  const fields = readFields(body);
  const total = Math.max(
    0,
    ...['total_count', 'total_records'].map((name) => readCount(fields.outer[name])),
    ...['total', 'total_count', 'total_records'].map((name) => readCount(fields.inner[name])),
    ...['x-total', 'x-total-count'].map((name) => readCount(headers[name])),
  );
  if (rows === 0) return { total, next: undefined };
  const linked = readLink(headers.link);
  const last = Math.max(
    0,
    ...['total_pages', 'last_page', 'pages'].map((name) => readCount(fields.inner[name])),
    readCount(fields.outer.total_pages),
    readCount(headers['x-total-pages']),
  );
  const nextPage = Math.max(
    0,
    ...[fields.inner.next_page, fields.outer.next_page, headers['x-next-page']].map(readCount),
  );
  const isMore = page < last || nextPage > page || (last === 0 && total > before + rows);
  return { total, next: linked ?? (isMore ? { page: String(page + 1) } : undefined) };
}

/** A plain `total` beside the rows may be an amount of money, so it counts within `pagination` or `meta` only. */
function readFields(body: unknown): Record<'inner' | 'outer', Record<string, unknown>> {
  const outer = isObject(body) ? body : {};
  const paging = [outer.pagination, outer.meta].filter(isObject);
  return { outer, inner: Object.assign({}, ...paging) as Record<string, unknown> };
}

function readCount(value: unknown): number {
  const count = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value ?? Number.NaN);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** Longer than any real one. */
const MAX_LINK = 4_000;

/** The query of the next page. Only the query: the rest of the address could lead elsewhere, with the key. */
function readLink(header: string | string[] | undefined): Record<string, string> | undefined {
  const links = [header ?? []].flat().join(',').slice(0, MAX_LINK).split(',');
  for (const link of links) {
    const [address = '', ...parameters] = link.split(';').map((part) => part.trim());
    const isNext = parameters.some((parameter) => /^rel="?next"?$/i.test(parameter));
    if (!isNext || !address.startsWith('<') || !address.endsWith('>')) continue;
    const url = URL.parse(address.slice(1, -1), 'https://service.invalid');
    if (url !== null && url.search.length > 1) return Object.fromEntries(url.searchParams);
  }
  return undefined;
}

/** A record, bare or under a key. */
export function recordUnder<T extends z.ZodType>(key: string, record: T) {
  return z.preprocess((value) => (isObject(value) && isObject(value[key]) ? value[key] : value), record);
}
