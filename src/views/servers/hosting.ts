import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count, dateTime, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import type { HostedResource, Region, Size } from '../../service/hosted-resources.ts';
import { money, monthly } from '../blocks/formats.ts';
import { menu } from '../blocks/inputs.ts';
import { listBlocks, table } from '../blocks/lists.ts';
import { button, buttons, context, headed, header, LIMITS, say, section } from '../blocks/message.ts';
import { type Fact, factLines, statusIcon, statusWords } from './server.ts';

/** Costs are in the account's currency, which only its price list names; undefined where that does not. */
export type Currency = string | undefined;

const A_MONTH = { title: 'A month', align: 'right' } as const;

export function hostingMessage(
  account: string,
  resources: readonly HostedResource[],
  currency: Currency,
  word: string,
): Message {
  if (resources.length === 0)
    return say(
      `The account ${code(account)} has no managed resources. Create one with ${code(`${word} server add`)}.`,
    );
  const rows = resources.map((resource) => [
    resource.name || resource.identifier,
    resource.status,
    resource.region ?? '',
    resource.size ?? '',
    resource.ip_address ?? '',
    money(resource.monthly_cost, currency),
  ]);
  const title = `${count(resources.length, 'managed resource')} of`;
  return {
    text: `${title} ${code(account)}`,
    blocks: [
      header(`${title} ${sanitize(account, 60)}`),
      ...table('Managed resources', ['Name', 'Status', 'Region', 'Size', 'IP address', A_MONTH], rows),
      ...resourceMenu(resources, 'Show one', `hosting show --account ${account}`),
    ],
  };
}

/** Asks which managed resource is meant; the choice runs `text` with its identifier. */
export function chooseResourceMessage(
  account: string,
  resources: readonly HostedResource[],
  text: string,
): Message {
  const choice = resourceMenu(resources, 'Choose a resource', text);
  if (choice.length === 0) return say(`The account ${code(account)} has no managed resources.`);
  return say('Which managed resource do you mean?', ...choice);
}

/** Beside a table, for Slack refuses messages of much over 13,000 characters. */
const MAX_CHOICES = 50;

function resourceMenu(resources: readonly HostedResource[], placeholder: string, text: string): KnownBlock[] {
  // Of several with one identifier, which the service should not have, the menu takes one.
  const byIdentifier = new Map(resources.map((resource) => [resource.identifier, resource]));
  const choices = [...byIdentifier.values()]
    .filter(({ identifier }) => identifier.length <= LIMITS.optionValue)
    .slice(0, MAX_CHOICES)
    .map(({ identifier: value, name }) => ({ value, text: name || value }));
  return choices.length === 0
    ? []
    : menu({ actionId: 'start:choose', placeholder, target: { run: text }, choices });
}

export interface ResourceView {
  account: string;
  resource: HostedResource;
  currency: Currency;
  /** Whether the reader may ask for a sync. */
  maySync: boolean;
  /** What has just happened, as a sentence at the top; mrkdwn, escaped. */
  news?: string;
}

/** One managed resource (API 2.6, docs/service-api.md). */
export function resourceMessage(view: ResourceView): Message {
  const { resource, account, news } = view;
  const { identifier } = resource;
  const sync = button('Sync', 'hosting:sync', { value: { account, id: identifier } });
  return {
    text: news ?? `Managed resource ${mrkdwn(resource.name || identifier)}`,
    blocks: [
      ...(news === undefined ? [] : [section(news)]),
      section(`${bold(resource.name || identifier)}  ${mrkdwn(resource.kind ?? 'managed resource')}`),
      section(factLines(factsOf(view))),
      ...buttons(view.maySync && sync),
      context(`Identifier ${code(identifier)}`, `account ${code(account)}`),
    ],
  };
}

function factsOf({ resource, currency }: ResourceView): Fact[] {
  const { status, region, size, ip_address: address, ssh_key: key } = resource;
  const facts: Fact[] = [['Status', `${statusIcon(status)} ${statusWords(status)}`]];
  if (region !== null) facts.push(['Region', code(region)]);
  if (size !== null) facts.push(['Size', code(size)]);
  facts.push(['IP address', address === null ? 'none yet' : code(address)]);
  if (resource.monthly_cost !== null) facts.push(['Cost', monthly(resource.monthly_cost, currency)]);
  if (key !== null) {
    facts.push(['SSH key', `${mrkdwn(key.title)}, ${mrkdwn(key.key_type, 40)}, ${code(key.fingerprint)}`]);
    if (key.public_key !== '') facts.push(['Public key', code(key.public_key, 900)]);
  }
  if (resource.created_at !== null) facts.push(['Created', dateTime(resource.created_at)]);
  if (resource.updated_at !== null) facts.push(['Updated', dateTime(resource.updated_at)]);
  return facts;
}

export function regionsMessage(account: string, regions: readonly Region[]): Message {
  if (regions.length === 0) return say(`The account ${code(account)} can choose no region right now.`);
  const lines = regions.map(({ slug, name }) => `${bold(name)}  ${code(slug)}`);
  return headed('Regions for managed servers', ...listBlocks(lines));
}

export function sizesMessage(account: string, sizes: readonly Size[]): Message {
  if (sizes.length === 0) return say(`The account ${code(account)} can choose no size right now.`);
  const rows = sizes.map(({ slug, label, monthly_cost: cost, currency }) => {
    return [label, slug, money(cost, currency)];
  });
  return headed('Sizes of managed servers', ...table('Sizes', ['Size', 'Identifier', A_MONTH], rows));
}
