import { ServiceError } from '../../src/core/errors.ts';
import type { Draft } from '../../src/records/servers.ts';
import { findHookType, HOOK_TYPES } from '../../src/service/integrations.ts';
import type { Server } from '../../src/service/servers.ts';
import { clearBlocks, propertyBlocks } from '../../src/views/integrations/fields.ts';
import {
  addedMessage,
  authoriseMessage,
  changedMessage,
  INTEGRATION_ADD,
  INTEGRATION_EDIT,
  type IntegrationForm,
  integrationModal,
} from '../../src/views/integrations/form.ts';
import {
  askedToEnrollMessage,
  betaMessage,
  enrolledMessage,
  enrollQuestion,
  handOverBlocks,
  handOverMessage,
} from '../../src/views/servers/beta.ts';
import {
  confirmServerModal,
  createdNotice,
  creatingNotice,
  enrollFirstModal,
  handOverModal,
  serverFormModal,
} from '../../src/views/servers/form.ts';
import {
  chooseResourceMessage,
  hostingMessage,
  regionsMessage,
  resourceMessage,
  sizesMessage,
} from '../../src/views/servers/hosting.ts';
import {
  buildMessage,
  orderedNews,
  type ProvisioningState,
  provisioningMessage,
  type ServerTarget,
  serverMessage,
  statusNews,
} from '../../src/views/servers/server.ts';
import { INTEGRATION } from '../views/records.ts';
import { answer, type Hand, type Subject, subject } from './hand.ts';
import {
  ACCOUNT,
  ADA,
  BEN,
  CHANNEL,
  machine,
  NOW,
  place,
  profile,
  resource,
  server,
  serverTarget,
  site,
  WORD,
} from './records.ts';

const BETA_URL = 'https://acme.example.com/beta';
const SITES = 'sites.example.net';

function refused(hand: Hand): ServiceError {
  return new ServiceError('admin_required', 'enrollInBeta', {
    betaUrl: hand.maybe(BETA_URL),
    messages: hand.list([hand.text('Only administrators can enrol.')], () => hand.text('No.'), 3),
    hint: hand.text('Ask the owner.'),
  });
}

function ordered(hand: Hand): ServerTarget {
  return { ...serverTarget(hand), cost: hand.maybe(hand.text('7.50 EUR a month')) };
}

function provisioning(state: (hand: Hand) => ProvisioningState) {
  return (hand: Hand) =>
    [{ target: ordered(hand), requestedBy: ADA, startedAt: NOW, now: NOW + 75_000, state: state(hand) }] as [
      Parameters<typeof provisioningMessage>[0],
    ];
}

const STATUSES = ['provisioning', 'active', 'error', 'suspended', 'disabled', 'destroying'];

const FORM: Draft = { channel: CHANNEL, account: ACCOUNT, protocol: 'managed_vps' };
const SITE: Draft = { ...FORM, protocol: 'static_hosting' };

function offer(hand: Hand) {
  const region = (at: number) => ({ slug: `region-${at}`, name: hand.text('Lisbon'), available: true });
  const size = (at: number) => ({
    slug: `size-${at}`,
    label: hand.text('2 GB'),
    monthly_cost: 7.5,
    currency: 'eur',
  });
  return { regions: hand.list([region(0)], region), sizes: hand.list([size(0)], size) };
}

const wantedMachine = (hand: Hand) => ({
  protocol_type: 'managed_vps' as const,
  name: hand.text('web-9').slice(0, 255),
  region: 'eu-west',
  size: 'small',
});
const wantedSite = {
  protocol_type: 'static_hosting',
  name: 'docs',
  subdomain: 'docs',
  spa_mode: true,
} as const;
const shortPlace = (hand: Hand) => ({ permalink: 'storefront', name: hand.text('Storefront').slice(0, 100) });

function integration(hand: Hand) {
  return { ...INTEGRATION, name: hand.text('Deploy hook'), project: place(hand) };
}

const LABELS = HOOK_TYPES.map(({ label }) => label);

