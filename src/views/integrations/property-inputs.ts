import type { KnownBlock } from '../../core/message.ts';
import type { HookProperty, HookType, HookVersion } from '../../service/hook-types.ts';
import { type Choice, checkboxesInput, selectInput, textInput } from '../blocks/inputs.ts';
import { context } from '../blocks/message.ts';
import type { Values } from '../blocks/modal-state.ts';
import { CLEAR_FIELD, clearableProperties, fieldOf, formProperties, VERSION_FIELD } from './fields.ts';

const VERSION_NAMES: Record<HookVersion, string> = {
  cloud: 'The vendor’s cloud',
  on_premise: 'Our own server',
};

/** The inputs for the type's own fields, in the version chosen so far. */
export function propertyBlocks(type: HookType, values: Values, isNew: boolean): KnownBlock[] {
  const properties = formProperties(type, values, isNew);
  const inputs = properties.map((property) => propertyInput(property, isNew));
  const hasSecret = properties.some((property) => property.secret);
  return [
    ...(type.versions.length > 0 ? [versionInput(type, isNew)] : []),
    ...inputs,
    ...(hasSecret ? [context(SECRECY)] : []),
  ];
}

/** What an edit can take away: an empty field means "unchanged". */
export function clearBlocks(type: HookType, values: Values): KnownBlock[] {
  const keys = clearableProperties(type, values);
  if (keys.length === 0) return [];
  const choices = keys.map((value): Choice => ({ value, text: propertyLabel(value) }));
  return [checkboxesInput({ field: CLEAR_FIELD, label: 'Clear', optional: true, choices })];
}

function versionInput({ versions }: HookType, isNew: boolean): KnownBlock {
  const choices = versions.map((value): Choice => ({ value, text: VERSION_NAMES[value] }));
  return selectInput({
    field: VERSION_FIELD,
    label: 'Where it runs',
    optional: !isNew,
    choices,
    dispatch: true,
  });
}

const SECRECY =
  ':lock: Slack cannot hide what you type here. Deckhand sends keys, tokens and addresses only to the service, and stores none of them.';

const LABELS: Record<string, string> = {
  url: 'Address',
  zone_id: 'Zone ID',
  application_id: 'Application ID',
  api_key: 'API key',
  organization_slug: 'Organisation’s short name',
  chat_id: 'Chat ID',
};

export function propertyLabel(key: string): string {
  const words = key.replaceAll('_', ' ');
  return LABELS[key] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function propertyInput({ key, secret, format }: HookProperty, isNew: boolean): KnownBlock {
  const hints = [
    ...(secret ? ['Secret, but readable while you type.'] : []),
    ...(format === 'chat_id' ? ['A numeric id, or a name that begins with @.'] : []),
    ...(isNew ? [] : ['Leave empty to keep the current value.']),
  ];
  return textInput({
    field: fieldOf(key),
    label: propertyLabel(key),
    optional: true,
    hint: hints.length === 0 ? undefined : hints.join(' '),
    ...(format === 'url' ? { placeholder: 'https://' } : {}),
  });
}
