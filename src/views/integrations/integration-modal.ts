import { z } from 'zod';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { bold, capitalised, code, joinLinesWithin, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import { ProjectRef } from '../../core/project-ref.ts';
import type { RememberedIntegration } from '../../records/known-integrations.ts';
import {
  BASIC_FLAGS,
  findHookType,
  HOOK_TYPES,
  type HookType,
  INTEGRATION_FLAGS,
  type IntegrationChanges,
  type IntegrationFlag,
  listProperties,
} from '../../service/integrations.ts';
import { type Choice, checkboxesInput, searchInput, selectInput, textInput } from '../blocks/inputs.ts';
import { button, buttons, context, notes, safeUrl, say } from '../blocks/make-blocks.ts';
import { modal, refill, type Values } from '../blocks/modal.ts';
import { withOpened } from '../blocks/shared-form.ts';
import { projectBlock } from '../projects/project-messages.ts';
import { chosenType, clearBlocks, propertyBlocks, propertyLabel } from './integration-fields.ts';

export const INTEGRATION_ADD = 'integration.add';
export const INTEGRATION_EDIT = 'integration.edit';

/** Menu of integrations that were set up with Deckhand. */
export const INTEGRATION_FIELD = 'integration';
/** Field for the service's identifier, if Deckhand does not know it. */
export const IDENTIFIER_FIELD = 'identifier';

/** Data that the form keeps while it is drawn again. Never a secret. */
export const IntegrationOrigin = z.object({
  channel: z.string().optional(),
  thread: z.string().optional(),
  account: z.string(),
  /** Absent if the form has a field for it. */
  project: ProjectRef.optional(),
  /** Identifier of the edited integration. A remembered one may have none yet. */
  identifier: z.string().optional(),
  /** The remembered integration, with the values that the form showed first. */
  current: z
    .object({ id: z.string(), type: z.string(), name: z.string(), flags: z.array(z.enum(INTEGRATION_FLAGS)) })
    .optional(),
  /** True if the person may choose another one. */
  picks: z.boolean().optional(),
  /** True if the form has the flag for failed checks. */
  checks: z.boolean().optional(),
});
export interface IntegrationOrigin extends z.infer<typeof IntegrationOrigin> {}

export interface IntegrationForm {
  callbackId: typeof INTEGRATION_ADD | typeof INTEGRATION_EDIT;
  origin: IntegrationOrigin;
  values: Values;
  /** The service's names of the types, by the label of API 4.8 (docs/service-api.md). */
  wireNames: Readonly<Record<string, string>>;
  /** A typed project that has not been looked up yet. */
  typedProject?: string | undefined;
}

const MAX_NAME = 255;

/** The form for the chosen type and version, filled with all values except secrets. */
export function integrationModal(form: IntegrationForm): ModalView {
  const { callbackId, origin: metadata } = form;
  const isNew = callbackId === INTEGRATION_ADD;
  const title = `${isNew ? 'Add' : 'Edit'} an integration`;
  const blocks = isNew ? addBlocks(form) : editBlocks(form);
  const empty = modal(callbackId, title, { submit: isNew ? 'Add' : 'Save', metadata }, blocks);
  const view = isNew ? empty : withOpened(empty);
  // The menu already shows the name of its choice.
  const { [INTEGRATION_FIELD]: _, ...values } = form.values;
  return refill(view, values, SECRET_FIELDS);
}

/** The flags that the form has. */
export function listFlags({ checks }: Pick<IntegrationOrigin, 'checks'>): readonly IntegrationFlag[] {
  return checks === true ? INTEGRATION_FLAGS : BASIC_FLAGS;
}

/** The remembered values as fields of the form. */
export function integrationValues({
  current,
  checks,
}: Pick<IntegrationOrigin, 'current' | 'checks'>): Values {
  if (current === undefined) return {};
  return { name: current.name, flags: listFlags({ checks }).filter((flag) => current.flags.includes(flag)) };
}

/** Fields that hold a secret in any type. Their values are never copied into another type's form. */
const SECRET_FIELDS: readonly string[] = [...new Set(HOOK_TYPES.flatMap(listSecretFields))];

export function listSecretFields(type: HookType | undefined): string[] {
  const secret = type?.properties.filter((property) => property.secret) ?? [];
  return secret.map((property) => `properties.${property.key}`);
}

/** The name of a type for people: "Team chat (roomy)", or "Error tracker (API key, environment)" without a wire name. */
export function typeName(label: string, wireNames: Readonly<Record<string, string>>): string {
  const type = findHookType(label);
  const wireName = Object.hasOwn(wireNames, label) ? wireNames[label] : undefined;
  if (type === undefined) return wireName ?? label;
  const isUnique = HOOK_TYPES.every((other) => other === type || other.kind !== type.kind);
  const properties = isUnique ? [] : listProperties(type).map(({ key }) => propertyLabel(key, 'inside'));
  const note = wireName ?? properties.join(', ');
  return `${capitalised(type.kind)}${note && ` (${note})`}`;
}

const AUTHORISE_LATER =
  ':key: After this, you get a button to authorise it in your browser. Only you see it.';

function addBlocks(form: IntegrationForm): KnownBlock[] {
  const type = chosenType(form.values);
  return [
    projectBlock(form.origin, form.typedProject),
    typeInput(form, false),
    textInput('name', 'Name', { maxLength: MAX_NAME }),
    ...(type === undefined ? [] : propertyBlocks(type, form.values, true)),
    flagsInput(form, 'flags', 'Notify', ['send_on_failure']),
    ...notes(type?.oauth && AUTHORISE_LATER),
  ];
}

function editBlocks(form: IntegrationForm): KnownBlock[] {
  const { identifier, current, picks } = form.origin;
  const picker = picks ? [integrationPicker(form)] : [];
  if (identifier === undefined && current === undefined) return picker;
  const type = current === undefined ? chosenType(form.values) : findHookType(current.type);
  return [
    ...picker,
    ...(current === undefined ? unknownBlocks(form, identifier ?? '') : [knownLine(form, current)]),
    ...(identifier === undefined ? [identifierInput()] : []),
    textInput('name', 'Name', { optional: true, initial: current?.name, maxLength: MAX_NAME }),
    ...(type ? [...propertyBlocks(type, form.values, false), ...clearBlocks(type, form.values)] : []),
    flagsInput(form, 'flags', 'Notify', current?.flags),
    // If the current flags are unknown, an empty box means "unchanged", so other boxes switch flags off.
    ...(current === undefined ? [flagsInput(form, 'flags_off', 'Stop notifying')] : []),
    context(UNCHANGED),
  ];
}

const UNCHANGED =
  'Fields that you leave empty or as they are do not change. Tick a field under “Clear” to empty it.';

function knownLine(
  { origin, wireNames }: IntegrationForm,
  current: NonNullable<IntegrationOrigin['current']>,
): KnownBlock {
  const project = origin.project ? ` in ${bold(origin.project.name)}` : '';
  const what = `${bold(current.name)}, ${mrkdwn(typeName(current.type, wireNames))}`;
  return context(`${code(current.id)}  ${what}${project} in ${code(origin.account)}`);
}

/** The service gives no identifier for a new OAuth integration, and has no operation to list integrations. */
function identifierInput(): KnownBlock {
  return textInput(IDENTIFIER_FIELD, 'Identifier', {
    optional: false,
    maxLength: MAX_NAME,
    hint: 'The service did not give it when this was added. Copy it from the project’s integrations there.',
  });
}

function unknownBlocks(form: IntegrationForm, identifier: string): KnownBlock[] {
  return [
    context(
      `${code(identifier, 255)} was not added with Deckhand, so its values are unknown. Fill in only what should change. The type shows more fields.`,
    ),
    projectBlock(form.origin, form.typedProject),
    typeInput(form, true),
  ];
}

function integrationPicker({ origin }: IntegrationForm): KnownBlock {
  const { identifier, current } = origin;
  const value = current?.id ?? identifier ?? '';
  return searchInput(INTEGRATION_FIELD, 'Integration', {
    hint: 'Those that were set up with Deckhand. For any other, type its identifier.',
    placeholder: 'Search, or type an identifier',
    dispatch: true,
    initial: { value, text: current?.name ?? value },
  });
}

/** An update does not send the type (API 4.8). For an unknown integration, the choice only selects the fields. */
function typeInput({ wireNames }: IntegrationForm, optional: boolean): KnownBlock {
  const choices = HOOK_TYPES.map(({ label }): Choice => ({ value: label, text: typeName(label, wireNames) }));
  return selectInput('hook_type', 'Type', { choices, dispatch: true, optional });
}

const FLAG_NAMES: Record<IntegrationFlag, string> = {
  send_on_start: 'When a deployment starts',
  send_on_completion: 'When a deployment succeeds',
  send_on_failure: 'When a deployment fails',
  send_on_check_failed: 'When a check after a deployment fails',
};

function flagsInput(
  { origin }: IntegrationForm,
  field: string,
  label: string,
  current?: readonly IntegrationFlag[],
): KnownBlock {
  const flags = listFlags(origin);
  const choices = flags.map((flag): Choice => ({ value: flag, text: FLAG_NAMES[flag] }));
  const initial = current && flags.filter((flag) => current.includes(flag));
  return checkboxesInput(field, label, { optional: true, choices, initial });
}

/** The name as the form shows it, and compares it. */
export function shownName(name: string): string {
  return sanitize(name, 200);
}

export function addedMessage({ id, name, project, flags }: RememberedIntegration): Message {
  return savedMessage(id, `${bold(name)} is set up in ${bold(project.name)}`, flags);
}

/** The answer to an edit. It names the changed properties without their values. */
export function changedMessage(
  { id, name, project, flags }: RememberedIntegration,
  changes: IntegrationChanges,
): Message {
  return savedMessage(id, `${bold(name)} in ${bold(project.name)}: changed ${changedWords(changes)}`, flags);
}

function savedMessage(id: string, words: string, flags: readonly IntegrationFlag[]): Message {
  const note = flags.length === 0 ? ' It never notifies, because no box is ticked.' : '';
  const edit = button('Edit', 'integration:edit', { value: { id } });
  return say(`:white_check_mark: ${words}.${note}`, ...buttons(edit));
}

/**
 * The button that authorises an integration, for one person. Its address is foreign, so the message shows its
 * host. Deckhand accepts only https, or a service on this machine.
 * @param added the new integration, with the slash word; `identifier` is absent if the service gave none
 */
export function authoriseMessage(
  { name, project }: Pick<RememberedIntegration, 'name' | 'project'>,
  authUrl: string,
  added?: Pick<RememberedIntegration, 'id' | 'identifier'> & { word: string },
): Message {
  const what = `${bold(name)} in ${bold(project.name)}`;
  const url = safeUrl(authUrl);
  if (url === undefined)
    return say(
      `:warning: ${what} must be authorised in a browser, but the address from the service is not safe to open. Authorise it on the service’s own pages.`,
    );
  const state = added
    ? 'set up. It works once you authorise it'
    : 'saved. It works once you authorise it again';
  const edit = added && code(`${added.word} integration edit ${added.id}`);
  const asks = added?.identifier === undefined ? ', and asks for its identifier at the service' : '';
  return say(
    `:key: ${what} is ${state} in your browser.${edit === undefined ? '' : ` ${edit} changes it${asks}.`}`,
    ...buttons(button('Authorise in the browser', 'link:open', { style: 'primary', url })),
    context(`Opens ${code(new URL(url).host, 200)}. Only you see this.`),
  );
}

const CHANGE_NAMES: Record<string, string> = {
  name: 'its name',
  send_on_start: 'the notice at the start',
  send_on_completion: 'the notice of success',
  send_on_failure: 'the notice of failure',
  send_on_check_failed: 'the notice of a failed check',
};

function changedWords({ properties = {}, ...own }: IntegrationChanges): string {
  const names = Object.keys(own).map((key) => CHANGE_NAMES[key] ?? key);
  const keys = Object.entries(properties).map(
    ([key, value]) => `${mrkdwn(propertyLabel(key))}${value === null ? ' (cleared)' : ''}`,
  );
  return joinLinesWithin([...names, ...keys], 1000).replaceAll('\n', ', ');
}
