import type { Message } from '../../core/message.ts';
import { bold, code, linesWithin, mrkdwn } from '../../core/mrkdwn.ts';
import type { IntegrationChanges } from '../../service/integrations.ts';
import { buttons, context, safeUrl, say } from '../blocks/message.ts';
import { propertyLabel } from './fields.ts';

/** A saved integration. */
export interface SavedIntegration {
  /** Deckhand's short id. */
  id: string;
  name: string;
  /** Its type, for people. */
  type: string;
  project: string;
  word: string;
}

export function addedMessage(saved: SavedIntegration): Message {
  const said = `:white_check_mark: ${bold(saved.name)}, ${mrkdwn(saved.type)}, is set up in ${bold(saved.project)}. Change it with ${code(`${saved.word} integration edit ${saved.id}`)}.`;
  return say(said, ...editButton(saved));
}

/** `changes`: what was sent; of the properties only the names are shown. */
export function changedMessage(saved: SavedIntegration, changes: IntegrationChanges): Message {
  const said = `:white_check_mark: ${bold(saved.name)} in ${bold(saved.project)}: changed ${changedWords(changes)}.`;
  return say(said, ...editButton(saved));
}

/**
 * For the asker alone: the address where to authorise an integration. It is foreign, so its host is shown, and it is not
 * opened unless it is https or a service on this machine.
 */
export function authoriseMessage(about: {
  name: string;
  project: string;
  authUrl: string;
  word: string;
  /** Of one that was added just now. `isIdentified`: the service gave its identifier. */
  added?: { id: string; isIdentified: boolean };
}): Message {
  const { name, project, authUrl, word, added } = about;
  const what = `${bold(name)} in ${bold(project)}`;
  const url = safeUrl(authUrl);
  if (url === undefined)
    return say(
      `:warning: ${what} must be authorised in a browser, but the address from the service is not safe to open. Authorise it on the service’s own pages.`,
    );
  const state = added ? 'set up. Authorise it' : 'saved. Authorise it again';
  const next =
    added === undefined
      ? 'It works again at once.'
      : `It becomes active at once. Change it later with ${code(`${word} integration edit ${added.id}`)}${added.isIdentified ? '' : ', which asks for its identifier at the service'}.`;
  return say(
    `:key: ${what} is ${state} in your browser. ${next}`,
    ...buttons({ label: 'Authorise in the browser', actionId: 'link:open', style: 'primary', url }),
    context(`Opens ${code(new URL(url).host, 200)}. Only you see this.`),
  );
}

function editButton({ id }: SavedIntegration): ReturnType<typeof buttons> {
  return buttons({ label: 'Edit', actionId: 'integration:edit', value: { id } });
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
