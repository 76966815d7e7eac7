import type { AnyBlock } from '@slack/types';
import type { ElementValue, Values } from '../api/types.ts';
import { type AnyElement, initialValue, valueField } from './initial-value.ts';

/** Every element of these blocks that can hold something, with the id of its block. */
function statefulElements(blocks: readonly AnyBlock[]): { blockId: string; element: AnyElement }[] {
  return blocks.flatMap((block, index) => {
    const held = block as { element?: AnyElement; elements?: AnyElement[]; accessory?: AnyElement };
    const elements = [
      held.element,
      held.accessory,
      ...(block.type === 'actions' ? (held.elements ?? []) : []),
    ];
    return elements
      .filter((element) => element !== undefined)
      .filter((element) => valueField(element.type) !== undefined)
      .map((element) => ({ blockId: block.block_id ?? `block-${index}`, element }));
  });
}

/** `state.values` as Slack sends it: what was changed, else what the app preset. */
export function collectValues(blocks: readonly AnyBlock[], changed: Values): Values {
  const values: Record<string, Record<string, ElementValue>> = {};
  for (const { blockId, element } of statefulElements(blocks)) {
    const actionId = element.action_id ?? '';
    const value = changed[blockId]?.[actionId] ?? initialValue(element);
    if (value === undefined) continue;
    values[blockId] = { ...values[blockId], [actionId]: onlyValue(value) };
  }
  return values;
}

/** An action carries its ids too; a value does not. */
function onlyValue(value: ElementValue): ElementValue {
  const field = valueField(value.type) ?? 'value';
  return { type: value.type, [field]: value[field] ?? null };
}
