import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Message, Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { type ProjectRef, projectId } from '../../core/project-ref.ts';
import type { RememberedIntegration } from '../../records/integrations.ts';
import {
  findHookType,
  INTEGRATION_FLAGS,
  type IntegrationChanges,
  type IntegrationFlag,
  type IntegrationResult,
  updateIntegration,
} from '../../service/integrations.ts';
import { changesOf, readIntegration } from '../../views/integrations/fields.ts';
import {
  authoriseMessage,
  changedMessage,
  IDENTIFIER_FIELD,
  INTEGRATION_EDIT,
  INTEGRATION_FIELD,
  type IntegrationOrigin,
  shownName,
} from '../../views/integrations/form.ts';
import {
  type ActionContext,
  type CommandContext,
  closeWith,
  defineCommand,
  FormFault,
  fromButton,
  type Submitted,
  type ViewState,
} from '../command.ts';
import { integrationPicker } from '../option-sources.ts';
import { accountOf, chosenProject, projectForForm } from '../targets/project.ts';
import { drawn, expectNotices, FORM, type Known, openForm, originOf, remember } from './form.ts';

const ButtonValue = z.object({ id: z.string() });
const MAX_IDENTIFIER = 255;

export const integrationEdit = defineCommand({
  name: 'integration edit',
  summary: 'Changes an integration; only what you change is sent',
  usage: '[id] [project]',
  examples: ['integration edit', 'integration edit k3m9x'],
  role: 'operator',
  needsAccount: true,
  rest: true,
  args: z.object({ id: z.string().optional(), project: z.string().optional() }),
  run: ({ id, project }, context) => openEdit(context, id, project),
  actions: [
    {
      actionId: 'integration:edit',
      run: (value, context) => openEdit(context, fromButton(ButtonValue, value).id, undefined),
    },
    { actionId: INTEGRATION_FIELD, run: pick },
  ],
  submissions: [{ ...FORM, callbackId: INTEGRATION_EDIT, submit: submitEdit }],
  optionSources: [integrationPicker],
});

async function openEdit(
  context: CommandContext,
  id: string | undefined,
  project: string | undefined,
): Promise<Reply> {
  const { workspace } = context;
  if (id !== undefined && id.length > MAX_IDENTIFIER) throw new UserError('That is no identifier.');
  const remembered = await workspace.integrations.list();
  if (id === undefined && remembered.length === 0)
    throw new UserError('No integrations from here yet.', undefined, {
      offers: [{ label: 'Add one', text: 'integration add' }],
    });
  const known = id === undefined ? undefined : await workspace.integrations.find(id);
  const origin: IntegrationOrigin = known
    ? knownTarget(known)
    : { ...(await unknownTarget(context, id, project)), picks: remembered.length > 0 };
  return openForm(context, INTEGRATION_EDIT, origin, project);
}

/** What is remembered of an integration. */
function knownTarget(known: RememberedIntegration): Meant {
  const { account, project, identifier, id, hookType: type, flags } = known;
  return { account, project, identifier, shown: { id, type, name: shownName(known.name), flags } };
}

type Meant = Pick<IntegrationOrigin, 'account' | 'project' | 'identifier' | 'shown'>;

async function unknownTarget(
  context: CommandContext,
  identifier: string | undefined,
  named: string | undefined,
): Promise<Meant> {
  if (identifier === undefined && named === undefined) return { account: (await accountOf(context)).name };
  const { account, project } = await projectForForm(context, named);
  return { account: account.name, project, identifier };
}

/** Another integration is picked: the form is emptied first, so that nothing of the last one remains. */
async function pick(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { state } = context;
  if (state === undefined || value === undefined) return { kind: 'nothing' };
  const origin = await pickedOrigin(context, originOf(state), value);
  const { identifier: _, shown: __, ...before } = origin;
  const values = { [INTEGRATION_FIELD]: value };
  const last = originOf(state);
  if (last.identifier !== undefined || last.shown !== undefined)
    await context.updateModal(drawn(context, state, { origin: before, values }));
  await context.updateModal(drawn(context, state, { origin, values }));
  return { kind: 'nothing' };
}

