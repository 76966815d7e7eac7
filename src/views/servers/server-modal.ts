import { z } from 'zod';
import type { ServiceError } from '../../core/errors.ts';
import type { KnownBlock, ModalView } from '../../core/message.ts';
import { bold, code, mrkdwn } from '../../core/mrkdwn.ts';
import type { Draft, Protocol, RequestedServer } from '../../records/known-servers.ts';
import type { Region, Size } from '../../service/servers.ts';
import { monthly } from '../blocks/formats.ts';
import { type Choice, checkboxesInput, selectInput, textInput } from '../blocks/inputs.ts';
import { button, buttons, context, LIMITS, notes, section } from '../blocks/make-blocks.ts';
import { modal, notice, refill, type Values } from '../blocks/modal.ts';
import { projectBlock } from '../projects/project-messages.ts';
import { ENROLL_CONFIRMATION, handOverBlocks, handOverWords } from './beta-messages.ts';
import { type Fact, factLines } from './server.ts';

export const SERVER_ADD = 'server.add';
export const SERVER_ADD_TITLE = 'Add a managed server';

/** The choices for a virtual server. */
export interface Offer {
  regions: readonly Region[];
  sizes: readonly Size[];
}

export interface ServerForm {
  draft: Draft;
  values: Values;
  offer: Offer | undefined;
  /** Domain of hosted sites, if it is configured. */
  sitesDomain: string | undefined;
  /** A typed project that has not been looked up yet. */
  typedProject?: string | undefined;
}

const MAX_NAME = 255;
const MAX_LABEL = 63;
const PROTOCOLS: readonly Choice[] = [
  { value: 'static_hosting', text: 'Static hosting', description: 'A site of files under its own subdomain' },
  { value: 'managed_vps', text: 'Managed server', description: 'A machine of its own, billed by the month' },
];

export function serverFormModal(form: ServerForm): ModalView {
  const { draft } = form;
  const view = modal(SERVER_ADD, SERVER_ADD_TITLE, { submit: 'Continue', metadata: draft }, [
    projectBlock(draft, form.typedProject),
    textInput('name', 'Name', { placeholder: 'web-1', maxLength: MAX_NAME }),
    selectInput('protocol_type', 'Kind', { choices: PROTOCOLS, dispatch: true }),
    ...(draft.protocol === 'static_hosting' ? siteBlocks(form) : machineBlocks(form)),
    context('Nothing is created yet: the next step shows everything, and what it costs.'),
  ]);
  return refill(view, { ...form.values, protocol_type: draft.protocol }, []);
}

/** The address of a subdomain, in mrkdwn. */
function addressWords(subdomain: string, sitesDomain: string | undefined): string {
  if (sitesDomain === undefined) return `${code(subdomain)}, at the service’s domain for sites`;
  return code(`https://${subdomain}.${sitesDomain}`, 200);
}

export function fillServerForm(requested: RequestedServer): Values {
  if (requested.protocol_type === 'managed_vps') return { ...requested };
  return { ...requested, spa_mode: requested.spa_mode ? [SPA_MODE] : [] };
}

const NAMELESS = 'Give the server a name.';
const NO_LABEL = 'Use letters, digits and hyphens, as in the first part of an address.';
const Name = z.string({ error: NAMELESS }).trim().min(1, NAMELESS);
const Label = z
  .string({ error: NO_LABEL })
  .trim()
  .transform(readLabel)
  .pipe(z.string({ error: NO_LABEL }));

export const ServerFields = {
  static_hosting: z
    .object({
      name: Name,
      subdomain: Label,
      spa_mode: z.array(z.string()).optional(),
    })
    .transform(({ spa_mode = [], ...site }) => ({
      protocol_type: 'static_hosting' as const,
      ...site,
      spa_mode: spa_mode.includes(SPA_MODE),
    })),
  managed_vps: z
    .object({
      name: Name,
      region: z.string({ error: 'Choose a region.' }),
      size: z.string({ error: 'Choose a size.' }),
    })
    .transform((machine) => ({ protocol_type: 'managed_vps' as const, ...machine })),
} satisfies Record<Protocol, z.ZodType<RequestedServer>>;

const SPA_MODE = 'true';

function siteBlocks({ values, sitesDomain }: ServerForm): KnownBlock[] {
  const { subdomain } = values;
  const label = typeof subdomain === 'string' ? readLabel(subdomain.trim()) : undefined;
  const hint = sitesDomain
    ? `The site’s address becomes https://<subdomain>.${sitesDomain}`
    : 'The first part of the site’s address.';
  return [
    textInput('subdomain', 'Subdomain', { placeholder: 'shop', hint, maxLength: 300, dispatch: true }),
    ...notes(label !== undefined && `The address will be ${addressWords(label, sitesDomain)}`),
    checkboxesInput('spa_mode', 'Single-page app', {
      optional: true,
      choices: [{ value: SPA_MODE, text: 'Answer every path with the index page' }],
    }),
  ];
}

function machineBlocks({ offer }: ServerForm): KnownBlock[] {
  if (offer === undefined)
    return [context(':hourglass_flowing_sand: Looking up the regions and sizes to choose from…')];
  const regions = listChoices(offer.regions, ({ name }) => name);
  const sizes = listChoices(
    offer.sizes,
    ({ label, monthly_cost, currency }) => `${label}, ${monthly(monthly_cost, currency)}`,
  );
  return [
    ...choiceBlocks('region', 'Region', regions, offer.regions.length),
    ...choiceBlocks('size', 'Size', sizes, offer.sizes.length),
  ];
}

