import type { Checkboxes, Option, RadioButtons } from '@slack/types';
import { type ReactNode, useId } from 'react';
import { Text } from '../mrkdwn/text.tsx';
import { type ElementProps, useElement } from './use-element.ts';

export function CheckboxesElement(props: ElementProps<Checkboxes>): ReactNode {
  const { value, set } = useElement(props);
  const selected = (value.selected_options ?? []) as Option[];
  const toggle = (option: Option, on: boolean): void => {
    const next = props.element.options.filter((one) => {
      return one.value === option.value ? on : selected.some((kept) => kept.value === one.value);
    });
    set({ selected_options: next });
  };
  return (
    <ChoiceList
      {...props}
      type="checkbox"
      isSelected={(option) => selected.some((one) => one.value === option.value)}
      onChange={toggle}
    />
  );
}

export function RadioButtonsElement(props: ElementProps<RadioButtons>): ReactNode {
  const { value, set } = useElement(props);
  const selected = value.selected_option as Option | null | undefined;
  return (
    <ChoiceList
      {...props}
      type="radio"
      isSelected={(option) => selected?.value === option.value}
      onChange={(option) => set({ selected_option: option })}
    />
  );
}

interface ChoiceListProps extends ElementProps<Checkboxes | RadioButtons> {
  type: 'checkbox' | 'radio';
  isSelected: (option: Option) => boolean;
  onChange: (option: Option, on: boolean) => void;
}

function ChoiceList({ element, field, type, isSelected, onChange }: ChoiceListProps): ReactNode {
  const id = useId();
  return (
    <fieldset
      className="choices"
      aria-labelledby={field?.labelId}
      aria-label={field ? undefined : 'Choices'}
      aria-describedby={field?.describedBy}
    >
      {element.options.map((option, index) => (
        <label key={option.value ?? index} className="choice">
          <input
            type={type}
            name={id}
            value={option.value ?? ''}
            checked={isSelected(option)}
            aria-describedby={option.description ? `${id}-${index}` : undefined}
            onChange={(event) => onChange(option, event.target.checked)}
          />
          <span className="choice-text">
            <Text text={option.text} />
            {option.description && (
              <span id={`${id}-${index}`} className="choice-description">
                <Text text={option.description} />
              </span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
