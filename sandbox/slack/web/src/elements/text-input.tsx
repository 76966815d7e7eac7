import type { EmailInput, NumberInput, PlainTextInput, URLInput } from '@slack/types';
import type { KeyboardEvent, ReactNode } from 'react';
import { type ElementProps, fieldAttributes, useElement } from './use-element.ts';

type TextElement = PlainTextInput | EmailInput | URLInput | NumberInput;

const inputTypes = {
  plain_text_input: 'text',
  email_text_input: 'email',
  url_text_input: 'url',
  number_input: 'text',
} as const;

/** One line or many; sends on Enter or on every character where the app asked for that. */
export function TextInputElement(props: ElementProps<TextElement>): ReactNode {
  const { element, field } = props;
  const { value, keep, set } = useElement(props);
  const on = element.dispatch_action_config?.trigger_actions_on ?? ['on_enter_pressed'];
  const text = typeof value.value === 'string' ? value.value : '';
  const multiline = element.type === 'plain_text_input' && element.multiline === true;
  const attributes = {
    ...fieldAttributes(field, element.placeholder?.text ?? 'Text'),
    dir: 'auto',
    value: text,
    placeholder: element.placeholder?.text,
    maxLength: element.type === 'plain_text_input' ? element.max_length : undefined,
    'data-focus-on-load': element.focus_on_load ? '' : undefined,
    onChange: ({ target }: { target: { value: string } }) => {
      const next = { value: target.value === '' ? null : target.value };
      if (field?.dispatch && on.includes('on_character_entered')) set(next);
      else keep(next);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || event.shiftKey || multiline || !field?.dispatch) return;
      event.preventDefault();
      if (on.includes('on_enter_pressed')) set({ value: text === '' ? null : text });
    },
  };
  if (multiline) return <textarea {...attributes} className="input" rows={4} />;
  return (
    <input
      {...attributes}
      className="input"
      type={inputTypes[element.type]}
      inputMode={element.type === 'number_input' ? numberMode(element) : undefined}
      autoComplete="off"
      spellCheck={false}
    />
  );
}

function numberMode(element: NumberInput): 'decimal' | 'numeric' {
  return element.is_decimal_allowed ? 'decimal' : 'numeric';
}