function integrationForm(hand: Hand, change: Partial<IntegrationForm>): [IntegrationForm] {
  const wireNames = { chat_c: hand.text('roomy') };
  return [{ callbackId: INTEGRATION_ADD, origin: { account: ACCOUNT }, values: {}, wireNames, ...change }];
}

function fieldsOf(label: string): NonNullable<ReturnType<typeof findHookType>> {
  const type = findHookType(label);
  if (type === undefined) throw new Error(`no type ${label}`);
  return type;
}

export const SERVERS: readonly Subject[] = [
  subject(serverMessage, {
    'reached by SSH': (hand) => [server(hand), serverTarget(hand)],
    'a site': (hand) => [site(hand), serverTarget(hand)],
    'a machine': (hand) => [machine(hand), serverTarget(hand)],
  }),
  answer(buildMessage, {
    'with servers': (hand) => [
      ACCOUNT,
      place(hand),
      {
        identifier: hand.text('5f8a2c31'),
        packages: Object.fromEntries(
          hand.list(
            [
              ['node', '24'],
              ['php', '8.4'],
            ],
            (at) => [`${hand.text('tool')} ${at}`, hand.text('1.0')],
          ),
        ),
        default: hand.name === 'usual',
        servers: hand.list([server(hand)], () => server(hand), 60),
      },
    ],
  }),
  subject(provisioningMessage, {
    ...Object.fromEntries(
      STATUSES.map((status) => [
        status,
        provisioning((hand) => ({
          kind: status === 'provisioning' ? 'running' : 'ended',
          server: machine(hand, status),
        })),
      ]),
    ),
    'a site is active': provisioning((hand) => ({ kind: 'ended', server: site(hand) })),
    'nothing known yet': provisioning((hand) => ({
      kind: 'running',
      trouble: hand.maybe('The service is busy.'),
    })),
    stopped: provisioning((hand) => ({
      kind: 'stopped',
      reason: hand.safe('The service cannot be reached.'),
    })),
    lost: provisioning(() => ({ kind: 'lost' })),
  }),
  subject(orderedNews, { ordered: (hand) => [ordered(hand)] }),
  subject(
    statusNews,
    Object.fromEntries(STATUSES.map((status) => [status, (hand: Hand): [Server] => [machine(hand, status)]])),
  ),
  subject(serverFormModal, {
    'a machine': (hand) => [
      { draft: FORM, values: { name: 'web-9' }, offer: offer(hand), sitesDomain: SITES },
    ],
    'a machine, before its sizes are known': () => [
      { draft: FORM, values: {}, offer: undefined, sitesDomain: SITES },
    ],
    'a site': (hand) => [
      {
        draft: { ...SITE, project: shortPlace(hand) },
        values: { subdomain: 'docs' },
        offer: undefined,
        sitesDomain: SITES,
      },
    ],
    'a site at an unknown domain': () => [
      {
        draft: SITE,
        values: { subdomain: 'docs' },
        offer: undefined,
        sitesDomain: undefined,
        typedProject: 'store',
      },
    ],
  }),
  subject(confirmServerModal, {
    'a machine': (hand) => [
      {
        ...FORM,
        project: shortPlace(hand),
        wanted: wantedMachine(hand),
        cost: hand.maybe('7.50 EUR a month'),
        names: hand.maybe({ region: hand.text('Lisbon'), size: hand.text('2 GB') }),
      },
      SITES,
    ],
    'a site': (hand) => [{ ...SITE, project: shortPlace(hand), wanted: wantedSite }, hand.maybe(SITES)],
  }),
  subject(enrollFirstModal, { 'for an admin': () => [FORM, true], 'for a member': () => [FORM, false] }),
  subject(handOverModal, { refused: (hand) => [FORM, refused(hand)] }),
  subject(creatingNotice, { asked: (hand) => [hand.text('web-9')] }),
  subject(createdNotice, {
    'in the channel': (hand) => [hand.text('web-9'), true],
    'by direct message': (hand) => [hand.text('web-9'), false],
  }),
  answer(hostingMessage, {
    all: (hand) => [
      ACCOUNT,
      hand.list([resource(hand), resource(hand, 1), resource(hand, 2)], (at) => resource(hand, at)),
      hand.maybe('eur'),
      WORD,
    ],
  }),
  subject(chooseResourceMessage, {
    several: (hand) => [
      ACCOUNT,
      hand.list([resource(hand), resource(hand, 1)], (at) => resource(hand, at)),
      'hosting show',
    ],
  }),
  subject(resourceMessage, {
    shown: (hand) => [{ account: ACCOUNT, resource: resource(hand), currency: 'eur', maySync: true }],
    synced: (hand) => [
      {
        account: ACCOUNT,
        resource: resource(hand, 1),
        currency: undefined,
        maySync: false,
        news: hand.safe('Synced.'),
      },
    ],
  }),
  answer(regionsMessage, { all: (hand) => [ACCOUNT, offer(hand).regions] }),
  answer(sizesMessage, { all: (hand) => [ACCOUNT, offer(hand).sizes] }),
  subject(betaMessage, {
    'off, for an admin': (hand) => [ACCOUNT, profile(hand), true, WORD],
    'off, for a member': (hand) => [ACCOUNT, profile(hand), false, WORD],
    on: (hand) => [ACCOUNT, profile(hand, { beta_features: true }), true, WORD],
  }),
  subject(enrollQuestion, {
    'all protocols': () => [ACCOUNT, undefined],
    'one protocol': () => [ACCOUNT, 'managed_vps'],
  }),
  subject(enrolledMessage, {
    new: () => [ACCOUNT, 'new' as const, WORD],
    already: () => [ACCOUNT, 'already' as const, WORD],
    'still off': () => [ACCOUNT, 'off' as const, WORD],
  }),
  subject(handOverMessage, { refused: (hand) => [ACCOUNT, refused(hand)] }),
  subject(handOverBlocks, {
    'with a page': () => [ACCOUNT, BETA_URL],
    'without one': () => [ACCOUNT, undefined],
  }),
  subject(askedToEnrollMessage, { asked: (hand) => [ACCOUNT, hand.maybe(BETA_URL), BEN, WORD] }),
  subject(integrationModal, {
    ...Object.fromEntries(
      LABELS.map((label) => [
        `a new ${label}`,
        (hand: Hand) =>
          integrationForm(hand, {
            origin: { account: ACCOUNT, project: shortPlace(hand) },
            values: { hook_type: label, 'properties.hook_version': 'on_premise' },
          }),
      ]),
    ),
    'a new one, nothing chosen': (hand) => integrationForm(hand, { typedProject: 'store' }),
    'a known one is edited': (hand) =>
      integrationForm(hand, {
        callbackId: INTEGRATION_EDIT,
        origin: {
          account: ACCOUNT,
          project: shortPlace(hand),
          shown: {
            id: 'k3m9x',
            type: 'http_req',
            name: hand.text('Hook').slice(0, 200),
            flags: ['send_on_failure'],
          },
          picks: true,
        },
      }),
    'an unknown one is edited': (hand) =>
      integrationForm(hand, {
        callbackId: INTEGRATION_EDIT,
        origin: { account: ACCOUNT, identifier: '5f8a2c31' },
      }),
    'none is chosen yet': (hand) =>
      integrationForm(hand, { callbackId: INTEGRATION_EDIT, origin: { account: ACCOUNT, picks: true } }),
  }),
  subject(propertyBlocks, { 'of a tracker': () => [fieldsOf('error_tracker_c'), {}, true] }),
  subject(clearBlocks, { 'of a tracker': () => [fieldsOf('error_tracker_c'), {}] }),
  subject(addedMessage, { added: (hand) => [integration(hand), {}] }),
  subject(changedMessage, {
    'name and token': (hand) => [
      integration(hand),
      { name: 'New', send_on_start: true, properties: { token: null } },
    ],
  }),
  subject(authoriseMessage, {
    added: (hand) => [
      integration(hand),
      'https://chat.example.com/oauth',
      { ...integration(hand), word: WORD },
    ],
    edited: (hand) => [integration(hand), 'https://chat.example.com/oauth'],
    'an unsafe address': (hand) => [integration(hand), 'javascript:alert(1)'],
  }),
];
