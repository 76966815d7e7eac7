import type { ModalView, Reply } from '../../core/message.ts';
import type { ProjectRef } from '../../core/project-ref.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import type { RememberedIntegration } from '../../records/integrations.ts';
import { findHookType, INTEGRATION_FLAGS, type IntegrationFlag } from '../../service/integrations.ts';
import { chosenType } from '../../views/integrations/fields.ts';
import {
  INTEGRATION_ADD,
  INTEGRATION_EDIT,
  type IntegrationForm,
  IntegrationOrigin,
  integrationModal,
  secretFieldsOf,
  shownName,
} from '../../views/integrations/form.ts';
import { type Action, type CommandContext, FormFault, fromForm, redraw, type ViewState } from '../command.ts';

/** What both forms of an integration have in common: their view, and what is remembered of what they save. */

export function originOf(state: ViewState): IntegrationOrigin {
  return fromForm(IntegrationOrigin, state.metadata);
}

/** The fields of the form that hold a secret: never put back. */
function secretsIn(state: ViewState): readonly string[] {
  const { shown } = originOf(state);
  return secretFieldsOf(shown === undefined ? chosenType(state.values) : findHookType(shown.type));
}

/** The form as it opens. @param typed a project that may not be looked up yet */
export function openForm(
  { caller, workspace }: CommandContext,
  callbackId: IntegrationForm['callbackId'],
  about: IntegrationOrigin,
  typedProject: string | undefined,
): Reply {
  const origin = { ...about, channel: caller.channel, thread: caller.threadTs };
  const wireNames = workspace.config.SERVICE_HOOK_TYPES;
  return {
    kind: 'modal',
    view: integrationModal({ callbackId, origin, values: {}, wireNames, typedProject }),
  };
}

/** The form as it stands, for what is chosen in it so far. */
export function drawn(
  { workspace }: CommandContext,
  state: ViewState,
  changes: Partial<Pick<IntegrationForm, 'origin' | 'values'>> = {},
): ModalView {
  return integrationModal({
    callbackId: state.view.callback_id === INTEGRATION_EDIT ? INTEGRATION_EDIT : INTEGRATION_ADD,
    origin: originOf(state),
    values: state.values,
    wireNames: workspace.config.SERVICE_HOOK_TYPES,
    ...changes,
  });
}

/** What both forms come back with. */
export const FORM = {
  secrets: secretsIn,
  draw: (state: ViewState, context: CommandContext) => drawn(context, state),
} as const;

/** Choosing a type or version shows the fields that it asks for. */
export const redrawActions: readonly Action[] = ['hook_type', 'properties.hook_version'].map((actionId) => ({
  actionId,
  run: redraw(async (state, context, value) =>
    drawn(context, state, { values: { ...state.values, [actionId]: value } }),
  ),
}));

/**
 * Asks, once for each form, before it saves an integration that never notifies. What was typed stays in the form.
 * @throws FormFault with the question
 */
export async function expectNotices(
  { caller, workspace }: CommandContext,
  { view }: ViewState,
  flags: Readonly<Partial<Record<IntegrationFlag, boolean>>>,
): Promise<void> {
  if (INTEGRATION_FLAGS.some((flag) => flags[flag] === true)) return;
  if (await workspace.once(['integration without notices', view.id], DAY_MS, caller.requestId))
    throw new FormFault({ flags: 'Without a box it never notifies. Tick one, or send again to save it so.' });
}

/** What is known of an integration; `identifier` is absent where the service gave none. */
export type Known = Record<IntegrationFlag, boolean> & {
  identifier: string | undefined;
  hook_type: string;
  name: string;
};

/**
 * Remembers an integration as the service answered it, and as it was sent where the answer is silent.
 * @param id Deckhand's short id of it, where it is remembered already
 */
export function remember(
  { caller, workspace }: CommandContext,
  { identifier, hook_type: hookType, name, ...flags }: Known,
  target: { account: string; project: ProjectRef },
  id?: string,
): Promise<RememberedIntegration> {
  const integration = {
    ...(identifier === undefined ? {} : { identifier }),
    hookType,
    name: shownName(name || (identifier ?? hookType)),
    ...target,
    flags: INTEGRATION_FLAGS.filter((flag) => flags[flag]),
    savedBy: caller.user,
    savedAt: workspace.clock.now(),
  };
  return workspace.integrations.remember(integration, id);
}
