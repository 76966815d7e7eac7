import type { KnownBlock } from '../../core/message.ts';
import { capitalised } from '../../core/mrkdwn.ts';
import {
  type FilledIntegration,
  findHookType,
  type HookProperty,
  type HookType,
  type HookVersion,
  hasFormat,
  type IntegrationFlag,
  listProperties,
} from '../../service/integrations.ts';
import { type Choice, checkboxesInput, selectInput, textInput } from '../blocks/inputs.ts';
import { context } from '../blocks/make-blocks.ts';
import type { Values } from '../blocks/modal.ts';

const VERSION_FIELD = 'properties.hook_version';
/** Checkboxes for the properties that an edit removes. */
const CLEAR_FIELD = 'clear';

/** API 4.8 shows no property of the OAuth types for a new integration, and a channel for an update. */
const CHANNEL: HookProperty = { key: 'channel', secret: false, format: 'text', version: undefined };

/** The values of an integration's form. `errors` by `block_id`. */
export interface FilledIn extends FilledIntegration {
  type: HookType | undefined;
  errors: Record<string, string>;
}

/**
 * Omits empty fields.
 * @param mode `new` requires the name, and the version if the type has versions
 * @param offered the flags that the form has
 */
export function readIntegration(
  values: Values,
  mode: 'new' | 'change',
  offered: readonly IntegrationFlag[],
  type = chosenType(values),
): FilledIn {
  const isNew = mode === 'new';
  const read = type === undefined ? NOTHING : readProperties(values, type, isNew);
  const cleared = isNew || type === undefined ? [] : clearedIn(values, type);
  const twice = cleared.filter((key) => Object.hasOwn(read.properties, key));
  const name = readText(values.name);
  const nameless: Record<string, string> = isNew && name === undefined ? { name: 'Enter a name.' } : {};
  return {
    type,
    name,
    offered,
    flags: offered.filter((flag) => isTicked(values.flags, flag)),
    flagsOff: offered.filter((flag) => isTicked(values.flags_off, flag)),
    properties: read.properties,
    cleared,
    errors: {
      ...nameless,
      ...read.errors,
      ...Object.fromEntries(twice.map((key) => [nameField(key), TWICE])),
    },
  };
}

export function chosenType(values: Values): HookType | undefined {
  return typeof values.hook_type === 'string' ? findHookType(values.hook_type) : undefined;
}

function chosenVersion(values: Values, type: HookType): HookVersion | undefined {
  return type.versions.find((version) => version === values[VERSION_FIELD]);
}

/** The properties that the form shows for the chosen version. */
function formProperties(type: HookType, values: Values, isNew: boolean): HookProperty[] {
  const properties = listProperties(type, chosenVersion(values, type));
  return type.oauth && !isNew ? [...properties, CHANNEL] : properties;
}

/** The properties that an edit may clear. If the version is unknown, all properties of the type. */
function clearableProperties(type: HookType, values: Values): string[] {
  const isKnown = chosenVersion(values, type) !== undefined;
  const properties = isKnown || type.oauth ? formProperties(type, values, false) : type.properties;
  return [...new Set(properties.map(({ key }) => key))];
}

const NOTHING = { properties: {}, errors: {} };
const TWICE = 'Either fill this in or clear it, not both.';

function readProperties(
  values: Values,
  type: HookType,
  isNew: boolean,
): Pick<FilledIn, 'properties' | 'errors'> {
  const properties: Record<string, string> = {};
  const errors: Record<string, string> = {};
  const version = chosenVersion(values, type);
  if (version !== undefined) properties.hook_version = version;
  else if (isNew && type.versions.length > 0) errors[VERSION_FIELD] = 'Choose where it runs.';
  for (const property of formProperties(type, values, isNew)) {
    const field = nameField(property.key);
    const text = readText(values[field]);
    if (text === undefined) continue;
    if (hasFormat(property, text)) properties[property.key] = text;
    else errors[field] = FORMAT_FAULTS[property.format];
  }
  return { properties, errors };
}

function clearedIn(values: Values, type: HookType): string[] {
  return clearableProperties(type, values).filter((key) => isTicked(values[CLEAR_FIELD], key));
}

function nameField(key: string): string {
  return `properties.${key}`;
}

const FORMAT_FAULTS: Readonly<Record<HookProperty['format'], string>> = {
  text: 'Enter a text.',
  url: 'Enter a whole web address that begins with https:// or http://.',
  chat_id: 'Enter a numeric id, or a name that begins with @.',
};

function isTicked(value: Values[string], choice: string): boolean {
  return Array.isArray(value) && value.includes(choice);
}

function readText(value: Values[string]): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}

const VERSION_NAMES: Record<HookVersion, string> = {
  cloud: 'The vendor’s cloud',
  on_premise: 'Our own server',
};

/** Inputs for the type's own fields, in the chosen version. */
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

/** Checkboxes that clear a property, because an empty field means "unchanged". */
export function clearBlocks(type: HookType, values: Values): KnownBlock[] {
  const keys = clearableProperties(type, values);
  if (keys.length === 0) return [];
  const choices = keys.map((value): Choice => ({ value, text: propertyLabel(value) }));
  return [checkboxesInput(CLEAR_FIELD, 'Clear', { optional: true, choices })];
}

function versionInput({ versions }: HookType, isNew: boolean): KnownBlock {
  const choices = versions.map((value): Choice => ({ value, text: VERSION_NAMES[value] }));
  return selectInput(VERSION_FIELD, 'Where it runs', { optional: !isNew, choices, dispatch: true });
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

/** @param place `inside`: inside a sentence, in small letters except for an abbreviation */
export function propertyLabel(key: string, place: 'start' | 'inside' = 'start'): string {
  const label = LABELS[key] ?? capitalised(key.replaceAll('_', ' '));
  return place === 'start' ? label : label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

function propertyInput({ key, secret, format }: HookProperty, isNew: boolean): KnownBlock {
  const hints = [
    ...(secret ? ['Secret, but readable while you type.'] : []),
    ...(format === 'chat_id' ? ['A numeric id, or a name that begins with @.'] : []),
    ...(isNew ? [] : ['Leave empty to keep the current value.']),
  ];
  return textInput(nameField(key), propertyLabel(key), {
    optional: true,
    hint: hints.length === 0 ? undefined : hints.join(' '),
    ...(format === 'url' ? { placeholder: 'https://' } : {}),
  });
}
