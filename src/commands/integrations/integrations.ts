import { z } from 'zod';
import { AccountFailure, UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Message, ModalView, Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { type ProjectRef, projectId } from '../../core/project-ref.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import type { RememberedIntegration } from '../../records/integrations.ts';
import {
  createIntegration,
  findChanges,
  findHookType,
  type HookType,
  INTEGRATION_FLAGS,
  type IntegrationChanges,
  type IntegrationFlag,
  type IntegrationResult,
  type NewIntegration,
  updateIntegration,
} from '../../service/integrations.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { addReasons } from '../../views/blocks/service-failures.ts';
import { chosenType, type FilledIn, readIntegration } from '../../views/integrations/fields.ts';
import {
  addedMessage,
  authoriseMessage,
  changedMessage,
  IDENTIFIER_FIELD,
  INTEGRATION_ADD,
  INTEGRATION_EDIT,
  INTEGRATION_FIELD,
  type IntegrationForm,
  IntegrationOrigin,
  integrationModal,
  listSecretFields,
  shownName,
} from '../../views/integrations/form.ts';
import {
  type ActionContext,
  type CommandContext,
  closeWith,
  defineButton,
  defineCommand,
  FormFault,
  parseForm,
  redraw,
  type Submitted,
  type ViewState,
} from '../command.ts';
import { integrationPicker, projectPicker } from '../option-sources.ts';
import { resolveAccount, resolveForForm, resolveFormTarget } from '../targets/targets.ts';

/** Common to both forms. */
const FORM = {
  secrets: (state: ViewState) => {
    const { current } = readIntegrationOrigin(state);
    return listSecretFields(current === undefined ? chosenType(state.values) : findHookType(current.type));
  },
  draw: (state: ViewState, context: CommandContext) => drawIntegrationForm(context, state),
};

export const integrationAdd = defineCommand({
  name: 'integration add',
  phrase: 'sends deployments to your other tools',
  shownAs: 'integration',
  summary: 'Sets up an integration of a project: chats, error trackers, caches and more',
  usage: '[project]',
  examples: ['integration add', 'integration add storefront'],
  role: 'operator',
  needsAccount: true,
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async run({ project: projectName }, context) {
    const { account, project } = await resolveForForm(context, projectName);
    return openIntegrationForm(context, INTEGRATION_ADD, { account: account.name, project }, projectName);
  },
  // Choosing a type or version shows the fields that it asks for.
  actions: ['hook_type', 'properties.hook_version'].map((actionId) => ({
    actionId,
    run: redraw(async (state, context, value) =>
      drawIntegrationForm(context, state, { values: { ...state.values, [actionId]: value } }),
    ),
  })),
  submissions: [{ ...FORM, callbackId: INTEGRATION_ADD, isOrder: true, submit: submitAdd }],
  optionSources: [projectPicker],
});

const MAX_IDENTIFIER = 255;

export const integrationEdit = defineCommand({
  name: 'integration edit',
  phrase: 'sends deployments to your other tools',
  shownAs: 'integration',
  synonyms: ['integrations'],
  summary: 'Changes an integration; only what you change is sent',
  usage: '[id] [project]',
  examples: ['integration edit', 'integration edit k3m9x'],
  role: 'operator',
  needsAccount: true,
  rest: true,
  args: z.object({ id: z.string().optional(), project: z.string().optional() }),
  run: ({ id, project }, context) => openEdit(context, id, project),
  actions: [
    defineButton(z.object({ id: z.string() }), {
      actionId: 'integration:edit',
      run: ({ id }, context) => openEdit(context, id),
    }),
    { actionId: INTEGRATION_FIELD, run: pickIntegration },
  ],
  submissions: [{ ...FORM, callbackId: INTEGRATION_EDIT, submit: submitEdit }],
  optionSources: [integrationPicker],
});

function readIntegrationOrigin(state: ViewState): IntegrationOrigin {
  return parseForm(IntegrationOrigin, state.metadata);
}

/** @param typedProject a project that may not be looked up yet */
function openIntegrationForm(
  { invocation, workspace }: CommandContext,
  callbackId: IntegrationForm['callbackId'],
  target: IntegrationOrigin,
  typedProject: string | undefined,
): Reply {
  const origin = { ...target, channel: invocation.channel, thread: invocation.threadTs };
  const wireNames = workspace.config.SERVICE_HOOK_TYPES;
  const view = integrationModal({ callbackId, origin, values: {}, wireNames, typedProject });
  return { kind: 'modal', view };
}

/** The form for the current choices. */
function drawIntegrationForm(
  { workspace }: CommandContext,
  state: ViewState,
  changes: Partial<Pick<IntegrationForm, 'origin' | 'values'>> = {},
): ModalView {
  return integrationModal({
    callbackId: state.view.callback_id === INTEGRATION_EDIT ? INTEGRATION_EDIT : INTEGRATION_ADD,
    origin: readIntegrationOrigin(state),
    values: state.values,
    wireNames: workspace.config.SERVICE_HOOK_TYPES,
    ...changes,
  });
}

async function submitAdd(state: ViewState, context: CommandContext): Promise<Submitted> {
  const form = readIntegration(state.values, 'new');
  const { type, errors } = form;
  if (type === undefined) throw new FormFault({ hook_type: 'Choose a type.', ...errors });
  if (Object.keys(errors).length > 0) throw new FormFault(errors);
  const integration = newIntegration(form, type);
  await expectNotices(context, state, integration);
  const { account, project } = await resolveFormTarget(
    context,
    readIntegrationOrigin(state),
    state.values.project,
  );
  try {
    const result = await context.workspace.accounts.use(
      account,
      (client) => createIntegration(client, projectId(project), integration),
      { what: `project ${code(project.permalink)}`, list: 'projects' },
    );
    const target = { account: account.name, project };
    const message = await showAdded(context, target, integration, result);
    return closeWith(message, { target: `${account.name}/${project.permalink}` });
  } catch (error) {
    if (!(error instanceof AccountFailure) || error.cause.certainlyNotDone) throw error;
    // Sending it again could set up a second one, so the person checks first.
    const { reference } = context.explain(error, { view: INTEGRATION_ADD });
    const text = 'The service gave no clear answer, so the integration may or may not be set up.';
    const next = 'Check the project’s integrations there before you send this again.';
    const words = failureWords({ text: `${text}${addReasons(text, error.cause)}`, next, reference });
    throw new FormFault({}, words);
  }
}

function newIntegration({ name = '', flags, properties }: FilledIn, type: HookType): NewIntegration {
  return {
    hook_type: type.label,
    name,
    ...Object.fromEntries(INTEGRATION_FLAGS.map((flag) => [flag, flags.includes(flag)])),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}

const OFF = { send_on_start: false, send_on_completion: false, send_on_failure: false };

interface Target {
  account: string;
  project: ProjectRef;
}

async function showAdded(
  context: CommandContext,
  target: Target,
  request: NewIntegration,
  result: IntegrationResult,
): Promise<Message> {
  const { word } = context.workspace;
  if (result.kind === 'auth_required') {
    const { identifier, authUrl } = result;
    const saved = await rememberIntegration(context, { ...OFF, ...request, identifier }, target);
    return authoriseMessage(saved, authUrl, { ...saved, word });
  }
  const { identifier } = result.integration;
  const added = { ...OFF, ...request, ...defined(result.integration), identifier };
  return addedMessage(await rememberIntegration(context, added, target));
}

async function openEdit(context: CommandContext, id?: string, project?: string): Promise<Reply> {
  if (id !== undefined && id.length > MAX_IDENTIFIER)
    throw new UserError('That is too long for an identifier.');
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
    const { account, project, identifier, hookType: type, flags } = match;
    return {
      account,
      project,
      identifier,
      current: { id: match.id, type, name: shownName(match.name), flags },
    };
  }
  if (id === undefined && nameOrId === undefined) return { account: (await resolveAccount(context)).name };
  const { account, project } = await resolveForForm(context, nameOrId);
  return { account: account.name, project, identifier: id };
}

async function pickOrigin(
  context: CommandContext,
  { channel, thread, account }: IntegrationOrigin,
  value: string,
): Promise<IntegrationOrigin> {
  return { channel, thread, picks: true, ...(await findIntegration({ ...context, account }, value)) };
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

/** Sends only the changed fields, then stores the integration as it is now. API 4.8 (docs/service-api.md). */
async function saveChanges(
  state: ViewState,
  context: CommandContext,
  origin: IntegrationOrigin,
  identifier: string,
): Promise<Submitted> {
  const { current } = origin;
  const form = readIntegration(state.values, 'change', current && findHookType(current.type));
  if (Object.keys(form.errors).length > 0) throw new FormFault(form.errors);
  const changes = findChanges(form, current);
  if (Object.keys(changes).length === 0) throw new FormFault({}, 'Nothing was changed, so nothing was sent.');
  const edited = { identifier, type: current?.type ?? form.type?.label ?? '', current, changes };
  if (INTEGRATION_FLAGS.some((flag) => changes[flag] === false))
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
  const isOn = (flag: IntegrationFlag): boolean => changes[flag] ?? current?.flags.includes(flag) ?? false;
  return {
    identifier,
    hook_type: type,
    name: changes.name ?? current?.name ?? identifier,
    send_on_start: isOn('send_on_start'),
    send_on_completion: isOn('send_on_completion'),
    send_on_failure: isOn('send_on_failure'),
  };
}

/**
 * Asks, once for each form, before it saves an integration that never notifies. What was typed stays in the form.
 * @throws FormFault with the question
 */
async function expectNotices(
  { invocation, workspace }: CommandContext,
  { view }: ViewState,
  flags: Readonly<Partial<Record<IntegrationFlag, boolean>>>,
): Promise<void> {
  if (INTEGRATION_FLAGS.some((flag) => flags[flag] === true)) return;
  if (await workspace.once(['integration without notices', view.id], DAY_MS, invocation.requestId))
    throw new FormFault({ flags: 'Without a tick it never notifies. Tick a box, or send the form again.' });
}

/** An integration; `identifier` is undefined if the service gave none. */
type Integration = Record<IntegrationFlag, boolean> & {
  identifier: string | undefined;
  hook_type: string;
  name: string;
};

/** @param id Deckhand's short id, if the integration is remembered already */
function rememberIntegration(
  { workspace }: CommandContext,
  { identifier, hook_type: hookType, name, ...flags }: Integration,
  target: Target,
  id?: string,
): Promise<RememberedIntegration> {
  const integration = {
    ...(identifier === undefined ? {} : { identifier }),
    hookType,
    name: shownName(name || (identifier ?? hookType)),
    ...target,
    flags: INTEGRATION_FLAGS.filter((flag) => flags[flag]),
    savedAt: workspace.clock.now(),
  };
  return workspace.integrations.remember(integration, id);
}
