import type { InputBlock, PlainTextOption } from '@slack/types';
import { z } from 'zod';
import { defined } from '../../core/json.ts';
import type { KnownBlock, Message } from '../../core/message.ts';
import { sanitize, truncate } from '../../core/mrkdwn.ts';
import { inPages } from './lists.ts';
import { LIMITS, plainText, say } from './make-blocks.ts';

interface FieldSpec {
  hint?: string | undefined;
  optional?: boolean;
  /** True if Slack sends each change at once, so that the form can be drawn again. */
  dispatch?: boolean;
  initial?: string | readonly string[] | undefined;
}

type Element = InputBlock['element'];

/**
 * An input block. The field's name is its id, so that Slack shows a schema's error under it.
 * @param field the service's name for it: `block_id` and `action_id` alike
 */
export function input(
  field: string,
  label: string,
  { hint, optional, dispatch, initial }: FieldSpec,
  element: Element,
): InputBlock {
  return {
    type: 'input',
    block_id: field,
    label: plainText(label, LIMITS.inputLabel),
    element: { ...(initial?.length ? withValue(element, initial) : element), action_id: field },
    ...(hint !== undefined && { hint: plainText(hint, LIMITS.inputHint) }),
    ...(optional && { optional }),
    ...(dispatch && { dispatch_action: dispatch }),
  };
}

/** Sets the value of an element. Omits a value that Slack would reject. */
export function withValue(element: Element, value: string | readonly string[]): Element {
  const text = String(value);
  switch (element.type) {
    case 'plain_text_input':
      return { ...element, initial_value: truncate(text, element.max_length ?? LIMITS.inputText) };
    case 'email_text_input':
      return { ...element, initial_value: text };
    case 'timepicker':
      return { ...element, initial_time: text };
    case 'conversations_select': {
      const { default_to_current_conversation: _, ...rest } = element;
      return { ...rest, initial_conversation: text };
    }
    case 'static_select':
    case 'radio_buttons': {
      const groups = element.type === 'static_select' ? element.option_groups : undefined;
      const options = groups?.flatMap((group) => group.options) ?? element.options;
      const option = options?.find((candidate) => candidate.value === text);
      return option === undefined ? element : { ...element, initial_option: option as PlainTextOption };
    }
    case 'checkboxes':
    case 'multi_static_select': {
      const options = element.options?.filter((option) => option.value && value.includes(option.value)) ?? [];
      const { initial_options: _, ...empty } = element;
      // Slack rejects an empty list.
      return options.length === 0 ? empty : ({ ...empty, initial_options: options } as Element);
    }
    case 'multi_users_select':
      return { ...element, initial_users: [value].flat() };
    case 'multi_external_select': {
      const fitting = [value].flat().filter((one) => one.length <= LIMITS.optionValue);
      const { initial_options: before = [], ...empty } = element;
      const options = fitting.map(
        (one) => before.find((option) => option.value === one) ?? createOption({ value: one, text: one }),
      );
      return options.length === 0 ? empty : { ...empty, initial_options: options.slice(0, LIMITS.options) };
    }
    case 'external_select':
      // A submitted form has only the value of an option, not its text.
      return text.length > LIMITS.optionValue
        ? element
        : { ...element, initial_option: createOption({ value: text, text }) };
    default:
      return element;
  }
}

export function textInput(
  field: string,
  label: string,
  spec: FieldSpec & { placeholder?: string; maxLength?: number } = {},
): InputBlock {
  const { placeholder, maxLength = LIMITS.inputText } = spec;
  const optional =
    placeholder === undefined ? {} : { placeholder: plainText(placeholder, LIMITS.placeholder) };
  return input(field, label, spec, { type: 'plain_text_input', max_length: maxLength, ...optional });
}

export function emailInput(spec: FieldSpec): InputBlock {
  return input('email', 'E-mail address', spec, { type: 'email_text_input' });
}

