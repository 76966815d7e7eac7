import type { AnyBlock, InputBlock } from '@slack/types';
import type { ElementValue, Values } from '../api/values.ts';
import { statefulElements } from '../elements/collect-values.ts';
import { type AnyElement, isEmpty } from '../elements/initial-value.ts';

/** What Slack itself refuses before it tells the app; by block_id. */
export function validate(blocks: readonly AnyBlock[], values: Values): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { blockId, element, block } of statefulElements(blocks)) {
    if (block.type !== 'input') continue;
    const value = values[blockId]?.[element.action_id ?? ''];
    const fault = isEmpty(value) ? missing(block as InputBlock) : faultOf(element, value);
    if (fault !== undefined) errors[blockId] = fault;
  }
  return errors;
}

function missing({ optional }: InputBlock): string | undefined {
  return optional ? undefined : 'Please complete this required field.';
}

function faultOf(element: AnyElement, value: ElementValue | undefined): string | undefined {
  const text = String(value?.value ?? '');
  switch (element.type) {
    case 'number_input':
      return numberFault(element, text);
    case 'email_text_input':
      return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) ? undefined : 'Please enter a valid email address.';
    case 'url_text_input':
      return URL.canParse(text) ? undefined : 'Please enter a valid URL.';
    case 'plain_text_input':
      return text.length < Number(element.min_length ?? 0)
        ? `Please enter at least ${element.min_length} characters.`
        : undefined;
    default:
      return undefined;
  }
}

function numberFault(element: AnyElement, text: string): string | undefined {
  const number = Number(text);
  if (Number.isNaN(number)) return 'Please enter a number.';
  if (element.is_decimal_allowed !== true && !Number.isInteger(number)) return 'Please enter a whole number.';
  if (element.min_value !== undefined && number < Number(element.min_value)) {
    return `Please enter a number of at least ${element.min_value}.`;
  }
  if (element.max_value !== undefined && number > Number(element.max_value)) {
    return `Please enter a number of at most ${element.max_value}.`;
  }
  return undefined;
}
