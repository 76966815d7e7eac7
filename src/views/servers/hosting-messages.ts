import {
  add,
  countCurrencyDigits,
  parseAmount,
  readCurrency,
  writeDecimal,
  ZERO,
} from '../../core/amount.ts';
import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count, dateTime, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import type { HostedResource, Region, Size } from '../../service/servers.ts';
import { money, monthly } from '../blocks/formats.ts';
import { menu } from '../blocks/inputs.ts';
import { listBlocks, table } from '../blocks/lists.ts';
import { button, buttons, headed, header, LIMITS, say, section } from '../blocks/make-blocks.ts';
import { codeOrNone, describeProtocol, describeStatus, type Fact, factLines, placeLine } from './server.ts';

const A_MONTH = { title: 'A month', align: 'right' } as const;

export function hostingMessage(
  account: string,
  resources: readonly HostedResource[],
  currency: string | undefined,
  word: string,
): Message {
  if (resources.length === 0)
    return say(
      `The account ${code(account)} has no managed servers. Create one with ${code(`${word} server add`)}.`,
    );
  const rows = resources.map((resource) => [
    resource.name || resource.identifier,
    resource.status,
    resource.region ?? '',
    resource.size ?? '',
    resource.ip_address ?? '',
    money(resource.monthly_cost, currency),
  ]);
  const title = `${count(resources.length, 'managed server')} of`;
  const sum = describeSum(resources, currency);
  return {
    text: `${title} ${code(account)}\n${sum}`,
    blocks: [
      header(`${title} ${sanitize(account, 60)}`),
      ...table('Managed servers', ['Name', 'Status', 'Region', 'Size', 'IP address', A_MONTH], rows),
      section(sum),
      ...resourceMenu(resources, 'Show one', `hosting show --account ${account}`),
    ],
  };
}

/** "Together *31.50 EUR a month*, without 1 server whose cost is not known" */
function describeSum(resources: readonly HostedResource[], currency: string | undefined): string {
  const costs = resources.flatMap(({ monthly_cost: cost }) =>
    cost === null ? [] : (parseAmount(String(cost), currency) ?? []),
  );
  const unknown = resources.length - costs.length;
  const rest = unknown === 0 ? '' : `${count(unknown, 'server')} whose cost is not known`;
  if (costs.length === 0) return `There ${unknown === 1 ? 'is' : 'are'} ${rest}.`;
  const sum = writeDecimal(costs.reduce(add, ZERO), countCurrencyDigits(readCurrency(currency)));
  const start = resources.length === 1 ? 'It costs' : 'Together';
  return `${start} *${mrkdwn(monthly(sum, currency))}*${rest && `, without ${rest}`}`;
}

/** Asks for a managed server. The choice runs the command with its identifier. */
export function chooseResourceMessage(
  account: string,
  resources: readonly HostedResource[],
  command: string,
): Message {
  const choice = resourceMenu(resources, 'Choose a server', `${command} --account ${account}`);
  if (choice.length === 0) return say(`The account ${code(account)} has no managed servers.`);
  return say('Which managed server do you mean?', ...choice);
}

/** Shown beside a table, and Slack rejects messages of much over 13,000 characters. */
const MAX_CHOICES = 50;

function resourceMenu(resources: readonly HostedResource[], placeholder: string, text: string): KnownBlock[] {
  // A menu rejects duplicate identifiers, in case the service lists one twice.
  const byIdentifier = new Map(resources.map((resource) => [resource.identifier, resource]));
  const choices = [...byIdentifier.values()]
    .filter(({ identifier }) => identifier.length <= LIMITS.optionValue)
    .slice(0, MAX_CHOICES)
    .map(({ identifier: value, name }) => ({ value, text: name || value }));
  return choices.length === 0
    ? []
    : menu({ actionId: 'start:choose', placeholder, target: { command: text }, choices });
}

export interface ResourceView {
  account: string;
  resource: HostedResource;
  /** The account's, which only its price list names. */
  currency: string | undefined;
  maySync: boolean;
  showsKey?: boolean | undefined;
  /** A sentence at the top; escaped mrkdwn. */
  news?: string;
}

/** A managed server (API 2.6, docs/service-api.md). */
export function resourceMessage(view: ResourceView): Message {
  const { resource, account, news, maySync, showsKey = false } = view;
  const { identifier, ssh_key: key } = resource;
  const sync = button('Sync', 'hosting:sync', { value: { account, id: identifier } });
  const text = `hosting show ${identifier} --key --account ${account}`;
  const showKey = button('Show SSH key', 'start:at-once#key', { value: { text } });
  return {
    text: news ?? `Managed server ${mrkdwn(resource.name || identifier)}`,
    blocks: [
      ...(news === undefined ? [] : [section(news)]),
      section(`${bold(resource.name || identifier)}  ${describeProtocol(resource.kind ?? 'managed server')}`),
      section(factLines([...resourceFacts(view), ...(showsKey ? keyFacts(key) : [])])),
      ...buttons(maySync && sync, !showsKey && key !== null && showKey),
      placeLine(identifier, account),
    ],
  };
}

function resourceFacts({ resource, currency }: ResourceView): Fact[] {
  const { status, region, size, ip_address, monthly_cost, created_at, updated_at } = resource;
  return [
    ['Status', describeStatus(status)],
    ['Region', region !== null && code(region)],
    ['Size', size !== null && code(size)],
    ['IP address', codeOrNone(ip_address)],
    ['Cost', monthly_cost !== null && mrkdwn(monthly(monthly_cost, currency))],
    ['Created', created_at !== null && dateTime(created_at)],
    ['Updated', updated_at !== null && dateTime(updated_at)],
  ];
}

function keyFacts(key: HostedResource['ssh_key']): Fact[] {
  if (key === null) return [['SSH key', 'none']];
  return [
    ['SSH key', `${mrkdwn(key.title)}, ${mrkdwn(key.key_type, 40)}, ${code(key.fingerprint)}`],
    ['Public key', key.public_key !== '' && code(key.public_key, 900)],
  ];
}

export function regionsMessage(account: string, regions: readonly Region[]): Message {
  if (regions.length === 0)
    return say(`The account ${code(account)} can choose no region right now. Try again later.`);
  const lines = regions.map(({ slug, name }) => `${bold(name)}  ${code(slug)}`);
  return headed('Regions for managed servers', ...listBlocks(lines));
}

export function sizesMessage(account: string, sizes: readonly Size[]): Message {
  if (sizes.length === 0)
    return say(`The account ${code(account)} can choose no size right now. Try again later.`);
  const rows = sizes.map(({ slug, label, monthly_cost: cost, currency }) => [
    label,
    slug,
    money(cost, currency),
  ]);
  return headed('Sizes of managed servers', ...table('Sizes', ['Size', 'Identifier', A_MONTH], rows));
}
