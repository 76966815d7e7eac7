import { allCommands } from '../../src/commands/registry.ts';
import {
  AccountFailure,
  AccountKeyUnreadable,
  type AnswerFault,
  DocumentUnreadable,
  SERVICE_ERROR_KINDS,
  ServiceError,
  SlackFailure,
  type SlackFailureKind,
  StoreUnavailable,
  UserError,
} from '../../src/core/errors.ts';
import type { AuditEntry } from '../../src/records/audit.ts';
import {
  accountsMessage,
  chooseKeyMessage,
  confirmDisconnectMessage,
  connectFirstMessage,
  connectModal,
} from '../../src/views/accounts/accounts.ts';
import {
  claimsMessage,
  linkedMessage,
  linkGoneMessage,
  linkLine,
  linkMessage,
  notLinkedMessage,
  profileMessage,
  unknownNameMessage,
  unlinkedMessage,
} from '../../src/views/accounts/identity.ts';
import {
  neverVerifiedMessage,
  signedUpMessage,
  signupModal,
  verifiedButRefusedMessage,
  verifiedMessage,
  webSignupModal,
} from '../../src/views/accounts/signup.ts';
import { auditMessage } from '../../src/views/admin/audit.ts';
import { doctorMessage } from '../../src/views/admin/doctor.ts';
import {
  accessAnswerMessage,
  accessAskedMessage,
  accessRequestMessage,
  answeredMessage,
  askedAlreadyMessage,
  heldAlreadyMessage,
  lastWayInModal,
  noAdminMessage,
  personLeftMessage,
  requestOverMessage,
  rolesMessage,
  rolesModal,
} from '../../src/views/admin/roles.ts';
import { settingsMessage, settingsModal } from '../../src/views/admin/settings.ts';
import { type Explained, explain, failureMessage } from '../../src/views/blocks/failures.ts';
import { chooseServerMessage } from '../../src/views/blocks/inputs.ts';
import { withSkipped } from '../../src/views/blocks/lists.ts';
import { say, workingMessage } from '../../src/views/blocks/message.ts';
import {
  helpAllMessage,
  helpCommandMessage,
  helpGroupMessage,
  helpMessage,
  openFormMessage,
  startMessage,
  suggestionsMessage,
  welcomeMessage,
} from '../../src/views/help/help.ts';
import {
  frontPage,
  installedPage,
  installFailedPage,
  installPage,
  linkedPage,
  linkFailedPage,
  linkQuestionPage,
  privacyPage,
} from '../../src/views/public/pages.ts';
import { answer, type Hand, type Subject, subject } from './hand.ts';
import { ACCOUNT, ADA, accountKey, BEN, CHANNEL, NOW, place, profile, skipped, WORD } from './records.ts';
import { failures } from './schedules.ts';

const HOUR = 3_600_000;
const KEY_ID = '0b1f5a52-3c1e-4a57-9d0b-1d1f3cf5e0aa';

function keys(hand: Hand) {
  const all = [
    accountKey(hand),
    accountKey(hand, { purpose: 'billing', state: 'unverified' }),
    accountKey(hand, { purpose: 'mine', createdBy: BEN, state: 'broken' }),
  ];
  return hand.list(
    all,
    (at) => accountKey(hand, { name: `account-${at}`, purpose: at % 2 === 0 ? 'shared' : 'mine' }),
    60,
  );
}

const ROLES = ['admin', 'operator', 'billing'] as const;
const request = (hand: Hand) => ({ user: BEN, role: 'operator', command: hand.text('watch').slice(0, 75) });

/** The groups as they are, with what their commands say of themselves. */
function groups(hand: Hand) {
  const commands = allCommands();
  const of = (...names: string[]) =>
    commands.filter(({ name }) => names.some((one) => name === one || name.startsWith(`${one} `)));
  const all = [
    {
      id: 'test',
      title: 'Test',
      summary: 'that repositories and servers can be reached',
      commands: of('test', 'projects', 'server show', 'build'),
    },
    {
      id: 'follow',
      title: 'Follow',
      summary: 'what is deployed, now or on a schedule',
      commands: of('activity', 'digest', 'watch', 'unwatch'),
    },
    { id: 'billing', title: 'Billing', summary: 'invoices, and notices of them', commands: of('invoices') },
    {
      id: 'administer',
      title: 'Administer',
      summary: 'who may do what',
      commands: of('roles', 'audit', 'doctor'),
    },
  ];
  return hand.name === 'empty' ? [] : all;
}

