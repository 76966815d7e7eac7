import { type KeyboardEvent, useState } from 'react';
import { type Choice, filterChoices } from './combobox-choices.ts';

export interface ComboboxModel {
  choices: Choice[];
  selected: Choice[];
  multi: boolean;
  /** Set where someone else searches: then `choices` are shown as they come. */
  onQuery?: (query: string) => void;
  onSelect: (choices: Choice[]) => void;
}

/** What a combobox does, apart from how it looks. */
export interface ComboboxState {
  open: boolean;
  query: string;
  /** The place of the choice that Enter takes. */
  active: number;
  shown: Choice[];
  show: () => void;
  close: () => void;
  search: (text: string) => void;
  take: (choice: Choice) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

export function useCombobox({ choices, selected, multi, onQuery, onSelect }: ComboboxModel): ComboboxState {
  const [open, setOpen] = useState(false);
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const shown = onQuery === undefined ? filterChoices(choices, query) : choices;
  const search = (text: string): void => {
    setOpen(true);
    setQuery(text);
    setActive(0);
    onQuery?.(text);
  };
  const show = (): void => {
    if (open) return;
    search('');
    const current = multi ? -1 : choices.findIndex(({ value }) => value === selected[0]?.value);
    setActive(Math.max(0, current));
  };
  const close = (): void => {
    setOpen(false);
    setQuery('');
  };
  const take = (choice: Choice): void => {
    onSelect(multi ? toggleChoice(selected, choice) : [choice]);
    if (multi) search('');
    else close();
  };
  const step = (by: number): void => setActive(Math.max(0, Math.min(shown.length - 1, active + by)));
  const acts: Record<KeyAct, () => void> = {
    show,
    close,
    remove: () => onSelect(selected.slice(0, -1)),
    take: () => shown.slice(active, active + 1).forEach(take),
    down: () => step(1),
    up: () => step(-1),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = keyAct(event.key, { open, canRemove: multi && query === '' && selected.length > 0 });
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    acts[act]();
  };
  return { open, query, active, shown, show, close, search, take, onKeyDown };
}

export function toggleChoice(selected: Choice[], choice: Choice): Choice[] {
  const rest = selected.filter(({ value }) => value !== choice.value);
  return rest.length === selected.length ? [...selected, choice] : rest;
}

type KeyAct = 'show' | 'close' | 'take' | 'down' | 'up' | 'remove';

const openKeys: Readonly<Record<string, KeyAct>> = {
  ArrowDown: 'down',
  ArrowUp: 'up',
  Enter: 'take',
  Escape: 'close',
};

function keyAct(key: string, { open, canRemove }: { open: boolean; canRemove: boolean }): KeyAct | undefined {
  if (key === 'Backspace' && canRemove) return 'remove';
  if (open) return openKeys[key];
  return ['ArrowDown', 'ArrowUp', 'Enter', ' '].includes(key) ? 'show' : undefined;
}
