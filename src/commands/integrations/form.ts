import type { ModalView, Reply } from '../../core/message.ts';
import type { ProjectRef } from '../../core/project-ref.ts';
import { DAY_MS, withTimeout } from '../../core/time/clock.ts';
import type { RememberedIntegration } from '../../records/known-integrations.ts';
import { findHookType, INTEGRATION_FLAGS, type IntegrationFlag } from '../../service/integrations.ts';
import { isDescribed } from '../../service/operations.ts';
import { chosenType } from '../../views/integrations/integration-fields.ts';
import {
  INTEGRATION_ADD,
  INTEGRATION_EDIT,
  type IntegrationForm,
  IntegrationOrigin,
  integrationModal,
  listFlags,
  listSecretFields,
  shownName,
} from '../../views/integrations/integration-modal.ts';
import type { CommandContext } from '../context.ts';
import { FormFault, type ViewState } from '../submission.ts';
import { parseForm } from '../values.ts';

/** Common to both forms. */
export const FORM = {
  secrets: (state: ViewState) => {
    const { current } = readIntegrationOrigin(state);
    return listSecretFields(current === undefined ? chosenType(state.values) : findHookType(current.type));
  },
  draw: (state: ViewState, context: CommandContext) => drawIntegrationForm(context, state),
};

export function readIntegrationOrigin(state: ViewState): IntegrationOrigin {
  return parseForm(IntegrationOrigin, state.metadata);
}

/** Slack waits three seconds for a form. */
const DESCRIPTION_TIMEOUT_MS = 800;

/** @param typedProject a project that may not be looked up yet */
export async function openIntegrationForm(
  { invocation, workspace }: CommandContext,
  callbackId: IntegrationForm['callbackId'],
  target: IntegrationOrigin,
  typedProject: string | undefined,
): Promise<Reply> {
  const description = await withTimeout(
    workspace.clock,
    DESCRIPTION_TIMEOUT_MS,
    workspace.health.description(),
  );
  const checks = description !== undefined && isDescribed(description.described, 'checks');
  const origin = { ...target, checks, channel: invocation.channel, thread: invocation.threadTs };
  const wireNames = workspace.config.SERVICE_HOOK_TYPES;
  const view = integrationModal({ callbackId, origin, values: {}, wireNames, typedProject });
  return { kind: 'modal', view };
}

/** The form for the current choices. */
export function drawIntegrationForm(
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

export interface Target {
  account: string;
  project: ProjectRef;
}

/**
 * Asks, once for each form, before it saves an integration that never notifies. What was typed stays in the form.
 * @throws FormFault with the question
 */
export async function expectNotices(
  { invocation, workspace }: CommandContext,
  state: ViewState,
  flags: Readonly<Partial<Record<IntegrationFlag, boolean>>>,
): Promise<void> {
  if (listFlags(readIntegrationOrigin(state)).some((flag) => flags[flag] === true)) return;
  if (await workspace.once(['integration without notices', state.view.id], DAY_MS, invocation.requestId))
    throw new FormFault({ flags: 'Without a tick it never notifies. Tick a box, or send the form again.' });
}

/** An integration; `identifier` is undefined if the service gave none. */
export type Integration = Partial<Record<IntegrationFlag, boolean>> & {
  identifier: string | undefined;
  hook_type: string;
  name: string;
};

/** @param id Deckhand's short id, if the integration is remembered already */
export function rememberIntegration(
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