export interface Choice {
  value: string;
  text: string;
  description?: string;
}

type ChoiceSpec = FieldSpec & { choices: readonly Choice[] };

/** @param type a menu, or a list of all choices, of which Slack takes ten */
export function selectInput(
  field: string,
  label: string,
  spec: ChoiceSpec,
  type: 'static_select' | 'radio_buttons' = 'static_select',
): InputBlock {
  const element =
    type === 'static_select'
      ? { type, ...menuOptions(spec.choices) }
      : { type, options: createOptions(spec.choices) };
  return input(field, label, spec, element);
}

/** Slack takes 100 options, or 100 groups of options. */
function menuOptions(choices: readonly Choice[]) {
  if (choices.length <= LIMITS.options) return { options: createOptions(choices) };
  const groups = inPages(withDistinctTexts(choices), { most: LIMITS.options }).slice(0, LIMITS.options);
  return {
    option_groups: groups.map((group, at) => {
      const first = at * LIMITS.options;
      return {
        label: plainText(`${first + 1} to ${first + group.length}`, LIMITS.optionText),
        options: createOptions(group),
      };
    }),
  };
}

/** A menu of the person's conversations. Slack preselects the current one. */
export function conversationInput(field: string, label: string, spec: FieldSpec): InputBlock {
  return input(field, label, spec, {
    type: 'conversations_select',
    filter: { include: ['public', 'private', 'im', 'mpim'], exclude_bot_users: true },
    default_to_current_conversation: true,
  });
}

/** A menu of channels that the person is in, without direct messages. */
export function channelInput(field: string, label: string, spec: FieldSpec): InputBlock {
  return input(field, label, spec, {
    type: 'conversations_select',
    filter: { include: ['public', 'private'], exclude_bot_users: true },
  });
}

/**
 * A menu whose options Deckhand looks up while the person types, from the source registered under the field's
 * name. Omits an initial choice that Slack would reject.
 */
export function searchInput(
  field: string,
  label: string,
  {
    initial,
    placeholder,
    ...spec
  }: Omit<FieldSpec, 'initial'> & {
    placeholder: string;
    initial?: Choice | undefined;
  },
): InputBlock {
  const isFitting = initial?.value && initial.value.length <= LIMITS.optionValue;
  return input(field, label, spec, {
    type: 'external_select',
    min_query_length: 0,
    placeholder: plainText(placeholder, LIMITS.placeholder),
    ...(isFitting ? { initial_option: createOption(initial) } : {}),
  });
}

/** Like `searchInput`, for several choices or none. */
export function multiSearchInput(
  field: string,
  label: string,
  {
    initial,
    placeholder,
    ...spec
  }: Omit<FieldSpec, 'initial'> & { placeholder: string; initial: readonly Choice[] },
): InputBlock {
  const fitting = initial.filter(({ value }) => value !== '' && value.length <= LIMITS.optionValue);
  return input(
    field,
    label,
    { ...spec, optional: true },
    {
      type: 'multi_external_select',
      min_query_length: 0,
      placeholder: plainText(placeholder, LIMITS.placeholder),
      ...(fitting.length > 0 ? { initial_options: createOptions(fitting) } : {}),
    },
  );
}

export function checkboxesInput(field: string, label: string, spec: ChoiceSpec): InputBlock {
  const options = createOptions(spec.choices.slice(0, LIMITS.checkboxes));
  return input(field, label, spec, { type: 'checkboxes', options });
}

/** A menu for several choices or none. */
export function multiSelectInput(field: string, label: string, spec: ChoiceSpec): InputBlock {
  const options = createOptions(spec.choices);
  return input(field, label, { ...spec, optional: true }, { type: 'multi_static_select', options });
}

/** The options of a select, at most as many as Slack takes. Callers tell people how many are missing. */
export function createOptions(choices: readonly Choice[]): ReturnType<typeof createOption>[] {
  return withDistinctTexts(choices).slice(0, LIMITS.options).map(createOption);
}

