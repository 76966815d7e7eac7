import { z } from 'zod';

/** Forms carry everything as text: `true`, `1`, and JSON for whatever is not flat. */

export const flag = z
  .union([z.boolean(), z.enum(['true', 'false', '1', '0'])])
  .transform((value) => value === true || value === 'true' || value === '1');

export const whole = z.coerce.number().int();

export const text = z.coerce.string();

/** A value that is JSON in a form and itself in a JSON body; text that does not parse stays text. */
export const structured = z.unknown().transform((value) => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
});

export const jsonObject = structured.pipe(z.record(z.string(), z.unknown()));

export const paging = { cursor: text.optional(), limit: whole.optional() };
