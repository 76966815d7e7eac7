import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, linesWithin, mrkdwn } from '../../core/mrkdwn.ts';
import type { RememberedIntegration } from '../../records/integrations.ts';
import type { IntegrationChanges } from '../../service/integrations.ts';
import { button, buttons, context, safeUrl, say } from '../blocks/message.ts';
import { propertyLabel } from './fields.ts';
import { typeName } from './form.ts';

export function addedMessage(
  { id, name, hookType, project }: RememberedIntegration,
  wireNames: Readonly<Record<string, string>>,
): Message {
  const type = mrkdwn(typeName(hookType, wireNames));
  const said = `:white_check_mark: ${bold(name)}, ${type}, is set up in ${bold(project.name)}.`;
  return say(said, ...editButton(id));
}

/** `changes`: what was sent; of the properties only the names are shown. */
export function changedMessage(
  { id, name, project }: RememberedIntegration,
  changes: IntegrationChanges,
): Message {
  const said = `:white_check_mark: ${bold(name)} in ${bold(project.name)}: changed ${changedWords(changes)}.`;
  return say(said, ...editButton(id));
}

/**
 * For the asker alone: the address where to authorise an integration. It is foreign, so its host is shown, and it is not
 * opened unless it is https or a service on this machine.
 * @param added of one that was added just now, with the slash word; without `identifier` the service gave none
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
  const state = added ? 'set up. Authorise it' : 'saved. Authorise it again';
  const next =
    added === undefined
      ? 'It works again at once.'
      : `It becomes active at once. Change it later with ${code(`${added.word} integration edit ${added.id}`)}${added.identifier === undefined ? ', which asks for its identifier at the service' : ''}.`;
  return say(
    `:key: ${what} is ${state} in your browser. ${next}`,
    ...buttons(button('Authorise in the browser', 'link:open', { style: 'primary', url })),
    context(`Opens ${code(new URL(url).host, 200)}. Only you see this.`),
  );
}

function editButton(id: string): KnownBlock[] {
  return buttons(button('Edit', 'integration:edit', { value: { id } }));
}

const CHANGE_NAMES: Record<string, string> = {
  name: 'its name',
  send_on_start: 'the notice at the start',
  send_on_completion: 'the notice of success',
  send_on_failure: 'the notice of failure',
};

function changedWords({ properties = {}, ...own }: IntegrationChanges): string {
  const names = Object.keys(own).map((key) => CHANGE_NAMES[key] ?? key);
  const keys = Object.entries(properties).map(
    ([key, value]) => `${mrkdwn(propertyLabel(key))}${value === null ? ' (cleared)' : ''}`,
  );
  return linesWithin([...names, ...keys], 1000).replaceAll('\n', ', ');
}
