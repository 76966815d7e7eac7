import type { z } from 'zod';
import { outdated } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';

/** Parses a button's value. @throws UserError if another version of Deckhand made the button */
export function parseButton<Schema extends z.ZodType>(schema: Schema, value = '{}'): z.output<Schema> {
  return read(schema, value, 'button');
}

/** Parses a form's `private_metadata`. @throws UserError as above */
export function parseForm<Schema extends z.ZodType>(schema: Schema, metadata: string): z.output<Schema> {
  return read(schema, metadata || '{}', 'form');
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  what: 'button' | 'form',
): z.output<Schema> {
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw outdated(what);
  return parsed.data;
}
