import { z } from 'zod';
import { indexNames } from '../core/names.ts';
import { ProjectRef, projectId } from '../core/project-ref.ts';
import { cityOf, isZone, parseZone, spellZone, zoneNames, zonesMeantBy } from '../core/time/zone.ts';
import { type Account, forInvoices, type Requester } from '../records/accounts.ts';
import { readAddress } from '../service/addresses.ts';
import { type Choice, menuTarget } from '../views/blocks/inputs.ts';
import { zoneOf } from '../workspace/slack-people.ts';
import { fromForm, type OptionContext, type OptionSource } from './command.ts';
import { splitWords } from './command-router.ts';
import { accountOf } from './targets/project.ts';

/**
 * Menus in place of identifiers. Each is registered by the command it belongs to, under the name of the field that it
 * fills; any form may use it with `searchInput`. A form's metadata says which `account`, and which `project` where
 * that matters; otherwise the channel's count.
 */

const MOST = 100;
const MAX_VALUE = 150;

/** Fills `project`: the value is a permalink, or what was typed where the service has no answer. */
export const projectPicker: OptionSource = {
  actionId: 'project',
  role: 'member',
  fallback: asTyped,
  async options(typed, context) {
    const account = await accountHere(context);
    const projects = await context.workspace.projects.list(account);
    const link = readAddress(typed.trim(), context.workspace.config.SERVICE_BASE_URL);
    if (link !== undefined && link.account !== account.name) return asTyped(typed);
    const fitting = (await indexNames(projects)).search(link?.project ?? typed);
    return offered(fitting, ({ permalink, name }) => ({
      value: permalink,
      text: name,
      description: permalink,
    }));
  },
};

/** Fills `server`: the value is an identifier, or what was typed where the service does not list servers. */
export const serverPicker: OptionSource = {
  actionId: 'server',
  role: 'member',
  fallback: asTyped,
  async options(typed, context) {
    const { hosting } = context.workspace;
    const project = await projectHere(context);
    const servers = project && (await hosting.servers(await accountHere(context), project));
    if (!servers) return asTyped(typed);
    return offered((await indexNames(servers)).search(typed), ({ identifier, name, protocol_type }) => ({
      value: identifier,
      text: name,
      ...(protocol_type === '' ? {} : { description: protocol_type.replaceAll('_', ' ') }),
    }));
  },
};

/** Fills `invoice`: the value is a number. */
export const invoicePicker: OptionSource = {
  actionId: 'invoice',
  role: 'billing',
  async options(typed, context) {
    const account = await accountHere(context, forInvoices(context.caller));
    const invoices = await context.workspace.hosting.invoices(account);
    return matching(typed, invoices, (invoice) => ({
      value: String(invoice.number),
      text: `${invoice.number}  ${invoice.total} ${invoice.currency.toUpperCase()}`,
      description: `${invoice.created_at.slice(0, 10)}, ${invoice.paid ? 'paid' : 'unpaid'}`,
    }));
  },
};

/** Fills `integration`: the value is Deckhand's short id, or an identifier as typed. */
export const integrationPicker: OptionSource = {
  actionId: 'integration',
  role: 'operator',
  fallback: asTyped,
  async options(typed, { workspace }) {
    const remembered = await workspace.integrations.list();
    const found = matching(typed, remembered, ({ id, name, project, account }) => ({
      value: id,
      text: name,
      description: `${id}, ${project.name} of ${account}`,
    }));
    // Any other integration goes by its identifier, so that is always on offer too.
    return [...found.slice(0, MOST - 1), ...asTyped(typed)];
  },
};

