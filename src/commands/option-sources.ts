import { z } from 'zod';
import { indexNames, plainLetters, spellName } from '../core/names.ts';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import {
  extractCity,
  findPossibleZones,
  isZone,
  listZoneNames,
  parseZone,
  spellZone,
} from '../core/time/zone.ts';
import { type Account, type KeyUse, makeInvoiceUse } from '../records/accounts.ts';
import { readAddress } from '../service/addresses.ts';
import { documentDay, readState } from '../service/invoices.ts';
import { money } from '../views/blocks/formats.ts';
import { type Choice, menuTarget } from '../views/blocks/inputs.ts';
import { readZone } from '../workspace/slack-people.ts';
import type { OptionContext, OptionSource } from './action.ts';
import { resolveAccount } from './targets/targets.ts';
import { splitWords } from './typed-words.ts';
import { parseForm } from './values.ts';

/**
 * Menus in place of identifiers. A command registers each under the name of the field that it fills; any form may use it with
 * `searchInput`. A form's metadata names the `account` and `project`; otherwise the channel's are used.
 */

const MOST = 100;
const MAX_VALUE = 150;

/** Fills `project`: the value is a permalink, or the typed text if the service does not answer. */
export const projectPicker: OptionSource = {
  actionId: 'project',
  role: 'member',
  fallback: asTyped,
  async options(query, context) {
    const account = await accountHere(context);
    const projects = await context.workspace.projects.list(account);
    const link = readAddress(query.trim(), context.workspace.config.SERVICE_BASE_URL);
    if (link !== undefined && link.account !== account.name) return asTyped(query);
    const fitting = (await indexNames(projects)).search(link?.project ?? query);
    return acceptable(
      fitting.map(({ permalink, name }) => ({ value: permalink, text: name, description: permalink })),
    );
  },
};

/** Fills `projects` of the form that sets up a channel, like `project`. */
export const setupProjectsPicker: OptionSource = { ...projectPicker, actionId: 'projects', role: 'operator' };

/** Fills `server`: the value is an identifier, or the typed text if the service does not list servers. */
export const serverPicker: OptionSource = {
  actionId: 'server',
  role: 'member',
  fallback: asTyped,
  async options(query, context) {
    const { hosting } = context.workspace;
    const project = await projectHere(context);
    const servers = project && (await hosting.servers(await accountHere(context), project));
    if (!servers) return asTyped(query);
    const fitting = (await indexNames(servers)).search(query);
    return acceptable(
      fitting.map(({ identifier: value, name: text, protocol_type: type }) =>
        type === '' ? { value, text } : { value, text, description: type.replaceAll('_', ' ') },
      ),
    );
  },
};

/** Fills `invoice`: the value is a number. */
export const invoicePicker: OptionSource = {
  actionId: 'invoice',
  role: 'billing',
  async options(query, context) {
    const account = await accountHere(context, makeInvoiceUse(context.invocation));
    const invoices = await context.workspace.hosting.invoices(account);
    return matching(query, invoices, (invoice) => ({
      value: String(invoice.number),
      text: `${invoice.number}  ${money(invoice.total, invoice.currency)}`,
      description: `${documentDay(invoice.created_at)}, ${readState(invoice)}`,
    }));
  },
};

/** Fills `integration`: the value is Deckhand's short id, or an identifier as typed. */
export const integrationPicker: OptionSource = {
  actionId: 'integration',
  role: 'operator',
  fallback: asTyped,
  async options(query, { workspace }) {
    const remembered = await workspace.integrations.list();
    const matches = matching(query, remembered, ({ id, name, project, account }) => ({
      value: id,
      text: name,
      description: `${id}, ${project.name} of ${account}`,
    }));
    // An integration from elsewhere has only its identifier, so the typed text is offered too.
    return [...matches.slice(0, MOST - 1), ...asTyped(query)];
  },
};

