import type { InputBlock, PlainTextOption } from '@slack/types';
import { defined } from '../../core/defined.ts';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { cut, mrkdwn, plain } from '../../core/mrkdwn.ts';
import { LIMITS } from './limits.ts';
import { plainText, section } from './message.ts';
import type { Values } from './modal-state.ts';

export interface ModalSpec {
  callbackId: string;
  title: string;
  /** Absent: the modal only shows. */
  submit?: string;
  close?: string;
  /** JSON for the way back; never a secret. */
  metadata?: unknown;
  blocks: KnownBlock[];
}

export const BANNER = 'banner';

export function modal({
  callbackId,
  title,
  submit,
  close = 'Cancel',
  metadata,
  blocks,
}: ModalSpec): ModalView {
  return {
    type: 'modal',
    callback_id: callbackId,
    title: plainText(title, LIMITS.viewTitle),
    close: plainText(close, LIMITS.viewButton),
    blocks: blocks.slice(0, LIMITS.blocksInView),
    ...defined({
      submit: submit === undefined ? undefined : plainText(submit, LIMITS.viewButton),
      private_metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
    }),
  };
}

/** A modal without a form, that says what goes on or was done. `text` is mrkdwn, escaped. */
export function notice(title: string, text: string, ...more: KnownBlock[]): ModalView {
  return modal({ callbackId: 'notice', title, close: 'Close', blocks: [section(text), ...more] });
}

/** A message, shown in a modal. */
export function noticeOf(title: string, { blocks }: Message): ModalView {
  return modal({ callbackId: 'notice', title, close: 'Close', blocks });
}

/** The same modal with a message on top; the typed values stay, because the blocks keep their ids. */
export function withBanner(view: ModalView, text: string): ModalView {
  const blocks = view.blocks.filter((block) => block.block_id !== BANNER);
  return { ...view, blocks: [{ ...section(`:warning: ${text}`), block_id: BANNER }, ...blocks] };
}

/** Puts each message, plain text, under its field, for a modal that is updated because its answer came late. */
export function withFieldErrors(view: ModalView, errors: Record<string, string>): ModalView {
  const blocks = view.blocks
    .filter((block) => !block.block_id?.endsWith(':error'))
    .flatMap((block): KnownBlock[] => {
      const error = block.block_id === undefined ? undefined : errors[block.block_id];
      if (error === undefined) return [block];
      return [block, { ...section(`:warning: ${mrkdwn(error, 500)}`), block_id: `${block.block_id}:error` }];
    });
  return { ...view, blocks };
}

/** The form with the typed values, all but the `secrets`. */
export function refill(view: ModalView, values: Values, secrets: readonly string[]): ModalView {
  const blocks = view.blocks.map((block): KnownBlock => {
    if (block.type !== 'input' || block.block_id === undefined || secrets.includes(block.block_id))
      return block;
    const value = values[block.block_id];
    return value === undefined || value === '' ? block : { ...block, element: holding(block.element, value) };
  });
  return { ...view, blocks };
}

function holding(element: InputBlock['element'], value: string | string[]): InputBlock['element'] {
  switch (element.type) {
    case 'plain_text_input':
    case 'email_text_input':
    case 'url_text_input':
    case 'number_input':
      return { ...element, initial_value: String(value) };
    case 'static_select':
    case 'radio_buttons': {
      const option = element.options?.find((candidate) => candidate.value === value);
      return option === undefined ? element : { ...element, initial_option: option as PlainTextOption };
    }
    case 'timepicker':
      return { ...element, initial_time: String(value) };
    case 'checkboxes': {
      const chosen = element.options.filter(
        (option) => option.value !== undefined && value.includes(option.value),
      );
      const { initial_options: _, ...empty } = element;
      return chosen.length === 0 ? empty : { ...empty, initial_options: chosen };
    }
    case 'external_select':
      // The form comes back without the text that was shown for the value.
      return { ...element, initial_option: optionOf({ value: String(value), text: String(value) }) };
    default:
      return element;
  }
}

/** The part of a received view that may be sent back. */
export function resendable({
  title,
  blocks,
  callback_id,
  submit,
  close,
  private_metadata,
}: ModalView): ModalView {
  const optional = defined({
    callback_id,
    submit: submit || undefined,
    close: close || undefined,
    private_metadata: private_metadata || undefined,
  });
  return { type: 'modal', title, blocks, ...optional };
}

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
  spec: FieldSpec & { initial?: string; placeholder?: string; multiline?: boolean; maxLength?: number },
): InputBlock {
  const { field, initial, placeholder, multiline, maxLength = LIMITS.inputText } = spec;
  return input(spec, {
    type: 'plain_text_input',
    action_id: field,
    max_length: maxLength,
    ...defined({
      multiline,
      initial_value: initial ? cut(initial, maxLength) : undefined,
      placeholder: placeholder === undefined ? undefined : plainText(placeholder, LIMITS.placeholder),
    }),
  });
}

export function emailInput(spec: FieldSpec & { initial?: string }): InputBlock {
  const optional = defined({ initial_value: spec.initial });
  return input(spec, { type: 'email_text_input', action_id: spec.field, ...optional });
}

/** @param spec `initial` as `09:00` */
export function timeInput(spec: FieldSpec & { initial?: string }): InputBlock {
  const optional = defined({ initial_time: spec.initial });
  return input(spec, { type: 'timepicker', action_id: spec.field, ...optional });
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

/** The select's options, at most as many as Slack takes; callers say how many are left out. */
export function optionsOf(choices: readonly Choice[]): ReturnType<typeof optionOf>[] {
  return choices.slice(0, LIMITS.options).map(optionOf);
}

function optionOf({ value, text, description }: Choice): {
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
