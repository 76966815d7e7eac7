import { z } from 'zod';
import { AccountFailure } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import {
  createIntegration,
  type HookType,
  type IntegrationResult,
  type NewIntegration,
} from '../../service/integrations.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { addReasons } from '../../views/blocks/service-failures.ts';
import { type FilledIn, readIntegration } from '../../views/integrations/integration-fields.ts';
import {
  addedMessage,
  authoriseMessage,
  INTEGRATION_ADD,
  listFlags,
} from '../../views/integrations/integration-modal.ts';
import { redraw } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { projectPicker } from '../option-sources.ts';
import { closeWith, FormFault, type Submitted, type ViewState } from '../submission.ts';
import { resolveForForm, resolveFormTarget } from '../targets/targets.ts';
import {
  drawIntegrationForm,
  expectNotices,
  FORM,
  openIntegrationForm,
  readIntegrationOrigin,
  rememberIntegration,
  type Target,
} from './form.ts';

export const integrationAdd = defineCommand({
  name: 'integration add',
  phrases: { 'add|create|new|connect|set webhook|hook|slack|email|integration up|to|for|in? *': '$1' },
  phrase: 'sends deployments to your other tools',
  shownAs: 'integration',
  summary: 'Sets up an integration of a project: chats, error trackers, caches and more',
  usage: '[project]',
  examples: ['integration add', 'integration add storefront'],
  role: 'operator',
  needsAccount: true,
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async handle({ project: projectName }, context) {
    const { account, project } = await resolveForForm(context, projectName);
    return openIntegrationForm(context, INTEGRATION_ADD, { account: account.name, project }, projectName);
  },
  // Choosing a type or version shows the fields that it asks for.
  actions: ['hook_type', 'properties.hook_version'].map((actionId) => ({
    actionId,
    handle: redraw(async (state, context, value) =>
      drawIntegrationForm(context, state, { values: { ...state.values, [actionId]: value } }),
    ),
  })),
  submissions: [{ ...FORM, callbackId: INTEGRATION_ADD, isOrder: true, submit: submitAdd }],
  optionSources: [projectPicker],
});

async function submitAdd(state: ViewState, context: CommandContext): Promise<Submitted> {
  const origin = readIntegrationOrigin(state);
  const form = readIntegration(state.values, 'new', listFlags(origin));
  const { type, errors } = form;
  if (type === undefined) throw new FormFault({ hook_type: 'Choose a type.', ...errors });
  if (Object.keys(errors).length > 0) throw new FormFault(errors);
  const integration = newIntegration(form, type);
  await expectNotices(context, state, integration);
  const { account, project } = await resolveFormTarget(context, origin, state.values.project);
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

function newIntegration({ name = '', offered, flags, properties }: FilledIn, type: HookType): NewIntegration {
  return {
    hook_type: type.label,
    name,
    ...Object.fromEntries(offered.map((flag) => [flag, flags.includes(flag)])),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
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
    const saved = await rememberIntegration(context, { ...request, identifier }, target);
    return authoriseMessage(saved, authUrl, { ...saved, word });
  }
  const { identifier } = result.integration;
  const added = { ...request, ...defined(result.integration), identifier };
  return addedMessage(await rememberIntegration(context, added, target));
}
