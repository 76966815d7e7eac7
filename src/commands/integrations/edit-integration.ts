import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Message, Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import type { RememberedIntegration } from '../../records/known-integrations.ts';
import {
  findChanges,
  findHookType,
  type IntegrationChanges,
  type IntegrationResult,
  updateIntegration,
} from '../../service/integrations.ts';
import { type Merged, mergeSubmitted, pickMine } from '../../views/blocks/shared-form.ts';
import { readIntegration } from '../../views/integrations/integration-fields.ts';
import {
  authoriseMessage,
  changedMessage,
  IDENTIFIER_FIELD,
  INTEGRATION_EDIT,
  INTEGRATION_FIELD,
  type IntegrationOrigin,
  integrationValues,
  listFlags,
  listSecretFields,
  shownName,
} from '../../views/integrations/integration-modal.ts';
import { type ActionContext, defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { integrationPicker } from '../option-sources.ts';
import { askAboutConflicts, findLastChanger } from '../save-unchanged.ts';
import { closeWith, FormFault, type Submitted, type ViewState } from '../submission.ts';
import { resolveAccount, resolveForForm, resolveFormTarget } from '../targets/targets.ts';
import {
  drawIntegrationForm,
  expectNotices,
  FORM,
  type Integration,
  openIntegrationForm,
  readIntegrationOrigin,
  rememberIntegration,
  type Target,
} from './form.ts';

const MAX_IDENTIFIER = 255;

export const integrationEdit = defineCommand({
  name: 'integration edit',
  phrase: 'sends deployments to your other tools',
  shownAs: 'integration',
  summary: 'Changes an integration, and sends only what you change',
  usage: '[id] [project]',
  examples: ['integration edit', 'integration edit k3m9x'],
  role: 'operator',
  needsAccount: true,
  rest: true,
  args: z.object({ id: z.string().optional(), project: z.string().optional() }),
  handle: ({ id, project }, context) => openEdit(context, id, project),
  actions: [
    defineButton(z.object({ id: z.string() }), {
      actionId: 'integration:edit',
      handle: ({ id }, context) => openEdit(context, id),
    }),
    { actionId: INTEGRATION_FIELD, handle: pickIntegration },
  ],
  submissions: [{ ...FORM, callbackId: INTEGRATION_EDIT, submit: submitEdit }],
  optionSources: [integrationPicker],
});

async function openEdit(context: CommandContext, id?: string, project?: string): Promise<Reply> {
  if (id !== undefined && id.length > MAX_IDENTIFIER)
    throw new UserError('That is too long for an identifier.', 'integration list');
  const remembered = await context.workspace.integrations.list();
  if (id === undefined && remembered.length === 0)
    throw new UserError('No integration was added with Deckhand yet.', undefined, {
      offers: [{ label: 'Add one', text: 'integration add' }],
    });
  const integration = await findIntegration(context, id, project);
  const picks = integration.current === undefined ? { picks: remembered.length > 0 } : {};
  return openIntegrationForm(context, INTEGRATION_EDIT, { ...integration, ...picks }, project);
}

/** A remembered integration, or the target of one that was set up elsewhere. */
async function findIntegration(
  context: CommandContext,
  id: string | undefined,
  nameOrId?: string,
): Promise<Pick<IntegrationOrigin, 'account' | 'project' | 'identifier' | 'current'>> {
  const match = id === undefined ? undefined : await context.workspace.integrations.find(id);
  if (match !== undefined) {
    const { account, project, identifier } = match;
    return { account, project, identifier, current: toCurrent(match) };
  }
  if (id === undefined && nameOrId === undefined) return { account: (await resolveAccount(context)).name };
  const { account, project } = await resolveForForm(context, nameOrId);
  return { account: account.name, project, identifier: id };
}

function toCurrent({ id, hookType: type, name, flags }: RememberedIntegration): IntegrationOrigin['current'] {
  return { id, type, name: shownName(name), flags };
}

async function pickOrigin(
  context: CommandContext,
  { channel, thread, account, checks }: IntegrationOrigin,
  value: string,
): Promise<IntegrationOrigin> {
  return { channel, thread, checks, picks: true, ...(await findIntegration({ ...context, account }, value)) };
}

/** Draws the form for another integration. It is emptied first, so that nothing of the last one remains. */
async function pickIntegration(value: string | undefined, context: ActionContext): Promise<Reply> {
  const { state } = context;
  if (state === undefined || value === undefined) return { kind: 'nothing' };
  const last = readIntegrationOrigin(state);
  const origin = await pickOrigin(context, last, value);
  const values = { [INTEGRATION_FIELD]: value };
  const { identifier: _, current: __, ...empty } = origin;
  if (last.identifier !== undefined || last.current !== undefined)
    await context.updateModal(drawIntegrationForm(context, state, { origin: empty, values }));
  await context.updateModal(drawIntegrationForm(context, state, { origin, values }));
  return { kind: 'nothing' };
}

/** Saves the form. If it has no integration yet, draws it for the chosen one. */
async function submitEdit(state: ViewState, context: CommandContext): Promise<Submitted> {
  const origin = readIntegrationOrigin(state);
  const typed = state.values[IDENTIFIER_FIELD];
  const identifier = origin.identifier ?? ((typeof typed === 'string' && typed.trim()) || undefined);
  if (identifier !== undefined) return saveChanges(state, context, origin, identifier);
  if (origin.current !== undefined) throw new FormFault({ [IDENTIFIER_FIELD]: 'Enter the identifier.' });
  const value = state.values[INTEGRATION_FIELD];
  if (typeof value !== 'string') throw new FormFault({ [INTEGRATION_FIELD]: 'Choose one.' });
  const picked = await pickOrigin(context, origin, value);
  return { kind: 'view', view: drawIntegrationForm(context, state, { origin: picked }) };
}

/**
 * Sends only the fields that the person changed, then stores the integration as it is now. Somebody else may have
 * changed others since the form was opened. API 4.8 (docs/service-api.md).
 */
async function saveChanges(
  state: ViewState,
  context: CommandContext,
  origin: IntegrationOrigin,
  identifier: string,
): Promise<Submitted> {
  const all = await context.workspace.integrations.list();
  const remembered = all.find((one) =>
    origin.current === undefined ? one.identifier === identifier : one.id === origin.current.id,
  );
  const current = remembered === undefined ? origin.current : toCurrent(remembered);
  // The form of an integration that was set up elsewhere shows no values.
  const before = origin.current && current;
  const merged = mergeSubmitted(state, integrationValues({ ...origin, current: before }));
  if (merged.conflicts.length > 0) return askAgain(state, context, { ...origin, current: before }, merged);
  const form = readIntegration(
    merged.values,
    'change',
    listFlags(origin),
    before && findHookType(before.type),
  );
  if (Object.keys(form.errors).length > 0) throw new FormFault(form.errors);
  const changes = findChanges(form, before);
  if (Object.keys(changes).length === 0)
    throw new FormFault({}, 'Nothing is different yet. Change something, or cancel.');
  const edited = { identifier, type: current?.type ?? form.type?.label ?? '', current, changes };
  if (listFlags(origin).some((flag) => changes[flag] === false))
    await expectNotices(context, state, applyChanges(edited));
  const { account, project } = await resolveFormTarget(context, origin, state.values.project);
  const nameOrId = origin.identifier === undefined ? identifier : (current?.id ?? identifier);
  const result = await context.workspace.accounts.use(
    account,
    (client) => updateIntegration(client, projectId(project), identifier, changes),
    { what: `integration ${code(nameOrId)} in ${code(project.permalink)}`, list: 'integration edit' },
  );
  const message = await showChanged(context, { account: account.name, project }, result, edited);
  return closeWith(message, { target: `${account.name}/${project.permalink}/${identifier}` });
}

async function askAgain(
  state: ViewState,
  context: CommandContext,
  origin: IntegrationOrigin,
  merged: Merged,
): Promise<Submitted> {
  const { account, project, identifier, current } = origin;
  const target = `${account}/${project?.permalink}/${identifier}`;
  const changedBy = await findLastChanger(context.workspace, { commands: ['integration edit'], target });
  const today = drawIntegrationForm(context, state, { origin, values: pickMine(merged) });
  const secrets = listSecretFields(current && findHookType(current.type));
  return askAboutConflicts(today, state, merged, changedBy, secrets);
}

interface Edited {
  identifier: string;
  type: string;
  current: IntegrationOrigin['current'];
  changes: IntegrationChanges;
}

async function showChanged(
  context: CommandContext,
  target: Target,
  result: IntegrationResult,
  edited: Edited,
): Promise<Message> {
  const { current, identifier, changes } = edited;
  const expected = applyChanges(edited);
  if (result.kind === 'auth_required') {
    // Too little is known of an integration that was set up elsewhere.
    if (current !== undefined) await rememberIntegration(context, expected, target, current.id);
    return authoriseMessage({ ...target, name: expected.name }, result.authUrl);
  }
  const changed = { ...expected, ...defined(result.integration), identifier };
  return changedMessage(await rememberIntegration(context, changed, target, current?.id), changes);
}

/** The integration as it should be now: an answer that asks for authorisation does not contain it. */
function applyChanges({ identifier, type, current, changes }: Edited): Integration {
  const before = Object.fromEntries((current?.flags ?? []).map((flag) => [flag, true]));
  const name = changes.name ?? current?.name ?? identifier;
  return { ...before, ...changes, identifier, hook_type: type, name };
}