async function pickedOrigin(
  context: CommandContext,
  { channel, thread, account }: IntegrationOrigin,
  value: string,
): Promise<IntegrationOrigin> {
  const { workspace } = context;
  const known = await workspace.integrations.find(value);
  const origin = { channel, thread, picks: true };
  if (known !== undefined) return { ...origin, ...knownTarget(known) };
  return { ...origin, ...(await unknownTarget({ ...context, account }, value, undefined)) };
}

/** A form in which no integration was chosen yet is drawn for the one chosen now; any other is saved. */
async function submitEdit(state: ViewState, context: CommandContext): Promise<Submitted> {
  const origin = originOf(state);
  const identifier = origin.identifier ?? typedIdentifier(state);
  if (identifier !== undefined) return saveChanges(state, context, origin, identifier);
  if (origin.shown !== undefined) throw new FormFault({ [IDENTIFIER_FIELD]: 'Enter the identifier.' });
  const value = state.values[INTEGRATION_FIELD];
  if (typeof value !== 'string') throw new FormFault({ [INTEGRATION_FIELD]: 'Choose one.' });
  const picked = await pickedOrigin(context, origin, value);
  return { kind: 'view', view: drawn(context, state, { origin: picked }) };
}

/** Of one whose identifier the service did not give when it was added. */
function typedIdentifier({ values }: ViewState): string | undefined {
  const typed = values[IDENTIFIER_FIELD];
  const identifier = typeof typed === 'string' ? typed.trim() : '';
  return identifier === '' ? undefined : identifier;
}

/** Sends what the person changed in the form, and nothing else; then stores the integration as it is now. API 4.8 (docs/service-api.md). */
async function saveChanges(
  state: ViewState,
  context: CommandContext,
  origin: IntegrationOrigin,
  identifier: string,
): Promise<Submitted> {
  const { caller, workspace } = context;
  const { shown } = origin;
  const filled = readIntegration(state.values, 'change', shown && findHookType(shown.type));
  const { errors, type } = filled;
  if (Object.keys(errors).length > 0) throw new FormFault(errors);
  const changes = changesOf(filled, shown);
  if (Object.keys(changes).length === 0) throw new FormFault({}, 'Nothing was changed, so nothing was sent.');
  const edited = { identifier, type: shown?.type ?? type?.label ?? '', shown, changes };
  if (INTEGRATION_FLAGS.some((flag) => changes[flag] === false))
    await expectNotices(context, state, assume(edited));
  const account = await workspace.accounts.resolve(caller, origin.account);
  const project = origin.project ?? (await chosenProject(context, account, state.values.project));
  const named = origin.identifier === undefined ? identifier : (shown?.id ?? identifier);
  const result = await workspace.accounts.use(
    account,
    (client) => updateIntegration(client, projectId(project), identifier, changes),
    { what: `integration ${code(named)} in ${code(project.permalink)}`, list: 'integration edit' },
  );
  const message = await outcomeOf(context, { account: account.name, project }, result, edited);
  return closeWith(message, { target: `${account.name}/${project.permalink}/${identifier}` });
}

interface Edited {
  identifier: string;
  type: string;
  shown: IntegrationOrigin['shown'];
  changes: IntegrationChanges;
}

async function outcomeOf(
  context: CommandContext,
  target: { account: string; project: ProjectRef },
  result: IntegrationResult,
  edited: Edited,
): Promise<Message> {
  const { shown, identifier, changes } = edited;
  if (result.kind === 'auth_required') {
    const assumed = assume(edited);
    // Too little is known of an integration that was set up elsewhere.
    if (shown !== undefined) await remember(context, assumed, target, shown.id);
    return authoriseMessage({ ...target, name: assumed.name }, result.authUrl);
  }
  const answered = { ...assume(edited), ...defined(result.integration), identifier };
  return changedMessage(await remember(context, answered, target, shown?.id), changes);
}

/** An answer that asks for authorisation does not contain the integration: it is what it was, with the changes. */
function assume({ identifier, type, shown, changes }: Edited): Known {
  const isOn = (flag: IntegrationFlag): boolean => changes[flag] ?? shown?.flags.includes(flag) ?? false;
  return {
    identifier,
    hook_type: type,
    name: changes.name ?? shown?.name ?? identifier,
    send_on_start: isOn('send_on_start'),
    send_on_completion: isOn('send_on_completion'),
    send_on_failure: isOn('send_on_failure'),
  };
}
