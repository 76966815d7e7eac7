import type { Json, OpenView } from '../state/types.ts';
import { stateKey } from '../state/values.ts';

/** What Slack itself checks before it asks the app: faults by block_id, empty where all is well. */
export function checkInputs(view: OpenView): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const block of view.content.blocks) {
    if (block.type !== 'input') continue;
    const element = block.element as Json;
    const state = view.values[String(block.block_id)]?.[String(element.action_id)];
    const value = state?.[stateKey(element.type) ?? ''];
    const fault = isEmpty(value) ? emptyFault(block) : checkValue(element, value);
    if (fault) errors[String(block.block_id)] = fault;
  }
  return errors;
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

function emptyFault(block: Json): string | undefined {
  return block.optional === true ? undefined : 'Please complete this required field.';
}

function checkValue(element: Json, value: unknown): string | undefined {
  const text = String(value);
  if (element.type === 'plain_text_input') return checkLength(element, [...text].length);
  if (element.type === 'number_input') return checkNumber(element, text);
  if (element.type === 'email_text_input' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) {
    return 'Enter a valid email address.';
  }
  if (element.type === 'url_text_input' && !URL.canParse(text)) return 'Enter a valid URL.';
  const most = element.max_selected_items;
  if (typeof most === 'number' && Array.isArray(value) && value.length > most)
    return `Select at most ${most}.`;
  return undefined;
}

function checkLength(element: Json, length: number): string | undefined {
  const least = Number(element.min_length ?? 0);
  const most = Number(element.max_length ?? 3000);
  if (length < least) return `Enter at least ${least} characters.`;
  return length > most ? `Enter at most ${most} characters.` : undefined;
}

function checkNumber(element: Json, text: string): string | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return 'Enter a number.';
  if (element.is_decimal_allowed !== true && !Number.isInteger(value)) return 'Enter a whole number.';
  if (value < Number(element.min_value ?? -Infinity)) return `Enter at least ${String(element.min_value)}.`;
  return value > Number(element.max_value ?? Infinity)
    ? `Enter at most ${String(element.max_value)}.`
    : undefined;
}
