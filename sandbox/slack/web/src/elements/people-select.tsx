import type {
  ChannelsSelect,
  ConversationsSelect,
  MultiChannelsSelect,
  MultiConversationsSelect,
  MultiUsersSelect,
  UsersSelect,
} from '@slack/types';
import type { ReactNode } from 'react';
import type { Channel } from '../api/types.ts';
import { type Directory, useDirectory } from '../state/directory.ts';
import { Combobox } from '../ui/combobox.tsx';
import type { Choice } from '../ui/combobox-choices.ts';
import { valueField } from './initial-value.ts';
import { type ElementProps, fieldAttributes, useElement } from './use-element.ts';

type PeopleSelect =
  | UsersSelect
  | MultiUsersSelect
  | ConversationsSelect
  | MultiConversationsSelect
  | ChannelsSelect
  | MultiChannelsSelect;

/** Selects whose choices the workspace itself knows: people, channels, conversations. */
export function PeopleSelectElement(props: ElementProps<PeopleSelect>): ReactNode {
  const { element, field } = props;
  const directory = useDirectory();
  const { value, set } = useElement(props);
  const choices = choicesFor(element, directory);
  const name = valueField(element.type) ?? '';
  const multi = element.type.startsWith('multi_');
  const ids = [value[name]].flat().filter((id) => typeof id === 'string');
  const selected = ids.map((id) => choices.find((choice) => choice.value === id) ?? { value: id, text: id });
  const placeholder = element.placeholder?.text ?? placeholderFor(element.type);
  return (
    <Combobox
      attributes={{
        ...fieldAttributes(field, placeholder),
        'data-focus-on-load': element.focus_on_load ? '' : undefined,
      }}
      choices={choices}
      selected={selected}
      multi={multi}
      placeholder={placeholder}
      clearable={field !== undefined && !field.required}
      onSelect={(taken) => {
        const max = 'max_selected_items' in element ? element.max_selected_items : undefined;
        const kept = taken.slice(0, max).map((choice) => choice.value);
        set({ [name]: multi ? kept : (kept[0] ?? null) });
      }}
    />
  );
}

function placeholderFor(type: PeopleSelect['type']): string {
  if (type.includes('users')) return 'Choose people';
  return type.includes('channels') ? 'Choose a channel' : 'Choose a conversation';
}

function choicesFor(element: PeopleSelect, directory: Directory): Choice[] {
  if (element.type.includes('users')) return userChoices(directory);
  const include = 'filter' in element ? element.filter?.include : undefined;
  const kinds = element.type.includes('channels')
    ? ['public']
    : (include ?? ['public', 'private', 'im', 'mpim']);
  const seen = directory.team.channels.filter(({ kind }) => kinds.includes(kind));
  return seen.map((channel) => channelChoice(channel, directory));
}

function userChoices({ team }: Directory): Choice[] {
  return team.users.map(({ id, real_name, name }) => ({
    value: id,
    text: real_name,
    description: `@${name}`,
    icon: 'user',
  }));
}

function channelChoice(channel: Channel, directory: Directory): Choice {
  const icons = { public: 'hash', private: 'lock', im: 'user' } as const;
  return { value: channel.id, text: directory.channelName(channel), icon: icons[channel.kind] };
}
