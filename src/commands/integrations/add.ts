import { z } from 'zod';
import { AccountFailure } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { type ProjectRef, projectId } from '../../core/project-ref.ts';
import {
  createIntegration,
  type HookType,
  INTEGRATION_FLAGS,
  type IntegrationResult,
  type NewIntegration,
} from '../../service/integrations.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { saidBesides } from '../../views/blocks/service-failures.ts';
import { type FilledIn, readIntegration } from '../../views/integrations/fields.ts';
import { addedMessage, authoriseMessage, INTEGRATION_ADD } from '../../views/integrations/form.ts';
import {
  type CommandContext,
  closeWith,
  defineCommand,
  FormFault,
  type Submitted,
  type ViewState,
} from '../command.ts';
import { projectPicker } from '../option-sources.ts';
import { chosenProject, projectForForm } from '../targets/project.ts';
import { expectNotices, FORM, openForm, originOf, redrawActions, remember } from './form.ts';

export const integrationAdd = defineCommand({
  name: 'integration add',
  summary: 'Sets up an integration of a project: chats, error trackers, caches and more',
  usage: '[project]',
  examples: ['integration add', 'integration add storefront'],
  role: 'operator',
  needsAccount: true,
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async run({ project: named }, context) {
    const { account, project } = await projectForForm(context, named);
    return openForm(context, INTEGRATION_ADD, { account: account.name, project }, named);
  },
  actions: redrawActions,
  submissions: [{ ...FORM, callbackId: INTEGRATION_ADD, isOrder: true, submit: submitAdd }],
  optionSources: [projectPicker],
});

async function submitAdd(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { caller, workspace } = context;
  const filled = readIntegration(state.values, 'new');
  const { type, errors } = filled;
  if (type === undefined) throw new FormFault({ hook_type: 'Choose a type.', ...errors });
  if (Object.keys(errors).length > 0) throw new FormFault(errors);
  await expectNotices(context, state, newIntegration(filled, type));
  const origin = originOf(state);
  const account = await workspace.accounts.resolve(caller, origin.account);
  const project = origin.project ?? (await chosenProject(context, account, state.values.project));
  const target = { account: account.name, project };
  try {
    const result = await workspace.accounts.use(
      account,
      (client) => createIntegration(client, projectId(project), newIntegration(filled, type)),
      { what: `project ${code(project.permalink)}`, list: 'projects' },
    );
    const message = await outcomeOf(context, target, newIntegration(filled, type), result);
    return closeWith(message, { target: `${account.name}/${project.permalink}` });
  } catch (error) {
    if (!(error instanceof AccountFailure) || error.cause.certainlyNotDone) throw error;
    throw new FormFault({}, perhapsDone(context, error));
  }
}

/** Sending it again could set up a second one, so the person checks first. */
function perhapsDone({ explain }: CommandContext, error: AccountFailure): string {
  const { reference } = explain(error, { view: INTEGRATION_ADD });
  const text = 'The service gave no clear answer, so the integration may or may not be set up.';
  return failureWords({
    text: `${text}${saidBesides(text, error.cause)}`,
    next: 'Check the project’s integrations there before you send this again.',
    reference,
  });
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

async function outcomeOf(
  context: CommandContext,
  target: { account: string; project: ProjectRef },
  sent: NewIntegration,
  result: IntegrationResult,
): Promise<Message> {
  const { word, config } = context.workspace;
  if (result.kind === 'auth_required') {
    const { identifier, authUrl } = result;
    const saved = await remember(context, { ...OFF, ...sent, identifier }, target);
    return authoriseMessage(saved, authUrl, { ...saved, word });
  }
  const { identifier } = result.integration;
  const known = { ...OFF, ...sent, ...defined(result.integration), identifier };
  return addedMessage(await remember(context, known, target), config.SERVICE_HOOK_TYPES);
}
