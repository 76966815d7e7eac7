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

/** A form of an integration, read. `errors` by `block_id`. */
export interface FilledIn {
  type: HookType | undefined;
  name: string | undefined;
  flags: IntegrationFlag[];
  /** Flags to be switched off, where the form does not know how they stand. */
  flagsOff: IntegrationFlag[];
  properties: Record<string, string>;
  errors: Record<string, string>;
}

/** `new`: what the type requires must be there. `change`: what is empty stays as it is. */
export function readIntegration(values: Values, mode: 'new' | 'change', type = chosenType(values)): FilledIn {
  const isNew = mode === 'new';
  const { properties, errors } = type === undefined ? NOTHING : readProperties(values, type, isNew);
  const name = textOf(values.name);
  const nameless: Record<string, string> = isNew && name === undefined ? { name: 'Give it a name.' } : {};
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

/** How the form showed the integration when it was opened; undefined where that is not known. */
export interface ShownIntegration {
  name: string;
  flags: IntegrationFlag[];
}

/** Only what the person changed: a value that the form showed already is none. Spec 4.8. */
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
  return isNew && property.required ? 'This is needed.' : undefined;
}

function formatFault({ format }: HookProperty, text: string): string | undefined {
  switch (format) {
    case 'text':
      return undefined;
    case 'url':
      return isWebAddress(text) ? undefined : 'Give a whole web address, beginning with https:// or http://.';
    case 'chat_id':
      // Groups have negative numbers.
      return /^(?:-?\d{1,20}|@\w+)$/.test(text)
        ? undefined
        : 'Give a numeric id, or a name that begins with @.';
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
