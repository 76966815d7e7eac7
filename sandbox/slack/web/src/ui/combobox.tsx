import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { TextWithEmoji } from '../emoji/emoji.tsx';
import { type Choice, filterChoices } from './combobox-choices.ts';
import { ComboboxList } from './combobox-list.tsx';
import { Icon, IconButton } from './icon.tsx';
import { Popover } from './popover.tsx';

export interface ComboboxProps {
  /** id, aria-label and the like, for the text field itself. */
  attributes: Record<string, unknown>;
  choices: Choice[];
  selected: Choice[];
  multi: boolean;
  placeholder: string;
  disabled: boolean;
  /** Set where someone else searches: then `choices` are shown as they come. */
  onQuery?: (query: string) => void;
  /** Shown instead of choices: "Searching…", "Nothing found". */
  note?: string | undefined;
  onSelect: (choices: Choice[]) => void;
}

/** A select one can type into: arrows move, Enter takes, Escape closes, Backspace takes the last one off. */
export function Combobox(props: ComboboxProps): ReactNode {
  const { choices, selected, multi, placeholder, disabled, onQuery, note, onSelect } = props;
  const listId = useId();
  const anchor = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(false);
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const shown = onQuery === undefined ? filterChoices(choices, query) : choices;
  const single = multi ? undefined : selected[0];

  const search = (text: string): void => {
    setQuery(text);
    setActive(0);
    onQuery?.(text);
  };
  const show = (): void => {
    if (open || disabled) return;
    search('');
    setActive(Math.max(0, single ? choices.findIndex(({ value }) => value === single.value) : 0));
    setOpen(true);
  };
  const close = (): void => {
    setOpen(false);
    setQuery('');
  };
  const take = (choice: Choice): void => {
    onSelect(multi ? toggle(selected, choice) : [choice]);
    if (multi) search('');
    else close();
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const handled = handleKey(event, {
      open,
      shown,
      active,
      query,
      selected,
      multi,
      show,
      close,
      take,
      setActive,
      onSelect,
    });
    if (!handled) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={anchor} className={`combobox${disabled ? ' disabled' : ''}`}>
      {multi &&
        selected.map((choice) => (
          <Chip key={choice.value} choice={choice} onRemove={() => onSelect(toggle(selected, choice))} />
        ))}
      <input
        {...props.attributes}
        ref={input}
        role="combobox"
        aria-expanded={open}
        aria-controls={open ? listId : undefined}
        aria-autocomplete="list"
        aria-activedescendant={open && shown[active] ? `${listId}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        disabled={disabled}
        placeholder={
          (single?.text ?? (multi && selected.length > 0 ? undefined : placeholder)) || placeholder
        }
        className={single && !open ? 'has-value' : undefined}
        value={open ? query : (single?.text ?? '')}
        onChange={({ target }) => {
          if (!open) show();
          search(target.value);
        }}
        onClick={show}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
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

function Chip({ choice, onRemove }: { choice: Choice; onRemove: () => void }): ReactNode {
  return (
    <span className="chip">
      <TextWithEmoji text={choice.text} />
      <IconButton icon="x" label={`Remove ${choice.text}`} onClick={onRemove} />
    </span>
  );
}

function toggle(selected: Choice[], choice: Choice): Choice[] {
  const rest = selected.filter(({ value }) => value !== choice.value);
  return rest.length === selected.length ? [...selected, choice] : rest;
}

interface KeyState {
  open: boolean;
  shown: Choice[];
  active: number;
  query: string;
  selected: Choice[];
  multi: boolean;
  show: () => void;
  close: () => void;
  take: (choice: Choice) => void;
  setActive: (active: number) => void;
  onSelect: (choices: Choice[]) => void;
}

/** @returns whether the key was the combobox's own */
function handleKey(event: KeyboardEvent, state: KeyState): boolean {
  const { open, query, selected, multi, onSelect } = state;
  if (event.key === 'Backspace' && multi && query === '' && selected.length > 0) {
    onSelect(selected.slice(0, -1));
    return true;
  }
  if (open) return handleOpenKey(event.key, state);
  if (!['ArrowDown', 'ArrowUp', 'Enter', ' '].includes(event.key)) return false;
  state.show();
  return true;
}

function handleOpenKey(key: string, { shown, active, close, take, setActive }: KeyState): boolean {
  const choice = shown[active];
  if (key === 'ArrowDown') setActive(Math.min(active + 1, shown.length - 1));
  else if (key === 'ArrowUp') setActive(Math.max(active - 1, 0));
  else if (key === 'Enter' && choice !== undefined) take(choice);
  else if (key === 'Escape') close();
  else return key === 'Enter';
  return true;
}
