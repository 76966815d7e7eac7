import { defined } from '../../core/json.ts';
import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import {
  findHookType,
  type IntegrationChanges,
  type IntegrationFlag,
  type IntegrationResult,
  updateIntegration,
} from '../../service/integrations.ts';
import { isAnyHidden } from '../../views/blocks/modal.ts';
import { changesOf, readIntegration } from '../../views/integrations/fields.ts';
import type { IntegrationOrigin } from '../../views/integrations/form.ts';
import { authoriseMessage, changedMessage } from '../../views/integrations/outcome.ts';
import type { CommandContext, Submitted, ViewState } from '../command.ts';
import { chosenProject, type FormProject } from '../resolve-target.ts';
import { drawn, type Known, remember } from './form.ts';

/** Sends what the person changed in the form, and nothing else; then stores the integration as it is now. API 4.8 (docs/service-api.md). */
export async function saveChanges(
  state: ViewState,
  context: CommandContext,
  origin: IntegrationOrigin,
  identifier: string,
): Promise<Submitted> {
  const { caller, workspace } = context;
  const { shown } = origin;
  const filled = readIntegration(state.values, 'change', shown && findHookType(shown.type));
  const { errors, type } = filled;
  if (isAnyHidden(errors, state.view)) return { kind: 'view', view: drawn(context, state) };
  if (Object.keys(errors).length > 0) return { kind: 'errors', errors };
  const changes = changesOf(filled, shown);
  if (Object.keys(changes).length === 0)
    return { kind: 'errors', errors: {}, base: 'Nothing was changed, so nothing was sent.' };
  const account = await workspace.accounts.resolve(caller, origin.account);
  const project = origin.project ?? (await chosenProject(context, account, state.values.project));
  const result = await workspace.accounts.use(
    account,
    (client) => updateIntegration(client, project.permalink, identifier, changes),
    {
      what: `integration ${code(origin.identifier === undefined ? identifier : (shown?.id ?? identifier))} in ${code(project.permalink)}`,
      list: 'integration edit',
    },
  );
  const edited = { identifier, type: shown?.type ?? type?.label ?? '', shown, changes };
  const message = await outcomeOf(context, { account: account.name, project }, result, edited);
  const audit = { target: `${account.name}/${project.permalink}/${identifier}` };
  return { kind: 'close', after: async () => ({ kind: 'private', message }), audit };
}

interface Edited {
  identifier: string;
  type: string;
  shown: IntegrationOrigin['shown'];
  changes: IntegrationChanges;
}

async function outcomeOf(
  context: CommandContext,
  target: { account: string; project: FormProject },
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