/** Fills `zone`: the value is the present IANA name, found by any name of the zone; the person's own comes first. */
export const zonePicker: OptionSource = {
  actionId: 'zone',
  role: 'member',
  async options(query, { invocation, workspace }) {
    const matches = searchZones(query);
    if (matches.length === 0)
      return (isZone(query) ? [parseZone(query)] : findPossibleZones(query)).map((zone) => zoneChoice(zone));
    if (query !== '') return matches.slice(0, MOST);
    const own = zoneChoice(await readZone(workspace, invocation.user));
    return [own, ...matches.filter(({ value }) => value !== own.value)].slice(0, MOST);
  },
};

/** Zones whose city begins with the text, then zones whose name does, then all that contain it. */
function searchZones(query: string): Choice[] {
  const spelling = spellZone(query.trim());
  const fits = [
    (name: string) => spellZone(extractCity(name)).startsWith(spelling),
    (name: string) => spellZone(name).startsWith(spelling),
    (name: string) => spellZone(name).includes(spelling),
  ];
  const chosen = new Map<string, Choice>();
  for (const fit of fits)
    for (const [zone, names] of listZoneNames()) {
      const name = names.find(fit);
      if (name !== undefined && !chosen.has(zone)) chosen.set(zone, zoneChoice(zone, name));
    }
  return [...chosen.values()];
}

/** @param name the name that matched */
function zoneChoice(zone: string, name = zone): Choice {
  const also = name === zone ? {} : { description: `Also ${name.replaceAll('_', ' ')}` };
  return { value: zone, text: zone.replaceAll('_', ' '), ...also };
}

/** Items with the text in any of their words; items that begin with it come first. */
function matching<T>(text: string, items: readonly T[], toChoice: (item: T) => Choice): Choice[] {
  const query = searchKey(text);
  const fitting = items
    .map(toChoice)
    .map((choice) => {
      const { text, value, description = '' } = choice;
      const at = [text, value, description].map((words) => searchKey(words).indexOf(query));
      return { choice, index: Math.min(...at.filter((one) => one !== -1), Number.POSITIVE_INFINITY) };
    })
    .filter(({ index }) => Number.isFinite(index))
    .toSorted((one, other) => Math.min(one.index, 1) - Math.min(other.index, 1));
  return acceptable(fitting.map(({ choice }) => choice));
}

function searchKey(words: string): string {
  return plainLetters(spellName(words));
}

/** The first choices that Slack accepts: it rejects a menu with a value that is empty, repeated or too long. */
function acceptable(choices: readonly Choice[]): Choice[] {
  const fitting = choices.filter(({ value }) => value !== '' && value.length <= MAX_VALUE);
  const byValue = Map.groupBy(fitting, ({ value }) => value);
  return [...byValue.values()].flatMap(([first]) => first ?? []).slice(0, MOST);
}

/** Offers the typed text as an identifier. */
function asTyped(query: string): Choice[] {
  const value = query.trim();
  return acceptable([{ value, text: value, description: 'As typed' }]);
}

const MenuTarget = z.object({
  account: z.string().optional(),
  project: z.union([z.string(), ProjectRef.transform(projectId)]).optional(),
});

/** Account and project of a menu: from its form, or from the command of its message. */
function readTarget({ metadata, blockId }: OptionContext): z.infer<typeof MenuTarget> {
  if (metadata !== '') return parseForm(MenuTarget, metadata);
  const { command = '', ...target } = menuTarget(blockId) ?? {};
  const { account } = splitWords(command).flags;
  return typeof account === 'string' ? { account, ...target } : target;
}

function accountHere(context: OptionContext, keyUse?: KeyUse): Promise<Account> {
  return resolveAccount({ ...context, account: readTarget(context).account ?? context.account }, keyUse);
}

async function projectHere(context: OptionContext): Promise<string | undefined> {
  const { invocation, workspace } = context;
  const { project: bound } = await workspace.channels.get(invocation.channel);
  return readTarget(context).project ?? (bound && projectId(bound));
}
