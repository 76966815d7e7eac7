import { type ReactNode, useEffect, useRef } from 'react';
import { TextWithEmoji } from '../emoji/emoji.tsx';
import { type Choice, groupChoices } from './combobox-choices.ts';
import { Icon } from './icon.tsx';

interface ListProps {
  id: string;
  choices: Choice[];
  selected: Choice[];
  active: number;
  note: string | undefined;
  onTake: (choice: Choice) => void;
}

export function ComboboxList({ id, choices, selected, active, note, onTake }: ListProps): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    ref.current?.querySelector(`[id="${id}-${active}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);
  const position = new Map(choices.map((choice, index) => [choice, index]));
  return (
    <>
      {(note !== undefined || choices.length === 0) && (
        <div className="combobox-note" role="status">
          {note ?? 'Nothing found'}
        </div>
      )}
      <div ref={ref} role="listbox" id={id} aria-label="Choices" className="listbox">
        {groupChoices(choices).map(([group, members]) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options in a listbox has no element of its own
          <div key={group} role="group" aria-label={group || undefined}>
            {group !== '' && <div className="listbox-group">{group}</div>}
            {members.map((choice) => {
              const index = position.get(choice) ?? 0;
              const isSelected = selected.some(({ value }) => value === choice.value);
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the text field that owns the list has the keys
                <div
                  key={choice.value}
                  id={`${id}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={isSelected}
                  className={`option${index === active ? ' active' : ''}`}
                  // Keeps the focus in the text field.
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => onTake(choice)}
                >
                  {choice.icon && <Icon name={choice.icon} />}
                  <span className="option-text">
                    <TextWithEmoji text={choice.text} />
                    {choice.description && <span className="option-description">{choice.description}</span>}
                  </span>
                  {isSelected && <Icon name="check" className="option-check" />}
                </div>
              );
            })}
          </div>
        ))}
      </div>
    </>
  );
}