function choiceBlocks(field: string, label: string, choices: readonly Choice[], all: number): KnownBlock[] {
  if (choices.length === 0)
    return [section(`:warning: The service offers no ${mrkdwn(field)} right now. Try again later.`)];
  const omitted = all - choices.length;
  return [
    selectInput(field, label, { choices }),
    ...notes(omitted > 0 && `_and ${omitted} more that do not fit here_`),
  ];
}

/** The items that fit into a menu, without duplicates. */
function listChoices<T extends { slug: string }>(
  items: readonly T[],
  describe: (item: T) => string,
): Choice[] {
  const bySlug = new Map(items.map((item) => [item.slug, item]));
  return [...bySlug]
    .filter(([slug]) => slug !== '' && slug.length <= LIMITS.optionValue)
    .map(([slug, item]) => ({ value: slug, text: describe(item), description: slug }));
}

/** Returns the first label of an address; undefined if it is invalid. */
function readLabel(address: string): string | undefined {
  const label = address
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split(/[./]/)[0];
  const isLabel = label !== undefined && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label);
  return isLabel && label.length <= MAX_LABEL ? label : undefined;
}

/** The last step before the order, with all choices and the price. */
export function confirmServerModal(
  draft: Draft & { project: { name: string }; requested: RequestedServer },
  sitesDomain: string | undefined,
): ModalView {
  const { requested, project, account, cost } = draft;
  const facts: Fact[] = [
    ['Name', mrkdwn(requested.name)],
    ['Project', `${mrkdwn(project.name)} in ${code(account)}`],
    ...requestedFacts(draft, sitesDomain),
    ['Price', cost === undefined ? 'not given by the service' : `*${mrkdwn(cost)}*`],
  ];
  return modal(SERVER_ADD, SERVER_ADD_TITLE, { submit: 'Create', metadata: draft }, [
    section('Create this server?'),
    section(factLines(facts)),
    ...buttons(button('Change something', 'server.add:back')),
    context('Nothing is created before you press *Create*. It is billed by the service from then on.'),
  ]);
}

function requestedFacts(
  { requested, names }: Draft & { requested: RequestedServer },
  sitesDomain: string | undefined,
): Fact[] {
  if (requested.protocol_type === 'managed_vps')
    return [
      ['Kind', 'Managed server'],
      ['Region', mrkdwn(names?.region || requested.region)],
      ['Size', mrkdwn(names?.size || requested.size)],
    ];
  return [
    ['Kind', 'Static hosting'],
    ['Address', addressWords(requested.subdomain, sitesDomain)],
    ['Single-page app', requested.spa_mode ? 'yes' : 'no'],
  ];
}

/** The account is not in the beta, so the modal offers to enrol it. */
export function enrollFirstModal(draft: Draft, mayEnroll: boolean): ModalView {
  const text = `The account ${code(draft.account)} is not enrolled in the beta of managed servers, so it cannot have managed servers yet.`;
  const next = mayEnroll
    ? buttons(button('Enrol now', 'server.add:enroll', { style: 'primary', confirm: ENROLL_CONFIRMATION }))
    : [section('An admin can enrol it. Ask one:'), ...handOverBlocks(draft.account, undefined)];
  return endModal(draft, text, next);
}

/** The service answered `admin_required`. Shown in the modal. */
export function handOverModal(draft: Draft, refused: ServiceError): ModalView {
  const { account } = draft;
  return endModal(draft, handOverWords(account, refused), handOverBlocks(account, refused.betaUrl));
}

/** Replaces the form with a message and next steps. */
function endModal(draft: Draft, text: string, next: readonly KnownBlock[]): ModalView {
  const blocks = [section(text), ...next];
  return modal(SERVER_ADD, SERVER_ADD_TITLE, { close: 'Close', metadata: draft }, blocks);
}

export function creatingNotice(name: string): ModalView {
  const text = `:hourglass_flowing_sand: Asking the service for ${bold(name)}… You can close this. The channel shows the outcome.`;
  return notice(SERVER_ADD_TITLE, text);
}

/** @param isInChannel false if its message is a direct message */
export function createdNotice(name: string, isInChannel: boolean): ModalView {
  const where = isInChannel
    ? 'The channel shows its progress.'
    : 'Deckhand cannot post in the channel, so its progress is in your direct messages.';
  const text = `:white_check_mark: The service has accepted the order for ${bold(name)}. ${where}`;
  return notice(SERVER_ADD_TITLE, text);
}

/** Tells that the server may exist, and how to check. Mrkdwn. */
export function unknownOutcomeWords(
  { requested, project }: { requested: RequestedServer; project: { permalink: string } },
  why: 'interrupted' | 'no answer',
  word: string,
): string {
  const because =
    why === 'interrupted' ? 'Deckhand was stopped while it asked' : 'The service gave no proper answer';
  const show = code(`${word} server show "${requested.name}" ${project.permalink}`, 200);
  const list = code(`${word} hosting list`);
  const check = requested.protocol_type === 'managed_vps' ? `${list} or ${show}` : show;
  return `:warning: ${because}, so ${bold(requested.name)} may or may not exist. Check with ${check} before you try again.`;
}