/** Fills `zone`: the value is the present IANA name, found by any name of the zone; the person's own comes first. */
export const zonePicker: OptionSource = {
  actionId: 'zone',
  role: 'member',
  async options(typed, { caller, workspace }) {
    const found = zonesMatching(typed);
    if (found.length === 0)
      return (isZone(typed) ? [parseZone(typed)] : zonesMeantBy(typed)).map((zone) => zoneChoice(zone));
    if (typed !== '') return found.slice(0, MOST);
    const own = zoneChoice(await zoneOf(workspace, caller.user));
    return [own, ...found.filter(({ value }) => value !== own.value)].slice(0, MOST);
  },
};

/** Those of which a city begins with what was typed, then those of which a whole name does, then all that contain it. */
function zonesMatching(typed: string): Choice[] {
  const wanted = spellZone(typed.trim());
  const fits = [
    (name: string) => spellZone(cityOf(name)).startsWith(wanted),
    (name: string) => spellZone(name).startsWith(wanted),
    (name: string) => spellZone(name).includes(wanted),
  ];
  const chosen = new Map<string, Choice>();
  for (const fit of fits)
    for (const [zone, names] of zoneNames()) {
      const name = names.find(fit);
      if (name !== undefined && !chosen.has(zone)) chosen.set(zone, zoneChoice(zone, name));
    }
  return [...chosen.values()];
}

/** `name`: the name by which the zone was found. */
function zoneChoice(zone: string, name = zone): Choice {
  const also = name === zone ? {} : { description: `Also ${zoneLabel(name)}` };
  return { value: zone, text: zoneLabel(zone), ...also };
}

function zoneLabel(zone: string): string {
  return zone.replaceAll('_', ' ');
}

/** The items with what was typed in any of their words; those that begin with it come first. */
function matching<T>(typed: string, items: readonly T[], choiceOf: (item: T) => Choice): Choice[] {
  const wanted = typed.trim().toLowerCase();
  const fitting = items
    .map(choiceOf)
    .map((choice) => {
      const { text, value, description = '' } = choice;
      return { choice, words: `${text}\n${value}\n${description}`.toLowerCase() };
    })
    .filter(({ words }) => words.includes(wanted));
  const first = fitting.filter(({ words }) => words.startsWith(wanted));
  const rest = fitting.filter(({ words }) => !words.startsWith(wanted));
  return offered([...first, ...rest], ({ choice }) => choice);
}

/** The first choices that Slack takes. */
function offered<T>(items: readonly T[], choiceOf: (item: T) => Choice): Choice[] {
  const seen = new Set<string>();
  return items
    .map(choiceOf)
    .filter((choice) => isOffered(choice, seen))
    .slice(0, MOST);
}

/** Slack refuses a menu with a value that is too long, empty or repeated. */
function isOffered({ value }: Choice, seen: Set<string>): boolean {
  if (value === '' || value.length > MAX_VALUE || seen.has(value)) return false;
  seen.add(value);
  return true;
}

/** What was typed is taken as the identifier. */
function asTyped(typed: string): Choice[] {
  const value = typed.trim();
  if (value === '' || value.length > MAX_VALUE) return [];
  return [{ value, text: value, description: 'As typed' }];
}

const MenuTarget = z.object({
  account: z.string().optional(),
  project: z.union([z.string(), ProjectRef.transform(projectId)]).optional(),
});

/** The account and project that the menu is about: from its form, or from the command that its message asks about. */
function targetOf({ metadata, blockId }: OptionContext): z.infer<typeof MenuTarget> {
  if (metadata !== '') return fromForm(MenuTarget, metadata);
  const { run = '', ...target } = menuTarget(blockId) ?? {};
  const { account } = splitWords(run).flags;
  return typeof account === 'string' ? { account, ...target } : target;
}

function accountHere(context: OptionContext, requester?: Requester): Promise<Account> {
  return accountOf({ ...context, account: targetOf(context).account ?? context.account }, requester);
}

async function projectHere(context: OptionContext): Promise<string | undefined> {
  const { caller, workspace } = context;
  const { project: bound } = await workspace.channels.get(caller.channel);
  return targetOf(context).project ?? (bound && projectId(bound));
}
