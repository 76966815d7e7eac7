import type { InputBlock, PlainTextOption } from '@slack/types';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { cut, mrkdwn, plain } from '../../core/mrkdwn.ts';
import { LIMITS } from './limits.ts';
import { section } from './message.ts';
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

const BANNER = 'banner';

export function modal(spec: ModalSpec): ModalView {
  return {
    type: 'modal',
    callback_id: spec.callbackId,
    title: { type: 'plain_text', text: plain(spec.title, LIMITS.viewTitle) },
    ...(spec.submit === undefined
      ? {}
      : { submit: { type: 'plain_text', text: plain(spec.submit, LIMITS.viewButton) } }),
    close: { type: 'plain_text', text: plain(spec.close ?? 'Cancel', LIMITS.viewButton) },
    ...(spec.metadata === undefined ? {} : { private_metadata: JSON.stringify(spec.metadata) }),
    blocks: spec.blocks.slice(0, LIMITS.blocksInView),
  };
}

/** A modal without a form, for what is going on or was done. `text` is mrkdwn, escaped. */
export function notice(title: string, text: string, ...more: KnownBlock[]): ModalView {
  return modal({ callbackId: 'notice', title, close: 'Close', blocks: [section(text), ...more] });
}

/** A message, shown in a modal. */
export function noticeOf(title: string, { blocks }: Message): ModalView {
  return modal({ callbackId: 'notice', title, close: 'Close', blocks });
}

/** The same modal with a message on top; what the person typed stays, because the blocks keep their ids. */
export function withBanner(view: ModalView, text: string): ModalView {
  const blocks = view.blocks.filter((block) => block.block_id !== BANNER);
  return { ...view, blocks: [{ ...section(`:warning: ${text}`), block_id: BANNER }, ...blocks] };
}

/** Puts each message, plain text, right under its field, for a modal that is updated after its answer came late. */
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

/** The form with what was typed put back, all but the `secrets`. */
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
      // What was shown for the value is not told when the form comes back.
      return { ...element, initial_option: optionOf({ value: String(value), text: String(value) }) };
    default:
      return element;
  }
}

/** The part of a received view that may be sent back. */
export function resendable(view: ModalView): ModalView {
  return {
    type: 'modal',
    title: view.title,
    blocks: view.blocks,
    ...(view.callback_id === undefined ? {} : { callback_id: view.callback_id }),
    ...(view.submit ? { submit: view.submit } : {}),
    ...(view.close ? { close: view.close } : {}),
    ...(view.private_metadata ? { private_metadata: view.private_metadata } : {}),
  };
}

interface FieldSpec {
  /** The spec's field name: `block_id` and `action_id` alike. */
  field: string;
  label: string;
  hint?: string;
  optional?: boolean;
}

export function textInput(
  spec: FieldSpec & { initial?: string; placeholder?: string; multiline?: boolean; maxLength?: number },
): InputBlock {
  const longest = spec.maxLength ?? LIMITS.inputText;
  return input(spec, {
    type: 'plain_text_input',
    action_id: spec.field,
    max_length: longest,
    ...(spec.multiline ? { multiline: true } : {}),
    ...(spec.initial === undefined || spec.initial === ''
      ? {}
      : { initial_value: cut(spec.initial, longest) }),
    ...(spec.placeholder === undefined
      ? {}
      : { placeholder: { type: 'plain_text', text: plain(spec.placeholder, LIMITS.placeholder) } }),
  });
}

export function emailInput(spec: FieldSpec & { initial?: string }): InputBlock {
  return input(spec, {
    type: 'email_text_input',
    action_id: spec.field,
    ...(spec.initial === undefined ? {} : { initial_value: spec.initial }),
  });
}

/** @param spec `initial` as `09:00` */
export function timeInput(spec: FieldSpec & { initial?: string; dispatch?: boolean }): InputBlock {
  return {
    ...input(spec, {
      type: 'timepicker',
      action_id: spec.field,
      ...(spec.initial === undefined ? {} : { initial_time: spec.initial }),
    }),
    ...(spec.dispatch ? { dispatch_action: true } : {}),
  };
}

export interface Choice {
  value: string;
  text: string;
  description?: string;
}

export function selectInput(
  spec: FieldSpec & { choices: readonly Choice[]; initial?: string; dispatch?: boolean },
): InputBlock {
  const initial = spec.choices.find((choice) => choice.value === spec.initial);
  return {
    ...input(spec, {
      type: 'static_select',
      action_id: spec.field,
      options: optionsOf(spec.choices),
      ...(initial === undefined ? {} : { initial_option: optionOf(initial) }),
    }),
    ...(spec.dispatch ? { dispatch_action: true } : {}),
  };
}

/** A menu of the conversations that the person is in; Slack chooses the one they are in now, where there is one. */
export function conversationInput(spec: FieldSpec & { initial?: string | undefined }): InputBlock {
  return input(spec, {
    type: 'conversations_select',
    action_id: spec.field,
    filter: { include: ['public', 'private', 'im', 'mpim'], exclude_bot_users: true },
    ...(spec.initial === undefined
      ? { default_to_current_conversation: true }
      : { initial_conversation: spec.initial }),
  });
}

/** A menu whose options are looked up while the person types; its source is registered under the field's name. */
export function searchInput(
  spec: FieldSpec & { placeholder: string; initial?: Choice | undefined; dispatch?: boolean },
): InputBlock {
  return {
    ...input(spec, {
      type: 'external_select',
      action_id: spec.field,
      min_query_length: 0,
      placeholder: { type: 'plain_text', text: plain(spec.placeholder, LIMITS.placeholder) },
      ...(spec.initial === undefined ? {} : { initial_option: optionOf(spec.initial) }),
    }),
    ...(spec.dispatch ? { dispatch_action: true } : {}),
  };
}

export function checkboxesInput(
  spec: FieldSpec & { choices: readonly Choice[]; initial?: readonly string[] },
): InputBlock {
  const initial = spec.choices.filter((choice) => spec.initial?.includes(choice.value));
  return input(spec, {
    type: 'checkboxes',
    action_id: spec.field,
    options: spec.choices.slice(0, LIMITS.checkboxes).map(optionOf),
    ...(initial.length === 0 ? {} : { initial_options: initial.map(optionOf) }),
  });
}

/** The select's options, at most as many as Slack takes; callers tell of the rest. */
export function optionsOf(choices: readonly Choice[]): ReturnType<typeof optionOf>[] {
  return choices.slice(0, LIMITS.options).map(optionOf);
}

function optionOf(choice: Choice): {
  text: { type: 'plain_text'; text: string };
  value: string;
  description?: { type: 'plain_text'; text: string };
} {
  return {
    text: { type: 'plain_text', text: plain(choice.text, LIMITS.optionText) },
    value: choice.value,
    ...(choice.description === undefined
      ? {}
      : { description: { type: 'plain_text', text: plain(choice.description, LIMITS.optionDescription) } }),
  };
}

function input(spec: FieldSpec, element: InputBlock['element']): InputBlock {
  return {
    type: 'input',
    block_id: spec.field,
    label: { type: 'plain_text', text: plain(spec.label, LIMITS.inputLabel) },
    element,
    ...(spec.hint === undefined
      ? {}
      : { hint: { type: 'plain_text', text: plain(spec.hint, LIMITS.inputHint) } }),
    ...(spec.optional ? { optional: true } : {}),
  };
}