const AT = { word: WORD, now: NOW, supportUrl: 'https://help.example.com' };

/** Every kind of failure of the service, told of a connected account. */
function serviceFailures() {
  const failures = SERVICE_ERROR_KINDS.map(
    (kind) =>
      [kind, (hand: Hand) => failure(hand, new ServiceError(kind, 'startTestAccess', words(hand)))] as const,
  );
  return Object.fromEntries(failures);
}

function words(hand: Hand) {
  return {
    messages: hand.list([hand.text('is not allowed')], () => hand.text('no'), 3),
    fields: { base: hand.list([hand.text('has no servers')], () => hand.text('no'), 3) },
    hint: hand.maybe(hand.text('See Retry-After.')),
    retryAt: hand.maybe(NOW + 30_000),
    betaUrl: hand.maybe('https://acme.example.com/beta'),
    upgradeUrl: hand.maybe('https://acme.example.com/billing'),
  };
}

const TYPED = { text: 'test storefront', isDurable: true };

function failure(
  hand: Hand,
  cause: ServiceError,
  sought?: { what: string; list: string },
): [Explained, typeof TYPED] {
  return [
    {
      ...explain(new AccountFailure(accountKey(hand), cause, sought), AT),
      reference: cause.kind === 'unexpected' ? '0a1b2c3d' : undefined,
    },
    TYPED,
  ];
}

const FAULTS: readonly AnswerFault[] = ['encoded', 'foreign_address', 'no_address', 'not_pdf', 'too_large'];
const SLACK_KINDS: readonly SlackFailureKind[] = [
  'gone',
  'revoked',
  'busy',
  'unreachable',
  'expired',
  'forbidden',
  'rejected',
];
const SLACK_WORDS = [
  'invalid_auth',
  'is_archived',
  'file_uploads_disabled',
  'storage_limit_reached',
  'posting_to_channel_denied',
  'enterprise_is_restricted',
  'msg_too_long',
  'accesslimited',
  'user_disabled',
  'cannot_reply_to_message',
];

function slackFailure(kind: SlackFailureKind, reason: string): [Explained] {
  return [explain(new SlackFailure('chat.postMessage', kind, reason), AT)];
}

const held = { admin: [ADA], operator: [BEN], billing: [] };
const SHOWN = { roles: 'x', commands: 'y' };
const start =
  (change = {}) =>
  (hand: Hand) =>
    [
      {
        word: WORD,
        accounts: [accountKey(hand)],
        channel: {},
        isAdmin: true,
        isOperator: true,
        canSignUp: true,
        ...change,
      },
    ] as Parameters<typeof startMessage>;

const SIGNED_UP = (hand: Hand) => ({
  account: ACCOUNT,
  isNamed: false,
  displayName: hand.text('Acme'),
  url: 'https://acme.example.com',
  email: hand.text('ada@acme.example'),
  keyTail: '1f2e',
  isVerified: false,
  deployKey: hand.maybe({
    publicKey: hand.text('ssh-ed25519 AAAAC3Nza deploy'),
    fingerprint: hand.text('SHA256:4vWx'),
  }),
  oauthUrls: hand.maybe({ code_host: 'https://code.example.com/oauth' }) ?? {},
  word: WORD,
});
const END_WORDS = [
  'unknown',
  'expired',
  'used',
  'other browser',
  'denied',
  'refused',
  'unexpected',
  'unreachable',
] as const;

function auditEntries(hand: Hand): AuditEntry[] {
  return hand.list<AuditEntry>(
    [
      { at: NOW, requestedBy: ADA, what: 'watch', where: CHANNEL, target: 'w7k2', result: 'done' },
      { at: NOW, requestedBy: 'workflow', what: 'server add', target: 'acme/storefront', result: 'refused' },
    ],
    () => ({
      at: NOW,
      requestedBy: hand.text('x'),
      what: hand.text('watch'),
      target: hand.text('acme'),
      result: 'failed',
    }),
    50,
  );
}

