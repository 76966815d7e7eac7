import { type ReactNode, useId, useRef } from 'react';
import { TextWithEmoji } from '../emoji/emoji.tsx';
import type { Choice } from './combobox-choices.ts';
import { ComboboxList } from './combobox-list.tsx';
import { Icon, IconButton } from './icon.tsx';
import { Popover } from './popover.tsx';
import { type ComboboxModel, toggleChoice, useCombobox } from './use-combobox.ts';

interface ComboboxProps extends ComboboxModel {
  /** id, aria-label and the like, for the text field itself. */
  attributes: Record<string, unknown>;
  placeholder: string;
  /** Whether a choice may be taken back. */
  clearable: boolean;
  /** Shown instead of choices: "Searching…", "Nothing found". */
  note?: string | undefined;
}

/** A select one can type into: arrows move, Enter takes, Escape closes, Backspace takes the last one off. */
export function Combobox({ attributes, placeholder, clearable, note, ...model }: ComboboxProps): ReactNode {
  const { selected, multi, onSelect } = model;
  const listId = useId();
  const anchor = useRef<HTMLDivElement>(null);
  const { open, query, active, shown, show, close, search, take, onKeyDown } = useCombobox(model);
  const single = multi ? undefined : selected[0];
  const hint = multi && selected.length > 0 ? '' : placeholder;
  return (
    <div ref={anchor} className="combobox">
      {multi &&
        selected.map((choice) => (
          <Chip
            key={choice.value}
            choice={choice}
            onRemove={() => onSelect(toggleChoice(selected, choice))}
          />
        ))}
      <input
        {...attributes}
        role="combobox"
        aria-expanded={open}
        aria-controls={open ? listId : undefined}
        aria-autocomplete="list"
        aria-activedescendant={open && shown[active] ? `${listId}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={single?.text ?? hint}
        value={open ? query : (single?.text ?? '')}
        onChange={({ target }) => search(open ? target.value : typedAfter(single?.text ?? '', target.value))}
        onClick={show}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      {single && clearable && <IconButton icon="x" label="Clear selection" onClick={() => onSelect([])} />}
      <Icon name="chevron-down" className="combobox-arrow" />
      {open && (
        <Popover anchor={anchor} onClose={close} wide className="combobox-popover">
          <ComboboxList
            id={listId}
            choices={shown}
            selected={selected}
            active={active}
            note={note}
            onTake={take}
          />
        </Popover>
      )}
    </div>
  );
}

/** Typing begins a search of its own, and does not go on with the choice that stands in the field. */
function typedAfter(shown: string, value: string): string {
  return value.startsWith(shown) ? value.slice(shown.length) : value;
}

function Chip({ choice, onRemove }: { choice: Choice; onRemove: () => void }): ReactNode {
  return (
    <span className="chip">
      <TextWithEmoji text={choice.text} />
      <IconButton icon="x" label={`Remove ${choice.text}`} onClick={onRemove} />
    </span>
  );
}
