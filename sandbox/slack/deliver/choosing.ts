import type { Json } from '../state/types.ts';
import { stateKey } from '../state/values.ts';

/** What a person chooses or types: text, an option's value, several of them, or Slack's own option objects. */
export type Chosen = string | number | boolean | null | Json | readonly (string | Json)[];

const OPTION_TYPES = new Set([
  'static_select',
  'external_select',
  'multi_static_select',
  'multi_external_select',
  'radio_buttons',
  'checkboxes',
  'overflow',
]);

/** The state of an element after a choice, e.g. `{ type, selected_option }`. */
export function chosenState(element: Json, chosen: Chosen, suggested: readonly Json[]): Json {
  const key = stateKey(element.type);
  if (!key) throw new TypeError(`nothing can be put into a ${String(element.type)}`);
  return { type: element.type, [key]: chosenValue(element, key, chosen, suggested) };
}

/** The option objects that a choice means; an overflow menu has no state but an option. */
export function chosenOption(element: Json, chosen: Chosen, suggested: readonly Json[]): Json {
  if (typeof chosen === 'object' && chosen !== null && !Array.isArray(chosen)) return chosen as Json;
  const option = optionsOf(element, suggested).find((one) => one.value === chosen);
  if (option) return option;
  const offered = optionsOf(element, suggested).map((one) => String(one.value));
  throw new RangeError(
    `${String(element.action_id)} offers no ${String(chosen)}, but: ${offered.join(', ')}`,
  );
}

function chosenValue(element: Json, key: string, chosen: Chosen, suggested: readonly Json[]): unknown {
  const isOption = OPTION_TYPES.has(String(element.type));
  if (key.endsWith('s') && key !== 'selected_options' && !isOption) return chosen ?? [];
  if (key === 'selected_options') {
    const list = Array.isArray(chosen)
      ? (chosen as (string | Json)[])
      : chosen === null
        ? []
        : [chosen as string];
    return list.map((one) => chosenOption(element, one, suggested));
  }
  if (chosen === null || chosen === '') return null;
  return isOption ? chosenOption(element, chosen, suggested) : chosen;
}

function optionsOf(element: Json, suggested: readonly Json[]): Json[] {
  const groups = Array.isArray(element.option_groups) ? (element.option_groups as Json[]) : [];
  const own = Array.isArray(element.options) ? (element.options as Json[]) : [];
  return [...own, ...groups.flatMap((group) => group.options as Json[]), ...suggested];
}
