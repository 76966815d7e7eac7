import { z } from 'zod';

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

export const Flag = z
  .boolean()
  .nullish()
  .transform((flag) => flag ?? false);

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

/** A list, by itself or under a key. */
export function listUnder<T extends z.ZodType>(key: string, item: T) {
  return z.preprocess(
    (value) => (isObject(value) && !Array.isArray(value) ? value[key] : value),
    z.array(item),
  );
}

/** A record, by itself or under a key. */
export function recordUnder<T extends z.ZodType>(key: string, record: T) {
  return z.preprocess((value) => (isObject(value) && isObject(value[key]) ? value[key] : value), record);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
