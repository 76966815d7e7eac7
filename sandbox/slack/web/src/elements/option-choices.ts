import type { Option } from '@slack/types';
import type { OptionList } from '../state/surface.ts';
import type { Choice } from '../ui/combobox-choices.ts';

export function optionChoice(option: Option, group?: string): Choice {
  return {
    value: option.value ?? '',
    text: option.text.text,
    ...(option.description && { description: option.description.text }),
    ...(group !== undefined && { group }),
  };
}

export function listChoices({ options, option_groups }: OptionList): Choice[] {
  const grouped = (option_groups ?? []).flatMap(({ label, options: members }) => {
    return members.map((option) => optionChoice(option, label.text));
  });
  return [...grouped, ...(options ?? []).map((option) => optionChoice(option))];
}

export function allOptions({ options, option_groups }: OptionList): Option[] {
  return [...(option_groups ?? []).flatMap((group) => group.options), ...(options ?? [])];
}
