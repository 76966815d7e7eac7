import type { ElementValue } from '../api/types.ts';

/** Any element of Block Kit, before its type is looked at. */
export interface AnyElement {
  type: string;
  action_id?: string;
  [field: string]: unknown;
}

/** Per element type: the field of its value, and the field that presets it. */
const fields: Readonly<Record<string, readonly [value: string, initial: string]>> = {
  plain_text_input: ['value', 'initial_value'],
  email_text_input: ['value', 'initial_value'],
  url_text_input: ['value', 'initial_value'],
  number_input: ['value', 'initial_value'],
  rich_text_input: ['rich_text_value', 'initial_value'],
  static_select: ['selected_option', 'initial_option'],
  external_select: ['selected_option', 'initial_option'],
  radio_buttons: ['selected_option', 'initial_option'],
  users_select: ['selected_user', 'initial_user'],
  conversations_select: ['selected_conversation', 'initial_conversation'],
  channels_select: ['selected_channel', 'initial_channel'],
  multi_static_select: ['selected_options', 'initial_options'],
  multi_external_select: ['selected_options', 'initial_options'],
  checkboxes: ['selected_options', 'initial_options'],
  multi_users_select: ['selected_users', 'initial_users'],
  multi_conversations_select: ['selected_conversations', 'initial_conversations'],
  multi_channels_select: ['selected_channels', 'initial_channels'],
  datepicker: ['selected_date', 'initial_date'],
  timepicker: ['selected_time', 'initial_time'],
  datetimepicker: ['selected_date_time', 'initial_date_time'],
};

/** The name of the field an element's value stands in; `undefined` for buttons and the like. */
export function valueField(type: string): string | undefined {
  return fields[type]?.[0];
}

/** What an element holds before anyone touches it; `undefined` for elements that hold nothing. */
export function initialValue(element: AnyElement): ElementValue | undefined {
  const names = fields[element.type];
  if (names === undefined) return undefined;
  const [value, initial] = names;
  return { type: element.type, [value]: element[initial] ?? (value.endsWith('s') ? [] : null) };
}
