import { z } from 'zod';
import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count, sanitize } from '../../core/mrkdwn.ts';
import { ProjectRef, projectId } from '../../core/project-ref.ts';
import { INTEGRATION_FLAGS, type IntegrationFlag } from '../../service/integrations.ts';
import { type MenuTarget, menu } from '../blocks/inputs.ts';
import { table } from '../blocks/lists.ts';
import { button, buttons, header, LIMITS, notes, say } from '../blocks/make-blocks.ts';
import { shownName, typeName } from './integration-modal.ts';

/** An integration of a project, as the service lists it or as Deckhand remembers it. */
export interface ShownIntegration {
  /** Deckhand's short id; undefined if it was set up elsewhere. */
  id: string | undefined;
  /** Undefined if the service gave none, e.g. for a new one of an OAuth type. */
  identifier: string | undefined;
  /** The neutral label of API 4.8 (docs/service-api.md). */
  hookType: string;
  name: string;
  flags: readonly IntegrationFlag[];
}

export interface IntegrationList {
  account: string;
  project: ProjectRef;
  integrations: readonly ShownIntegration[];
  /** False if the service lists none, so that only those set up with Deckhand are here. */
  isWhole: boolean;
  wireNames: Readonly<Record<string, string>>;
  word: string;
}

const NOT_WHOLE = 'Only those that were set up with Deckhand: the service does not list its integrations.';

export function integrationsMessage(list: IntegrationList): Message {
  const { account, project, integrations, isWhole, wireNames, word } = list;
  const where = `${bold(project.name)} in ${code(account)}`;
  if (integrations.length === 0) {
    const text = `No integration is set up in ${where}. Set one up with ${code(`${word} integration add`)}.`;
    return say(text, ...notes(!isWhole && NOT_WHOLE));
  }
  const rows = integrations.map(({ id, identifier, hookType, name, flags }) => [
    name,
    typeName(hookType, wireNames),
    flagWords(flags),
    id ?? identifier ?? '',
  ]);
  const title = `${count(integrations.length, 'integration')} of`;
  return {
    text: `${title} ${where}`,
    blocks: [
      header(`${title} ${sanitize(project.name, 60)}`),
      ...table('Integrations', ['Name', 'Type', 'Notifies of', 'ID'], rows),
      ...choices(list, 'integration edit', 'Edit one'),
      ...choices(list, 'integration remove', 'Remove one'),
      ...notes(!isWhole && NOT_WHOLE),
    ],
  };
}

/** Asks which integration to remove. */
export function chooseIntegrationMessage(list: IntegrationList, question: string): Message {
  const menus = choices(list, 'integration remove', 'Choose an integration');
  return menus.length === 0 ? integrationsMessage(list) : say(question, ...menus);
}

/** Beside a table, because Slack rejects messages of much over 13,000 characters. */
const MAX_CHOICES = 40;

function choices(
  { account, project, integrations }: IntegrationList,
  command: string,
  placeholder: string,
): KnownBlock[] {
  const values = new Map(integrations.map((one) => [one.identifier ?? one.id ?? '', one]));
  const options = [...values]
    .filter(([value]) => value !== '' && value.length <= LIMITS.optionValue)
    .slice(0, MAX_CHOICES)
    .map(([value, { name }]) => ({ value, text: name }));
  if (options.length === 0) return [];
  const target: MenuTarget = { command: `${command} --account ${account}`, project: projectId(project) };
  return menu({ actionId: 'start:choose', placeholder, target, choices: options });
}

const FLAG_WORDS: Record<IntegrationFlag, string> = {
  send_on_start: 'starts',
  send_on_completion: 'successes',
  send_on_failure: 'failures',
  send_on_check_failed: 'failed checks',
};

function flagWords(flags: readonly IntegrationFlag[]): string {
  const words = INTEGRATION_FLAGS.filter((flag) => flags.includes(flag)).map((flag) => FLAG_WORDS[flag]);
  return words.length === 0 ? 'nothing' : words.join(', ');
}

export const Removal = z.object({
  account: z.string(),
  project: ProjectRef,
  identifier: z.string(),
  name: z.string(),
});
export interface Removal extends z.infer<typeof Removal> {}

/** @param isPush true if it tells Deckhand of deployments */
export function confirmRemovalMessage(removal: Removal, isPush: boolean): Message {
  const { account, project } = removal;
  const name = shownName(removal.name);
  const polled = isPush ? ' It tells Deckhand of deployments within seconds, so their posts come later.' : '';
  const question = `Remove ${bold(name)} from ${bold(project.name)} in ${code(account)}? The service deletes it with its keys, and nothing brings it back.${polled}`;
  const value = { ...removal, name };
  return say(question, ...buttons(button('Remove', 'integration:remove', { style: 'danger', value })));
}

/** @param wasThere false if somebody had removed it before */
export function removedMessage({ name, project }: Removal, wasThere: boolean): Message {
  const what = `${bold(name)} of ${bold(project.name)}`;
  return say(wasThere ? `:wastebasket: ${what} is removed.` : `${what} was removed already.`);
}
