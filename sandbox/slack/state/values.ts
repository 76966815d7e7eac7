import { elementsOf } from './fill-ids.ts';
import type { Json, StateValues } from './types.ts';

/** Which key of an element's state holds what was chosen, and which field of the element sets it at first. */
const STATE_KEYS: Record<string, { key: string; initial: string; empty: unknown }> = {
  plain_text_input: { key: 'value', initial: 'initial_value', empty: null },
  email_text_input: { key: 'value', initial: 'initial_value', empty: null },
  url_text_input: { key: 'value', initial: 'initial_value', empty: null },
  number_input: { key: 'value', initial: 'initial_value', empty: null },
  rich_text_input: { key: 'rich_text_value', initial: 'initial_value', empty: null },
  checkboxes: { key: 'selected_options', initial: 'initial_options', empty: [] },
  radio_buttons: { key: 'selected_option', initial: 'initial_option', empty: null },
  static_select: { key: 'selected_option', initial: 'initial_option', empty: null },
  external_select: { key: 'selected_option', initial: 'initial_option', empty: null },
  users_select: { key: 'selected_user', initial: 'initial_user', empty: null },
  conversations_select: { key: 'selected_conversation', initial: 'initial_conversation', empty: null },
  channels_select: { key: 'selected_channel', initial: 'initial_channel', empty: null },
  multi_static_select: { key: 'selected_options', initial: 'initial_options', empty: [] },
  multi_external_select: { key: 'selected_options', initial: 'initial_options', empty: [] },
  multi_users_select: { key: 'selected_users', initial: 'initial_users', empty: [] },
  multi_conversations_select: { key: 'selected_conversations', initial: 'initial_conversations', empty: [] },
  multi_channels_select: { key: 'selected_channels', initial: 'initial_channels', empty: [] },
  datepicker: { key: 'selected_date', initial: 'initial_date', empty: null },
  timepicker: { key: 'selected_time', initial: 'initial_time', empty: null },
  datetimepicker: { key: 'selected_date_time', initial: 'initial_date_time', empty: null },
  file_input: { key: 'files', initial: 'files', empty: [] },
};

/** The key that holds an element's value, e.g. `selected_option`; undefined for buttons and menus without state. */
export function stateKey(type: unknown): string | undefined {
  return STATE_KEYS[String(type)]?.key;
}

/** What an element's state says before anybody touched it. */
function initialState(element: Json): Json | undefined {
  const kind = STATE_KEYS[String(element.type)];
  if (!kind) return undefined;
  return { type: element.type, [kind.key]: element[kind.initial] ?? kind.empty };
}

/**
 * The state of a set of blocks. What a person put in before stays where block_id, action_id and type are the same,
 * so an update keeps typed text and ignores new initial values.
 */
export function stateOf(blocks: readonly Json[], earlier: StateValues = {}): StateValues {
  const values: StateValues = {};
  for (const { block, element } of elementsOf(blocks)) {
    const state = initialState(element);
    if (!state) continue;
    const blockId = String(block.block_id);
    const actionId = String(element.action_id);
    const earlierState = earlier[blockId]?.[actionId];
    const kept = earlierState?.type === state.type ? earlierState : undefined;
    values[blockId] = { ...values[blockId], [actionId]: kept ?? state };
  }
  return values;
}
