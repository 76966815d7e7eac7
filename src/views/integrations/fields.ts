import {
  findHookType,
  type HookProperty,
  type HookType,
  type HookVersion,
  propertiesOf,
} from '../../service/hook-types.ts';
import {
  INTEGRATION_FLAGS,
  type IntegrationChanges,
  type IntegrationFlag,
} from '../../service/integrations.ts';
import type { Values } from '../blocks/modal-state.ts';

export const VERSION_FIELD = 'properties.hook_version';

/** The values of an integration's form. `errors` by `block_id`. */
export interface FilledIn {
  type: HookType | undefined;
  name: string | undefined;
  flags: IntegrationFlag[];
  /** Flags to be switched off, where the form does not know the current ones. */
  flagsOff: IntegrationFlag[];
  properties: Record<string, string>;
  errors: Record<string, string>;
}

/** `new`: the type's required fields must be filled in. `change`: empty fields are left unchanged. */
export function readIntegration(values: Values, mode: 'new' | 'change', type = chosenType(values)): FilledIn {
  const isNew = mode === 'new';
  const { properties, errors } = type === undefined ? NOTHING : readProperties(values, type, isNew);
  const name = textOf(values.name);
  const nameless: Record<string, string> = isNew && name === undefined ? { name: 'Enter a name.' } : {};
  return {
    type,
    name,
    flags: flagsIn(values.flags),
    flagsOff: flagsIn(values.flags_off),
    properties,
    errors: { ...nameless, ...errors },
  };
}

export function chosenType(values: Values): HookType | undefined {
  return typeof values.hook_type === 'string' ? findHookType(values.hook_type) : undefined;
}

/** The version chosen, if the type has it. */
export function chosenVersion(values: Values, type: HookType): HookVersion | undefined {
  return type.versions.find((version) => version === values[VERSION_FIELD]);
}

/** The integration as the form showed it when it was opened. */
export interface ShownIntegration {
  name: string;
  flags: IntegrationFlag[];
}

/** Only the values that differ from those the form showed. API 4.8 (docs/service-api.md). */
export function changesOf(filled: FilledIn, shown: ShownIntegration | undefined): IntegrationChanges {
  const changes: IntegrationChanges = {};
  if (filled.name !== undefined && filled.name !== shown?.name) changes.name = filled.name;
  for (const flag of INTEGRATION_FLAGS) {
    const isOn = filled.flags.includes(flag);
    if (shown === undefined ? isOn : isOn !== shown.flags.includes(flag)) changes[flag] = isOn;
    else if (filled.flagsOff.includes(flag)) changes[flag] = false;
  }
  if (Object.keys(filled.properties).length > 0) changes.properties = filled.properties;
  return changes;
}

const NOTHING = { properties: {}, errors: {} };

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
  for (const property of propertiesOf(type, version)) {
    const field = `properties.${property.key}`;
    const text = textOf(values[field]);
    const fault = text === undefined ? emptyFault(property, isNew) : formatFault(property, text);
    if (fault !== undefined) errors[field] = fault;
    else if (text !== undefined) properties[property.key] = text;
  }
  return { properties, errors };
}

function emptyFault(property: HookProperty, isNew: boolean): string | undefined {
  return isNew && property.required ? 'This field is required.' : undefined;
}

function formatFault({ format }: HookProperty, text: string): string | undefined {
  switch (format) {
    case 'text':
      return undefined;
    case 'url':
      return isWebAddress(text)
        ? undefined
        : 'Enter a whole web address that begins with https:// or http://.';
    case 'chat_id':
      // Groups have negative numbers.
      return /^(?:-?\d{1,20}|@\w+)$/.test(text)
        ? undefined
        : 'Enter a numeric id, or a name that begins with @.';
  }
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\/[^\s/]/i.test(text);
}

function flagsIn(value: Values[string]): IntegrationFlag[] {
  return INTEGRATION_FLAGS.filter((flag) => Array.isArray(value) && value.includes(flag));
}

function textOf(value: Values[string]): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}
