import type {
  Button,
  Checkboxes,
  Datepicker,
  DateTimepicker,
  EmailInput,
  FileInput,
  ImageElement as ImageData,
  MultiSelect,
  NumberInput,
  Overflow,
  PlainTextInput,
  RadioButtons,
  RichTextInput,
  Select,
  Timepicker,
  URLInput,
  WorkflowButton,
} from '@slack/types';
import type { ReactNode } from 'react';
import { ButtonElement } from './button.tsx';
import { CheckboxesElement, RadioButtonsElement } from './choice-list.tsx';
import { DatepickerElement, DateTimepickerElement, TimepickerElement } from './date-time.tsx';
import { ImageElement } from './image.tsx';
import { ExternalSelectElement, StaticSelectElement } from './option-select.tsx';
import { OverflowElement } from './overflow.tsx';
import { PeopleSelectElement } from './people-select.tsx';
import { RichTextInputElement } from './rich-text-input.tsx';
import { TextInputElement } from './text-input.tsx';
import type { ElementProps } from './use-element.ts';

type KnownElement =
  | Button
  | Checkboxes
  | Datepicker
  | DateTimepicker
  | EmailInput
  | FileInput
  | ImageData
  | MultiSelect
  | NumberInput
  | Overflow
  | PlainTextInput
  | RadioButtons
  | RichTextInput
  | Select
  | Timepicker
  | URLInput
  | WorkflowButton;

/** Draws any element; one this page does not know says so instead of vanishing. */
export function Element({ element, ...rest }: ElementProps<KnownElement>): ReactNode {
  switch (element.type) {
    case 'button':
    case 'workflow_button':
      return <ButtonElement element={element} {...rest} />;
    case 'overflow':
      return <OverflowElement element={element} {...rest} />;
    case 'static_select':
    case 'multi_static_select':
      return <StaticSelectElement element={element} {...rest} />;
    case 'external_select':
    case 'multi_external_select':
      return <ExternalSelectElement element={element} {...rest} />;
    case 'users_select':
    case 'multi_users_select':
    case 'conversations_select':
    case 'multi_conversations_select':
    case 'channels_select':
    case 'multi_channels_select':
      return <PeopleSelectElement element={element} {...rest} />;
    case 'checkboxes':
      return <CheckboxesElement element={element} {...rest} />;
    case 'radio_buttons':
      return <RadioButtonsElement element={element} {...rest} />;
    default:
      return <InputElement element={element} {...rest} />;
  }
}

type InputKind = Exclude<
  KnownElement,
  Button | WorkflowButton | Overflow | Select | MultiSelect | Checkboxes | RadioButtons
>;

function InputElement({ element, ...rest }: ElementProps<InputKind>): ReactNode {
  switch (element.type) {
    case 'plain_text_input':
    case 'email_text_input':
    case 'url_text_input':
    case 'number_input':
      return <TextInputElement element={element} {...rest} />;
    case 'rich_text_input':
      return <RichTextInputElement element={element} {...rest} />;
    case 'datepicker':
      return <DatepickerElement element={element} {...rest} />;
    case 'timepicker':
      return <TimepickerElement element={element} {...rest} />;
    case 'datetimepicker':
      return <DateTimepickerElement element={element} {...rest} />;
    case 'image':
      return <ImageElement element={element} />;
    default:
      return <UnknownElement type={element.type} />;
  }
}

function UnknownElement({ type }: { type: string }): ReactNode {
  return <span className="unknown">This page does not draw “{type}”.</span>;
}
