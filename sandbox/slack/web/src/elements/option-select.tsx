import type {
  ExternalSelect,
  MultiExternalSelect,
  MultiStaticSelect,
  Option,
  StaticSelect,
} from '@slack/types';
import { type ReactNode, useRef, useState } from 'react';
import { type OptionList, useSurface } from '../state/surface.ts';
import { Combobox } from '../ui/combobox.tsx';
import { allOptions, listChoices, optionChoice } from './option-choices.ts';
import { type ElementProps, fieldAttributes, useElement } from './use-element.ts';

type OptionSelect = StaticSelect | MultiStaticSelect | ExternalSelect | MultiExternalSelect;

/** How long typing must rest before the app is asked, in milliseconds. */
const SEARCH_REST_MS = 200;
const DEFAULT_MIN_QUERY = 3;

export function StaticSelectElement(props: ElementProps<StaticSelect | MultiStaticSelect>): ReactNode {
  return <OptionSelectBox {...props} list={props.element} />;
}

export function ExternalSelectElement(props: ElementProps<ExternalSelect | MultiExternalSelect>): ReactNode {
  const { list, note, search } = useOptionSearch(props);
  return <OptionSelectBox {...props} list={list} note={note} onQuery={search} />;
}

interface BoxProps extends ElementProps<OptionSelect> {
  list: OptionList;
  note?: string | undefined;
  onQuery?: (query: string) => void;
}

function OptionSelectBox({ list, note, onQuery, ...props }: BoxProps): ReactNode {
  const { element, field } = props;
  const { value, set } = useElement(props);
  const multi = element.type.startsWith('multi_');
  const selected = multi
    ? ((value.selected_options ?? []) as Option[])
    : [value.selected_option as Option | null].filter((option) => option != null);
  const placeholder = element.placeholder?.text ?? (multi ? 'Select options' : 'Select an option');
  return (
    <Combobox
      attributes={{
        ...fieldAttributes(field, placeholder),
        'data-focus-on-load': element.focus_on_load ? '' : undefined,
      }}
      choices={listChoices(list)}
      selected={selected.map((option) => optionChoice(option))}
      multi={multi}
      placeholder={placeholder}
      clearable={field !== undefined && !field.required}
      note={note}
      {...(onQuery && { onQuery })}
      onSelect={(choices) => {
        const known = [...allOptions(list), ...selected];
        const taken = choices.flatMap(({ value: id }) => known.find((option) => option.value === id) ?? []);
        const kept = 'max_selected_items' in element ? taken.slice(0, element.max_selected_items) : taken;
        set(multi ? { selected_options: kept } : { selected_option: kept[0] ?? null });
      }}
    />
  );
}

/** Asks the app for options; an answer that a later question has overtaken is dropped. */
function useOptionSearch({ element, blockId }: ElementProps<ExternalSelect | MultiExternalSelect>): {
  list: OptionList;
  note: string | undefined;
  search: (query: string) => void;
} {
  const surface = useSurface();
  const [list, setList] = useState<OptionList>({});
  const [note, setNote] = useState<string>();
  const latest = useRef(0);
  const least = element.min_query_length ?? DEFAULT_MIN_QUERY;
  const ask = async (query: string, turn: number): Promise<void> => {
    const answer = await surface.options(blockId, element.action_id ?? '', query).catch(() => undefined);
    if (turn !== latest.current) return;
    setList(answer ?? {});
    setNote(answer === undefined ? 'The app did not answer' : undefined);
  };
  const search = (query: string): void => {
    latest.current += 1;
    const turn = latest.current;
    if (query.length < least) {
      setList({});
      setNote(`Type ${least === 1 ? 'a character' : `${least} characters`} to search`);
      return;
    }
    setNote('Searching…');
    setTimeout(() => turn === latest.current && void ask(query, turn), query === '' ? 0 : SEARCH_REST_MS);
  };
  return { list, note, search };
}