export const PEOPLE: readonly Subject[] = [
  answer(accountsMessage, { all: (hand) => [keys(hand), ACCOUNT, WORD] }),
  subject(chooseKeyMessage, {
    several: (hand) => [
      ACCOUNT,
      [accountKey(hand), ...hand.list(keys(hand).slice(0, 3), () => accountKey(hand))].map((key, at) => ({
        ...key,
        id: `${KEY_ID}${at}`,
      })),
    ],
  }),
  subject(confirmDisconnectMessage, {
    shared: (hand) => [{ ...accountKey(hand), id: KEY_ID }, true],
    billing: (hand) => [{ ...accountKey(hand, { purpose: 'billing' }), id: KEY_ID }, true],
    'one of my own': (hand) => [{ ...accountKey(hand, { purpose: 'mine' }), id: KEY_ID }, true],
    'the last one': (hand) => [{ ...accountKey(hand, { purpose: 'mine' }), id: KEY_ID }, false],
  }),
  answer(claimsMessage, {
    unclaimed: (hand) => [
      [],
      {
        account: ACCOUNT,
        user: BEN,
        word: WORD,
        names: hand.list(['Kim Lee', 'Sam Roe'], (at) => `${hand.text('Kim')} ${at}`),
      },
      false,
    ],
    'claimed, for an admin': (hand) => [
      hand.list(
        [
          { name: 'Kim Lee', user: BEN, at: NOW },
          { name: 'Sam Roe', user: ADA, at: NOW },
        ],
        (at) => ({ name: `${hand.text('Kim')} ${at}`, user: `U${at}`, at: NOW }),
      ),
      { account: ACCOUNT, user: BEN, word: WORD, names: ['Kim Lee', 'Sam Roe', 'Ana Sol'] },
      true,
    ],
  }),
  subject(unknownNameMessage, {
    asked: (hand) => [
      ACCOUNT,
      hand.text('Zorro'),
      hand.list(['Kim Lee', 'Sam Roe'], (at) => `${hand.text('Kim')} ${at}`),
    ],
  }),
  subject(connectModal, {
    first: () => [{ channel: CHANNEL }, undefined],
    'of a connected account': (hand) => [
      { account: ACCOUNT },
      {
        purposes: ['shared', 'billing', 'mine'] as const,
        initial: 'mine' as const,
        shared: hand.maybe(accountKey(hand)),
      },
      hand.maybe('ada@acme.example'),
    ],
  }),
  subject(connectFirstMessage, {
    'for an admin': (hand) => [WORD, hand.text('test storefront'), true],
    'for a member': (hand) => [WORD, hand.text('test storefront'), false],
  }),
  subject(profileMessage, {
    'by the shared key': (hand) => [
      {
        user: BEN,
        profile: profile(hand),
        key: accountKey(hand),
        billing: accountKey(hand, { purpose: 'billing' }),
        word: WORD,
        roles: ['operator'],
        link: linkLine(undefined, NOW, WORD),
      },
    ],
    'by my own key, linked': (hand) => [
      {
        user: BEN,
        profile: profile(hand, { suspended: true, trialling: true, beta_features: true }),
        key: accountKey(hand, { purpose: 'mine' }),
        billing: undefined,
        word: WORD,
        roles: [],
        link: linkLine({ sealedTokens: '', linkedAt: NOW, email: hand.text('ben@acme.example') }, NOW, WORD),
      },
    ],
    'linked for some time': (hand) => [
      {
        user: BEN,
        profile: profile(hand),
        key: accountKey(hand),
        billing: undefined,
        word: WORD,
        roles: [],
        link: linkLine({ sealedTokens: '', linkedAt: NOW - HOUR, expiresAt: NOW - 1 }, NOW, WORD),
      },
    ],
  }),
  subject(linkMessage, {
    first: () => ['https://deckhand.example.com/service/oauth/start?ticket=x', undefined, NOW, WORD],
    again: () => [
      'https://deckhand.example.com/service/oauth/start?ticket=x',
      { sealedTokens: '', linkedAt: NOW },
      NOW,
      WORD,
    ],
  }),
  subject(linkedMessage, {
    known: (hand) => [WORD, NOW, hand.text('ben@acme.example')],
    unknown: () => [WORD, NOW],
  }),
  subject(unlinkedMessage, { done: () => [] }),
  subject(linkGoneMessage, { clicked: () => [WORD] }),
  subject(notLinkedMessage, { asked: () => [WORD] }),
  subject(signupModal, {
    'several attempts left': () => [{ channel: CHANNEL }, { perHour: 3, left: 3, freeAt: undefined }],
    'the last one': () => [{}, { perHour: 3, left: 1, freeAt: NOW + HOUR }],
    'none left': () => [{}, { perHour: 3, left: 0, freeAt: NOW + HOUR }],
  }),
  subject(webSignupModal, {
    'two-factor': (hand) => [
      hand.safe('This login has two-factor authentication.'),
      'https://signup.example.com',
    ],
  }),
  subject(signedUpMessage, {
    unverified: (hand) => [SIGNED_UP(hand)],
    verified: (hand) => [{ ...SIGNED_UP(hand), isVerified: true, deployKey: undefined }],
  }),
  subject(verifiedMessage, { 'with a deploy key': (hand) => [{ ...SIGNED_UP(hand), isNamed: true }] }),
  subject(neverVerifiedMessage, { 'after a week': () => [ACCOUNT] }),
  subject(verifiedButRefusedMessage, {
    refused: (hand) => [ACCOUNT, hand.safe('The plan has no API access.')],
  }),
  subject(accessRequestMessage, { asked: (hand) => [request(hand), `${BEN} operator`] }),
  subject(accessAskedMessage, { asked: () => ['operator', [ADA, BEN]] }),
  subject(noAdminMessage, { none: () => ['operator', WORD] }),
  subject(askedAlreadyMessage, {
    unanswered: () => ['operator', undefined],
    denied: () => ['operator', { admin: ADA, isAllowed: false }],
  }),
  subject(heldAlreadyMessage, { held: () => ['operator'] }),
  subject(answeredMessage, {
    ...Object.fromEntries(
      ROLES.map((role) => [
        `gave ${role}`,
        (hand: Hand) => [{ ...request(hand), role }, ADA, true] as Parameters<typeof answeredMessage>,
      ]),
    ),
    denied: (hand) => [request(hand), ADA, false],
  }),
  subject(personLeftMessage, { left: (hand) => [request(hand)] }),
  subject(requestOverMessage, { old: () => [WORD] }),
  subject(accessAnswerMessage, {
    allowed: (hand) => [request(hand), ADA, true, WORD],
    denied: (hand) => [request(hand), ADA, false, WORD],
  }),
  subject(lastWayInModal, {
    asked: () => [connectModal({ channel: CHANNEL }, undefined), { channel: CHANNEL }],
  }),
  subject(rolesModal, {
    'in a channel, with groups': (hand) => [
      {
        users: held,
        groups: {
          held: { admin: [], operator: ['S1'], billing: [] },
          all: hand.list([{ id: 'S1', name: hand.text('Platform') }], (at) => ({
            id: `S${at}`,
            name: hand.text('Group'),
          })),
        },
        areGuestsAllowed: true,
        initial: SHOWN,
        channel: { id: CHANNEL, commands: ['test'], all: ['test', 'activity'] },
      },
    ],
    'without groups': () => [
      { users: { admin: [], operator: [], billing: [] }, areGuestsAllowed: false, initial: SHOWN },
    ],
    'with groups that cannot be read': () => [
      { users: held, groups: 'unread' as const, areGuestsAllowed: false, initial: SHOWN },
    ],
  }),
  subject(rolesMessage, {
    'all commands': () => [held, { guests: true, allowed: [] }],
    'some commands': (hand) => [
      held,
      { guests: false, allowed: hand.list(['test', 'activity'], (at) => `command-${at}`, 40) },
    ],
  }),
  subject(settingsModal, {
    bound: (hand) => [
      { channel: CHANNEL, account: ACCOUNT },
      { project: place(hand), threads: false, layout: 'full' as const, zone: 'Europe/Lisbon' },
    ],
    unbound: () => [{ channel: CHANNEL }, {}],
  }),
  subject(settingsMessage, {
    bound: (hand) => [{ project: place(hand), threads: false, zone: 'Europe/Lisbon' }],
    unbound: () => [{}],
  }),
  subject(auditMessage, {
    'first page': (hand) => [auditEntries(hand), { size: 20, offset: 0 }, true],
    'second page': (hand) => [auditEntries(hand).slice(0, 1), { size: 20, offset: 20, upTo: 'x' }, false],
  }),
  answer(doctorMessage, {
    'all well': () => [[{ what: 'Slack', health: 'well' as const, said: 'The token works.' }]],
    'with problems': (hand) => [
      hand.list(
        [
          { what: 'Slack', health: 'well' as const, said: 'The token works.' },
          {
            what: 'Uploads',
            health: 'limited' as const,
            said: 'The scope `files:write` is missing.',
          },
          { what: 'Account `acme`', health: 'broken' as const, said: hand.safe('The key was revoked.') },
        ],
        () => ({ what: hand.safe('Account'), health: 'broken' as const, said: hand.safe('Broken.') }),
        60,
      ),
    ],
  }),
  subject(failureMessage, {
    ...serviceFailures(),
    'busy until a time': (hand) =>
      failure(hand, new ServiceError('busy', 'getActivity', { retryAt: NOW + HOUR })),
    'no reason for a refusal': (hand) => failure(hand, new ServiceError('forbidden', 'startTestAccess')),
    'invoices are for billing managers': (hand) =>
      failure(hand, new ServiceError('forbidden', 'listInvoices')),
    'a server is not found': (hand) =>
      failure(hand, new ServiceError('record_not_found', 'getServer'), {
        what: 'server `web-9` in `storefront`',
        list: 'projects',
      }),
    'a new key is refused': () => [
      explain(new ServiceError('unauthorized', 'getProfile'), { ...AT, newAccount: ACCOUNT }),
    ],
    'my own key is broken': (hand) => [
      explain(
        new AccountFailure(
          accountKey(hand, { purpose: 'mine', state: 'broken' }),
          new ServiceError('unauthorized', 'getProfile'),
        ),
        AT,
      ),
    ],
    'the billing key is broken': (hand) => [
      explain(
        new AccountFailure(
          accountKey(hand, { purpose: 'billing', state: 'broken' }),
          new ServiceError('unauthorized', 'getProfile'),
        ),
        AT,
      ),
    ],
    'an unverified account': (hand) => [
      explain(
        new AccountFailure(
          accountKey(hand, { state: 'unverified' }),
          new ServiceError('unauthorized', 'getProfile'),
        ),
        AT,
      ),
    ],
    ...Object.fromEntries(
      FAULTS.map((fault) => [
        fault,
        (hand: Hand) => failure(hand, new ServiceError('unexpected', 'downloadInvoice', { fault })),
      ]),
    ),
    ...Object.fromEntries(SLACK_KINDS.map((kind) => [`Slack: ${kind}`, () => slackFailure(kind, 'odd')])),
    ...Object.fromEntries(
      SLACK_WORDS.map((word) => [`Slack: ${word}`, () => slackFailure('forbidden', word)]),
    ),
    'a bug': () => [{ ...explain(new Error('a bug'), AT), reference: '0a1b2c3d' }],
    'the database is away': () => [explain(new StoreUnavailable(undefined), AT)],
    'a key cannot be read': () => [explain(new AccountKeyUnreadable(ACCOUNT, {}), AT)],
    'a record cannot be read': () => [explain(new DocumentUnreadable('accounts'), AT)],
    'a role is lacking': () => [
      explain(
        new UserError(
          'Only people with the billing role can see invoices. <@U0ADA> can give you access.',
          undefined,
          {
            lacks: { role: 'billing', command: 'invoices' },
          },
        ),
        AT,
      ),
    ],
    'a word is missing': () => [explain(new UserError('`project` is missing.', 'use <project>|none'), AT)],
    'with an offer': () => [
      explain(
        new UserError('No integration was added with Deckhand yet.', undefined, {
          offers: [{ label: 'Add one', text: 'integration add' }],
        }),
        AT,
      ),
      TYPED,
    ],
  }),
  subject(withSkipped, {
    list: (hand) => [say('3 projects'), skipped(hand)],
    'nothing else': (hand) => [say('No projects'), skipped(hand), []],
  }),
  subject(chooseServerMessage, {
    asked: (hand) => [
      hand.safe('Which server do you mean?'),
      { account: ACCOUNT, project: 'storefront', run: 'test storefront' },
    ],
  }),
  subject(workingMessage, {
    soon: () => [],
    'after a while': (hand) => [25_000, hand.text('/deckhand activity')],
  }),
  subject(helpMessage, { all: (hand) => [groups(hand), WORD] }),
  subject(helpGroupMessage, {
    follow: (hand) => [
      groups(hand)[1] ?? { id: 'follow', title: 'Follow', summary: '', commands: [] },
      groups(hand),
      WORD,
    ],
  }),
  subject(helpAllMessage, { all: (hand) => [groups(hand), WORD] }),
  subject(helpCommandMessage, {
    digest: () => [allCommands().filter(({ name }) => name.startsWith('digest')), WORD],
  }),
  subject(suggestionsMessage, {
    three: (hand) => [
      WORD,
      [
        { text: 'test storefront', isDurable: true },
        { text: hand.text('activity'), isDurable: false },
      ],
      { thread: hand.maybe('1700000000.000100') },
    ],
  }),
  subject(openFormMessage, {
    mentioned: (hand) => [WORD, hand.text('connect'), hand.maybe('1700000000.000100')],
  }),
  subject(startMessage, {
    'nothing connected, an admin': start({ accounts: [] }),
    'nothing connected, a member': start({ accounts: [], isAdmin: false }),
    'connected, an unbound channel': start(),
    'something fails': (hand) => start({ failures: failures(hand) })(hand),
    'a bound channel': (hand) => start({ channel: { project: place(hand) } })(hand),
    unverified: (hand) => start({ accounts: [accountKey(hand, { state: 'unverified' })] })(hand),
    broken: (hand) => start({ accounts: [accountKey(hand, { state: 'broken' })] })(hand),
    'my own key is broken': (hand) =>
      start({ accounts: [accountKey(hand, { state: 'broken', purpose: 'mine' })], isAdmin: false })(hand),
  }),
  subject(welcomeMessage, { installed: start({ accounts: [] }) }),
  subject(frontPage, {
    'by OAuth': () => [WORD, '/slack/install'],
    'one workspace': () => [WORD, undefined],
  }),
  subject(privacyPage, {
    asked: () => [
      {
        audit: 400,
        auditRows: 50_000,
        runs: 30,
        episodes: 7,
        recoveries: 400,
        orders: 30,
        clicks: 30,
        servers: 7,
        deliveries: 7,
      },
    ],
  }),
  subject(installPage, {
    asked: () => ['https://slack.com/oauth/v2/authorize', 'https://slack.com/oauth/v2/authorize?groups'],
  }),
  subject(installedPage, { named: (hand) => ['T0ACME', hand.text('Acme'), WORD] }),
  subject(
    installFailedPage,
    Object.fromEntries(END_WORDS.map((end) => [end, () => [end] as Parameters<typeof installFailedPage>])),
  ),
  subject(
    linkFailedPage,
    Object.fromEntries(
      [...END_WORDS, 'taken' as const].map((end) => [
        end,
        () => [end, WORD] as Parameters<typeof linkFailedPage>,
      ]),
    ),
  ),
  subject(linkQuestionPage, {
    asked: (hand) => [
      {
        name: hand.text('Ben'),
        email: hand.maybe(hand.text('ben@acme.example')),
        workspace: hand.text('Acme'),
      },
      { action: '/service/oauth/start', fields: { ticket: 'x' } },
      WORD,
    ],
  }),
  subject(linkedPage, { linked: (hand) => ['T0ACME', hand.text('Ben'), WORD] }),
];