/** Adds to equal texts what tells them apart: a description that differs, else the value. */
function withDistinctTexts(choices: readonly Choice[]): Choice[] {
  const groups = Map.groupBy(choices, showChoice);
  if (groups.size === choices.length) return [...choices];
  return choices.map((choice) => {
    const equals = groups.get(showChoice(choice)) ?? [];
    if (equals.length < 2) return choice;
    const descriptions = new Set(equals.map(({ description = '' }) => description));
    const isTold = descriptions.size === equals.length && !descriptions.has('');
    const difference = sanitize(isTold ? (choice.description ?? '') : choice.value, MAX_DIFFERENCE);
    const text = sanitize(choice.text, LIMITS.optionText - difference.length - 3);
    return { ...choice, text: `${text} (${difference})` };
  });
}

function showChoice({ text }: Choice): string {
  return sanitize(text, LIMITS.optionText).trim();
}

/** Leaves room for the name in an option of 75 characters. */
const MAX_DIFFERENCE = 40;

/** An option. A text that shows nothing is replaced by the value. */
function createOption({ value, text, description }: Choice) {
  const about = description === undefined ? undefined : plainText(description, LIMITS.optionDescription);
  return {
    text: plainText(sanitize(text, LIMITS.optionText) || value, LIMITS.optionText),
    value,
    ...defined({ description: about }),
  };
}

/** The subject of a menu in a message, kept in its `block_id`, so that a choice works after a restart. */
const StoredTarget = z.object({
  account: z.string().optional(),
  /** Permalink. */
  project: z.string().optional(),
  /** The command of `MenuTarget`. Messages of earlier releases have it by this name. */
  run: z.string().optional(),
  thread: z.string().optional(),
  /** A page of the service. */
  url: z.string().optional(),
});

export interface MenuTarget extends Omit<z.infer<typeof StoredTarget>, 'run'> {
  /** The typed command, which the choice completes. */
  command?: string | undefined;
}

const PREFIX = 'about ';

/** The `block_id` that returns the target with a choice; undefined if it exceeds Slack's limit. */
export function targetId({ account, project, command: run, thread, url }: MenuTarget): string | undefined {
  const id = PREFIX + JSON.stringify({ account, project, run, thread, url });
  return id.length > LIMITS.blockId ? undefined : id;
}

/** Reads the target from a menu's `block_id`; undefined for any other block. */
export function menuTarget(blockId: string): MenuTarget | undefined {
  if (!blockId.startsWith(PREFIX)) return undefined;
  const stored = StoredTarget.safeParse(JSON.parse(blockId.slice(PREFIX.length))).data;
  if (stored === undefined) return undefined;
  const { run: command, ...target } = stored;
  return { ...target, ...defined({ command }) };
}

/** A menu in a message. Without `choices`, it searches while the person types. Empty if its target is too long. */
export function menu(spec: {
  actionId: string;
  placeholder: string;
  target?: MenuTarget;
  choices?: readonly Choice[] | undefined;
}): KnownBlock[] {
  const { actionId, placeholder, target, choices } = spec;
  const blockId = target && targetId(target);
  if (target !== undefined && blockId === undefined) return [];
  const kind = choices
    ? { type: 'static_select' as const, options: createOptions(choices) }
    : { type: 'external_select' as const, min_query_length: 0 };
  const element = { ...kind, action_id: actionId, placeholder: plainText(placeholder, LIMITS.placeholder) };
  return [{ type: 'actions', ...defined({ block_id: blockId }), elements: [element] }];
}

/** Asks for a server. The choice runs the typed command again. `text` is escaped mrkdwn. */
export function chooseServerMessage(text: string, target: MenuTarget): Message {
  return say(text, ...menu({ actionId: 'server', placeholder: 'Choose a server', target }));
}
