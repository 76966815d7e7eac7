import type { ActionsBlockElement, InputBlock } from '@slack/types';
import { defined } from '../../core/json.ts';
import type { KnownBlock } from '../../core/message.ts';
import { cut, plain } from '../../core/mrkdwn.ts';
import { LIMITS } from './limits.ts';
import { plainText } from './message.ts';

interface FieldSpec {
  /** The service's field name: `block_id` and `action_id` alike. */
  field: string;
  label: string;
  hint?: string | undefined;
  optional?: boolean;
  /** Each change is sent at once, so that the form can be drawn again. */
  dispatch?: boolean;
}

export function textInput(
  spec: FieldSpec & {
    initial?: string | undefined;
    placeholder?: string;
    maxLength?: number;
  },
): InputBlock {
  const { field, initial, placeholder, maxLength = LIMITS.inputText } = spec;
  return input(spec, {
    type: 'plain_text_input',
    action_id: field,
    max_length: maxLength,
    ...defined({
      initial_value: initial ? cut(initial, maxLength) : undefined,
      placeholder: placeholder === undefined ? undefined : plainText(placeholder, LIMITS.placeholder),
    }),
  });
}

export function emailInput(spec: FieldSpec & { initial?: string | undefined }): InputBlock {
  const optional = defined({ initial_value: spec.initial });
  return input(spec, { type: 'email_text_input', action_id: spec.field, ...optional });
}

export function timeInput(spec: FieldSpec): InputBlock {
  return input(spec, { type: 'timepicker', action_id: spec.field });
}

export interface Choice {
  value: string;
  text: string;
  description?: string;
}

export function selectInput(spec: FieldSpec & { choices: readonly Choice[]; initial?: string }): InputBlock {
  const initial = spec.choices.find((choice) => choice.value === spec.initial);
  return input(spec, {
    type: 'static_select',
    action_id: spec.field,
    options: optionsOf(spec.choices),
    ...defined({ initial_option: initial && optionOf(initial) }),
  });
}

/** A menu of the conversations that the person is in; Slack chooses the one they are in now, where there is one. */
export function conversationInput(spec: FieldSpec & { initial?: string | undefined }): InputBlock {
  const initial = spec.initial;
  return input(spec, {
    type: 'conversations_select',
    action_id: spec.field,
    filter: { include: ['public', 'private', 'im', 'mpim'], exclude_bot_users: true },
    ...(initial === undefined
      ? { default_to_current_conversation: true }
      : { initial_conversation: initial }),
  });
}

/**
 * A menu whose options are looked up while the person types; its source is registered under the field's name. An
 * initial choice that Slack would refuse is left out.
 */
export function searchInput(
  spec: FieldSpec & { placeholder: string; initial?: Choice | undefined },
): InputBlock {
  const { initial } = spec;
  const isFitting =
    initial !== undefined && initial.value !== '' && initial.value.length <= LIMITS.optionValue;
  return input(spec, {
    type: 'external_select',
    action_id: spec.field,
    min_query_length: 0,
    placeholder: plainText(spec.placeholder, LIMITS.placeholder),
    ...(isFitting ? { initial_option: optionOf(initial) } : {}),
  });
}

export function checkboxesInput(
  spec: FieldSpec & { choices: readonly Choice[]; initial?: readonly string[] },
): InputBlock {
  const initial = spec.choices.filter((choice) => spec.initial?.includes(choice.value)).map(optionOf);
  return input(spec, {
    type: 'checkboxes',
    action_id: spec.field,
    options: spec.choices.slice(0, LIMITS.checkboxes).map(optionOf),
    ...(initial.length === 0 ? {} : { initial_options: initial }),
  });
}

/** A menu in a message; without `choices` they are searched. `blockId` comes back with the choice. */
export function menuBlock(spec: {
  actionId: string;
  placeholder: string;
  blockId?: string;
  choices?: readonly Choice[] | undefined;
}): KnownBlock {
  const { actionId, placeholder, blockId, choices } = spec;
  const menu = { action_id: actionId, placeholder: plainText(placeholder, LIMITS.placeholder) };
  const element: ActionsBlockElement =
    choices === undefined
      ? { type: 'external_select', ...menu, min_query_length: 0 }
      : { type: 'static_select', ...menu, options: optionsOf(choices) };
  return { type: 'actions', ...defined({ block_id: blockId }), elements: [element] };
}

/** The select's options, at most as many as Slack takes; callers say how many are left out. */
export function optionsOf(choices: readonly Choice[]): ReturnType<typeof optionOf>[] {
  return choices.slice(0, LIMITS.options).map(optionOf);
}

/** One of a menu; a text that shows nothing is replaced by the value. */
export function optionOf({ value, text, description }: Choice): {
  text: { type: 'plain_text'; text: string };
  value: string;
  description?: { type: 'plain_text'; text: string };
} {
  const about = description === undefined ? undefined : plainText(description, LIMITS.optionDescription);
  return {
    text: plainText(plain(text, LIMITS.optionText) || value, LIMITS.optionText),
    value,
    ...defined({ description: about }),
  };
}

/** An input block: the field's name is its id, so that a fault of the schema is Slack's error key. */
export function input(
  { field, label, hint, optional, dispatch }: FieldSpec,
  element: InputBlock['element'],
): InputBlock {
  return {
    type: 'input',
    block_id: field,
    label: plainText(label, LIMITS.inputLabel),
    element,
    ...defined({
      hint: hint === undefined ? undefined : plainText(hint, LIMITS.inputHint),
      optional: optional || undefined,
      dispatch_action: dispatch || undefined,
    }),
  };
}

/** As `selectInput`, with all choices in sight; Slack takes ten. */
export function radioInput(spec: Parameters<typeof selectInput>[0]): InputBlock {
  const options = optionsOf(spec.choices.slice(0, LIMITS.checkboxes));
  return input(spec, {
    type: 'radio_buttons',
    action_id: spec.field,
    options,
    ...defined({ initial_option: options.find(({ value }) => value === spec.initial) }),
  });
}
