import type { z } from 'zod';
import { outdated } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import type { ModalView } from '../core/message.ts';
import type { Action, ActionContext, ViewState } from './command.ts';

/** What a button carries in its value. @throws UserError where it is of another version, which made it otherwise */
export function fromButton<Schema extends z.ZodType>(schema: Schema, value = '{}'): z.output<Schema> {
  return read(schema, value, 'button');
}

/** What a form carries in its `private_metadata`. @throws UserError as above */
export function fromForm<Schema extends z.ZodType>(schema: Schema, metadata: string): z.output<Schema> {
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

/** What an element does that draws its form anew; outside a form it does nothing. */
export function redraw(
  draw: (state: ViewState, context: ActionContext, value: string | undefined) => Promise<ModalView>,
): Action['run'] {
  return async (value, context) => {
    const { state } = context;
    if (state !== undefined) await context.updateModal(await draw(state, context, value));
    return { kind: 'nothing' };
  };
}
