import { z } from 'zod';
import { newReference } from '../observability/failures.ts';
import {
  type CallOptions,
  describeIssues,
  type Endpoint,
  type JsonCall,
  requestJson,
  type SkippedRows,
} from './call.ts';

/** An opaque identifier or name on the wire; some services send numbers for strings. */
export const Identifier = z.union([z.string().min(1), z.number()]).transform(String);

/** Text that is not essential: null where it is absent, null or not text. */
export const NullableText = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(null)
  .transform((text) => text ?? null);

/** Text that is not essential, or empty. */
export const OptionalText = NullableText.transform((text) => text ?? '');

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
export const Timestamp = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

/** A timestamp, or null where it is absent or no date. */
export const NullableTimestamp = Timestamp.nullish()
  .catch(null)
  .transform((text) => text ?? null);

/** A number, also when written as text: services send amounts and ports both ways. */
export const Numeric = z.union([
  z.number(),
  z
    .string()
    .trim()
    .regex(/^-?\d+(?:\.\d+)?$/)
    .transform(Number),
]);

/** A number that is not essential: null where it is absent, null or no number. */
export const NullableNumber = Numeric.nullish()
  .catch(null)
  .transform((number) => number ?? null);

/** The rows of a list, by itself or under a key; each is read by itself (`rows.ts`). */
export function listUnder(key: string) {
  return z.preprocess(
    (value) => (isObject(value) && !Array.isArray(value) ? listAt(value, key) : value),
    z.array(z.unknown()),
  );
}

/** What stands under a key; null, as services write where there is nothing, is an empty list. */
export function listAt(value: Record<string, unknown>, key: string): unknown {
  return value[key] === null ? [] : value[key];
}

/** A record, by itself or under a key. */
export function recordUnder<T extends z.ZodType>(key: string, record: T) {
  return z.preprocess((value) => (isObject(value) && isObject(value[key]) ? value[key] : value), record);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export interface ListOptions extends CallOptions {
  /** Called where rows could not be read, so that the list can say so. */
  onSkipped?: ((rows: SkippedRows) => unknown) | undefined;
}

/** The rows of a list that can be read. The answer is `unexpected` only where it is no list. */
export async function requestRows<T>(
  endpoint: Endpoint,
  list: z.ZodType<unknown[]>,
  row: z.ZodType<T>,
  call: JsonCall,
  options?: ListOptions,
): Promise<T[]> {
  const all = await requestJson(endpoint, list, call, options);
  return readRows(endpoint, row, all, call.operation, options);
}

/** Reads each row by itself: one that cannot be read costs itself alone, is logged, and is reported to the caller. */
export function readRows<T>(
  endpoint: Pick<Endpoint, 'reportSkipped'>,
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  operation: string,
  { onSkipped }: ListOptions = {},
): T[] {
  const parsed = rows.map((row) => schema.safeParse(row));
  const faults = parsed.flatMap(({ error }) => (error === undefined ? [] : [describeIssues(error)]));
  const [reason] = faults;
  if (reason !== undefined) {
    const skipped = { operation, count: faults.length, reference: newReference(), reason };
    endpoint.reportSkipped(skipped);
    onSkipped?.(skipped);
  }
  return parsed.flatMap(({ success, data }) => (success ? [data] : []));
}
