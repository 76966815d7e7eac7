import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import type { KnownBlock, Message, News } from '../../../src/core/message.ts';
import { mrkdwn } from '../../../src/core/mrkdwn.ts';
import type { ActivityEvent } from '../../../src/service/activity.ts';
import type { Profile } from '../../../src/service/profile.ts';
import type { Project, TestRun } from '../../../src/service/projects.ts';
import type { Server } from '../../../src/service/servers.ts';
import {
  accountsMessage,
  chooseKeyMessage,
  confirmDisconnectMessage,
} from '../../../src/views/accounts/accounts.ts';
import { claimsMessage, unknownNameMessage } from '../../../src/views/accounts/claims.ts';
import { connectFirstMessage, connectModal } from '../../../src/views/accounts/connect.ts';
import {
  linkedMessage,
  linkGoneMessage,
  notLinkedMessage,
  profileMessage,
  unlinkedMessage,
} from '../../../src/views/accounts/identity.ts';
import {
  neverVerifiedMessage,
  verifiedButRefusedMessage,
  webSignupModal,
} from '../../../src/views/accounts/signup.ts';
import { feedBlocks } from '../../../src/views/activity/activity.ts';
import { auditMessage } from '../../../src/views/admin/audit.ts';
import { doctorMessage } from '../../../src/views/admin/doctor.ts';
import {
  accessAnswerMessage,
  accessAskedMessage,
  accessRequestMessage,
  answeredMessage,
  askedAlreadyMessage,
  askerLeftMessage,
  heldAlreadyMessage,
  noAdminMessage,
  requestOverMessage,
  rolesMessage,
  rolesModal,
} from '../../../src/views/admin/roles.ts';
import { accessButton, failureMessage } from '../../../src/views/blocks/failures.ts';
import { choiceMenu } from '../../../src/views/blocks/inputs.ts';
import { withSkipped } from '../../../src/views/blocks/lists.ts';
import { say, workingMessage } from '../../../src/views/blocks/message.ts';
import { pictureRefusedMessage } from '../../../src/views/digests/digest.ts';
import { guardModal } from '../../../src/views/guards/guard.ts';
import {
  helpAllMessage,
  helpCommandMessage,
  helpGroupMessage,
  helpMessage,
} from '../../../src/views/help/help.ts';
import {
  openFormMessage,
  startMessage,
  suggestionsMessage,
  welcomeMessage,
} from '../../../src/views/help/start.ts';
import { invoiceSentMessage, notifyStateMessage } from '../../../src/views/invoices/invoices.ts';
import { deployMessage, projectsMessage } from '../../../src/views/projects/projects.ts';
import {
  removedCard,
  restoredCard,
  SCHEDULE_FACES,
  scheduleButtons,
  scheduleCard,
  scheduleList,
} from '../../../src/views/schedules/schedule.ts';
import {
  betaMessage,
  enrolledMessage,
  enrollQuestion,
  handOverBlocks,
} from '../../../src/views/servers/beta.ts';
import { createdNotice, creatingNotice, handOverModal } from '../../../src/views/servers/form.ts';
import { orderedNews } from '../../../src/views/servers/provisioning.ts';
import { openTestMessage, testModal } from '../../../src/views/test-access/form.ts';
import { alreadyRunningMessage, testRootMessage } from '../../../src/views/test-access/test-run.ts';
import { newsOf, progressMessage } from '../../../src/views/test-access/test-thread.ts';
import { projectUnfurl, serverUnfurl } from '../../../src/views/unfurls/unfurl.ts';
import { watchListMessage, watchModal } from '../../../src/views/watches/watch.ts';
import { expectAccepted, type Shown } from '../../support/accepted.ts';
import { webUrl } from '../../support/arbitraries.ts';
import { hostileText } from '../../support/hostile.ts';
import { byLength } from '../../support/length.ts';
import { NOTICES, RUN, WATCH } from '../records.ts';

const WORD = '/deckhand';
const NOW = Date.parse('2026-03-02T09:00:00Z');

const text = hostileText;
const safe = text.map((foreign) => mrkdwn(foreign, 500));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const many = <T>(value: fc.Arbitrary<T>, maxLength = 150) => fc.array(value, { maxLength });
const slug = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
const url = maybe(fc.oneof(webUrl(), text));
const refusal = fc
  .record({ betaUrl: url, messages: fc.array(text, { maxLength: 3 }), hint: maybe(text) })
  .map((details) => new ServiceError('admin_required', 'enrollInBeta', details));

const account = fc.record({
  name: slug,
  email: text,
  sealedKey: fc.constant(''),
  keyTail: fc.string({ maxLength: 4 }),
  state: fc.constantFrom('ok' as const, 'unverified' as const, 'broken' as const),
  purpose: fc.constantFrom('shared' as const, 'billing' as const, 'mine' as const),
  connectedBy: fc.constant('U0ANN'),
  connectedAt: fc.constant(NOW),
});

const role = fc.constantFrom('admin', 'operator', 'billing');
const accessRequest = fc.record({ user: fc.constant('U0BEN'), role, command: text });

const profile: fc.Arbitrary<Profile> = fc.record({
  first_name: text,
  last_name: text,
  email_address: text,
  account: fc.record({
    name: text,
    permalink: text,
    beta_features: fc.boolean(),
    static_hosting_eligible: fc.boolean(),
    managed_vps_eligible: fc.boolean(),
    suspended: fc.boolean(),
    trialling: fc.boolean(),
  }),
});

const project: fc.Arbitrary<Project> = fc.record({
  name: text,
  permalink: text,
  identifier: text,
  last_deployed_at: fc.option(fc.constantFrom('2026-03-02T09:00:00Z', 'no date')),
  starred: fc.boolean(),
});

const named = fc.record({ identifier: text, name: text });
const place = fc.record({ permalink: text, name: text });
const target = fc.record({ account: slug, project: place, server: maybe(named) });
const outcome = { status: fc.constantFrom('ok' as const, 'error' as const), message: fc.option(text) };
const run: fc.Arbitrary<Omit<TestRun, 'identifier'>> = fc.record({
  status: fc.oneof(fc.constantFrom('running', 'completed', 'failed'), text),
  created_at: fc.option(fc.constant('2026-03-02T09:00:00Z')),
  completed_at: fc.option(fc.constant('2026-03-02T09:05:00Z')),
  results: maybe(
    fc.record(
      {
        repository: fc.record(outcome),
        servers: many(fc.record({ ...outcome, name: text, identifier: text })),
      },
      { requiredKeys: ['servers'] },
    ),
  ),
});
const testState = fc.oneof(
  fc.constant({ kind: 'starting' as const }),
  fc.record({ kind: fc.constant('running' as const), trouble: maybe(safe) }),
  fc.record({ kind: fc.constant('ended' as const), run }),
  fc.record({ kind: fc.constant('stopped' as const), reason: safe }),
  fc.record({ kind: fc.constant('lost' as const), run: maybe(text) }),
);
const testView = fc.record({
  target,
  askedBy: fc.constant('U0ANN'),
  startedAt: fc.constant(NOW),
  now: fc.constant(NOW + 90_000),
  serviceStatus: maybe(text),
  usualMs: maybe(fc.nat()),
  state: testState,
  layout: fc.constantFrom('full' as const, 'compact' as const),
  threads: maybe(fc.boolean()),
});

const event: fc.Arbitrary<ActivityEvent> = fc.record({
  event: text,
  properties: fc.record({ end_ref: fc.option(text), servers: many(text, 8) }),
  project: fc.option(fc.record({ name: text, permalink: text, identifier: text })),
  user: fc.option(text),
  created_at: fc.constantFrom('2026-03-02T09:00:00Z', '2026-03-01T09:00:00Z'),
});
const entry = fc.record({
  at: fc.constant(NOW),
  who: fc.oneof(fc.constant('U0ANN'), text),
  what: text,
  where: maybe(fc.oneof(fc.constant('C0'), text)),
  target: maybe(text),
  result: fc.constantFrom('done' as const, 'refused' as const, 'failed' as const),
});
const words = fc.stringMatching(/^[a-z]{1,20}( [a-z]{1,20})?$/);
const helpEntry = fc.record({
  name: words,
  usage: fc.stringMatching(/^[a-z<>[\]| ]{0,150}$/),
  summary: fc.stringMatching(/^[A-Za-z ]{1,150}$/),
  role: fc.constantFrom('member', 'admin'),
});
const helpGroup = fc.record({ id: words, title: words, summary: words, commands: many(helpEntry, 16) });
const helpGroups = fc.uniqueArray(helpGroup, { maxLength: 5, selector: ({ id }) => id });
const shortId = fc.stringMatching(/^[a-z0-9]{5}$/);
const slackId = fc.stringMatching(/^S[A-Z0-9]{8}$/);
const userIds = fc.uniqueArray(fc.stringMatching(/^U[A-Z0-9]{8}$/), { maxLength: 60 });
const holders = fc.record({ admin: userIds, operator: userIds, billing: userIds });
/** As a form carries it; what is longer, no address of the service can name. */
const shortPlace = fc.record({
  permalink: text.map((value) => value.slice(0, 255) || 'p'),
  name: text.map((name) => name.slice(0, 100)),
});
const shownState = fc.oneof(
  fc.constant({ kind: 'active' as const }),
  fc.record({
    kind: fc.constant('paused' as const),
    cause: fc.constant('slack' as const),
    reason: safe,
    at: fc.constant(NOW),
  }),
);
const last = maybe(fc.record({ at: fc.constant(NOW), said: safe }));
const lookedAt = maybe(fc.constant(NOW));
const watched = fc
  .record({
    id: shortId,
    mode: fc.constantFrom('all' as const, 'failures' as const, 'transitions' as const),
    project: maybe(shortPlace.map((one) => ({ ...one, identifier: 'p1' }))),
    setUpAt: fc.constant(NOW),
    state: shownState,
    last,
  })
  .map((one) => ({ ...WATCH, ...one }));
const watch = fc.record({
  watch: watched,
  channel: fc.constant('C0'),
  account: slug,
  lookedAt,
  failures: fc.nat(5),
});
const billingChannel = fc
  .record({
    account: slug,
    setBy: fc.constant('U0ANN'),
    setAt: fc.constant(NOW),
    state: shownState,
    last,
    lookedAt,
    failures: fc.nat(5),
  })
  .map((one) => ({ ...NOTICES, ...one }));

const schedule = fc.record({
  face: fc.constantFrom(...Object.values(SCHEDULE_FACES)),
  id: shortId,
  name: slug,
  words: safe,
  isAsleep: fc.boolean(),
});
const scheduleChange = fc.record({
  done: fc.constantFrom('set up', 'edited', 'paused', 'resumed', 'snoozed', 'removed', 'restored'),
  user: fc.constant('U0ANN'),
  note: maybe(safe),
});

const shownRun = fc
  .record({
    target,
    status: fc.constantFrom('running' as const, 'completed' as const, 'stopped' as const, 'lost' as const),
    reachable: maybe(fc.nat()),
    total: maybe(fc.nat()),
    startedAt: fc.constant(NOW),
    endedAt: maybe(fc.constant(NOW)),
  })
  .map((one) => ({ ...RUN, ...one }));
const server: fc.Arbitrary<Server> = fc.record({
  identifier: text,
  name: text,
  protocol_type: text,
  server_path: fc.option(text),
  last_revision: fc.option(text),
  preferred_branch: fc.option(text),
  notify_email: fc.boolean(),
  server_group_identifier: fc.option(text),
  hostname: fc.option(text),
  port: fc.option(text),
  username: fc.option(text),
  use_ssh_keys: fc.boolean(),
  host_key: fc.option(text),
  static_hosting: fc.constant(null),
  managed_vps: fc.option(
    fc.record({
      hosted_resource_identifier: fc.option(text),
      status: text,
      ip_address: fc.option(text),
      region: text,
      size: text,
    }),
  ),
});

const explained = fc.record({
  text: safe,
  next: maybe(safe),
  reference: maybe(fc.constant('0a1b2c3d')),
  link: maybe(fc.record({ label: text, url: webUrl() })),
  lacks: maybe(
    fc.record({ role: fc.constantFrom('operator', 'admin'), command: fc.constantFrom('test', 'use') }),
  ),
});
const finding = fc.record({
  what: safe,
  health: fc.constantFrom('well' as const, 'limited' as const, 'broken' as const),
  said: safe,
});
const start = fc.record({
  word: fc.constant(WORD),
  accounts: many(account, 3),
  channel: fc.record({ project: maybe(place) }),
  isAdmin: fc.boolean(),
  canSignUp: fc.boolean(),
});
const draft = fc.record({
  channel: fc.constant('C0'),
  account: slug,
  protocol: fc.constantFrom('static_hosting' as const, 'managed_vps' as const),
});

type Made = Shown | News | readonly (News | Message)[];

/** A builder with random data for it: whatever it is given, Slack must take what it makes. */
function row<A extends unknown[]>(
  build: (...given: A) => Made,
  ...given: { [K in keyof A]: fc.Arbitrary<A[K]> }
): { name: string; check: () => void } {
  const property = fc.property(fc.tuple(...given) as unknown as fc.Arbitrary<A>, (args) => {
    for (const shown of partsOf(build(...args))) expectAccepted(shown);
  });
  return { name: build.name, check: () => fc.assert(property, { numRuns: byLength(15, 200) }) };
}

function partsOf(made: Made): Shown[] {
  if (isBlocks(made)) return [made];
  if (isList(made)) return made.flatMap(partsOf);
  return 'message' in made ? [made.message] : [made];
}

function isBlocks(made: Made): made is KnownBlock[] {
  return isList(made) && made.every((part) => 'type' in part);
}

function isList(made: Made): made is Extract<Made, readonly unknown[]> {
  return Array.isArray(made);
}

const word = fc.constant(WORD);
const asker = fc.constant('U0ANN');
const key = fc.tuple(account, fc.uuid()).map(([one, id]) => ({ ...one, id }));

const BUILDERS = [
  row(accountsMessage, many(account, 60), maybe(slug), word),
  row(betaMessage, slug, profile, fc.boolean(), word),
  row(enrolledMessage, slug, fc.constantFrom('new', 'already', 'off'), word),
  row(enrollQuestion, slug, maybe(fc.stringMatching(/^[a-z_]{1,100}$/))),
  row(deployMessage, fc.record({ word, account: maybe(slug), url: maybe(url), project: maybe(project) })),
  row(helpMessage, helpGroups, word),
  row(helpGroupMessage, helpGroup, helpGroups, word),
  row(helpAllMessage, helpGroups, word),
  row(helpCommandMessage, fc.array(helpEntry, { minLength: 1, maxLength: 14 }), word),
  row(openFormMessage, word, text, maybe(fc.constant('1700000000.000100'))),
  row(
    suggestionsMessage,
    word,
    fc.array(fc.record({ text, isDurable: fc.boolean() }), { maxLength: 3 }),
    fc.record({
      said: maybe(fc.constant('There is none.')),
      thread: maybe(fc.constant('1700000000.000100')),
    }),
  ),
  row(handOverBlocks, slug, url),
  row(
    connectModal,
    fc.record({ channel: maybe(fc.constant('C0')), account: maybe(text), replay: maybe(text) }),
    maybe(
      fc.record({
        purposes: fc.constant(['shared', 'billing', 'mine'] as const),
        initial: fc.constantFrom('shared' as const, 'mine' as const),
        shared: maybe(account),
      }),
    ),
  ),
  row(connectFirstMessage, word, text, fc.boolean()),
  row(
    chooseKeyMessage,
    slug,
    fc.uniqueArray(key, { minLength: 1, maxLength: 150, selector: ({ id }) => id }),
  ),
  row(confirmDisconnectMessage, key, fc.boolean()),
  row(doctorMessage, fc.array(finding, { minLength: 1, maxLength: 60 })),
  row(failureMessage, explained),
  row(
    accessButton,
    explained.map(({ lacks }) => lacks),
  ),
  row(invoiceSentMessage, slug, fc.nat()),
  row(linkedMessage, word, fc.constant(NOW), maybe(text)),
  row(linkGoneMessage, word),
  row(accessRequestMessage, accessRequest, fc.constant('U0BEN operator')),
  row(accessAskedMessage, role, fc.constant(['U0ANN', 'U0BEA'])),
  row(noAdminMessage, role, word),
  row(askedAlreadyMessage, role, maybe(fc.constant({ by: 'U0ANN', isAllowed: false }))),
  row(heldAlreadyMessage, role),
  row(answeredMessage, accessRequest, fc.constant('U0ANN'), fc.boolean()),
  row(askerLeftMessage, accessRequest),
  row(requestOverMessage, word),
  row(accessAnswerMessage, accessRequest, fc.constant('U0ANN'), fc.boolean(), word),
  row(unlinkedMessage),
  row(notLinkedMessage, word),
  row(
    profileMessage,
    fc.record({
      user: fc.constant('U0ANN'),
      profile,
      key: account,
      billing: maybe(account),
      word,
      roles: many(safe, 4),
      link: maybe(safe),
    }),
  ),
  row(
    claimsMessage,
    many(fc.record({ name: text, user: fc.constant('U0ANN'), at: fc.constant(NOW) }), 120),
    fc.record({ account: slug, user: fc.constant('U0BEN'), word, names: many(text, 120) }),
    fc.boolean(),
  ),
  row(
    choiceMenu,
    fc.record({
      actionId: fc.constant('me:name'),
      placeholder: text,
      target: fc.record({ account: slug }),
      choices: fc.constant([{ value: 'Kim', text: 'Kim' }]),
    }),
  ),
  row(unknownNameMessage, slug, text, many(text, 120)),
  row(projectsMessage, slug, many(project), fc.record({ filter: fc.option(text, { nil: undefined }), word })),
  row(
    withSkipped,
    fc.constant(say('Projects')),
    many(
      fc.record({
        operation: fc.constant('listProjects'),
        count: fc.nat(500),
        reference: fc.constant('0a1b2c3d'),
        reason: text,
      }),
      3,
    ),
  ),
  row(pictureRefusedMessage, fc.record({ reason: fc.oneof(fc.constant('storage_limit_reached'), text) })),
  row(webSignupModal, safe, webUrl()),
  row(orderedNews, fc.record({ account: slug, project: place, server: named, cost: maybe(text) })),
  row(handOverModal, draft, refusal),
  row(creatingNotice, text),
  row(createdNotice, text, fc.boolean()),
  row(neverVerifiedMessage, slug),
  row(verifiedButRefusedMessage, slug, safe),
  row(startMessage, start),
  row(testRootMessage, testView),
  row(newsOf, target, run, fc.constantFrom('full', 'compact')),
  row(progressMessage, testView),
  row(
    alreadyRunningMessage,
    target,
    fc.oneof(fc.record({ user: asker }), fc.constantFrom('guard' as const, 'workflow' as const)),
    fc.constant(NOW),
    maybe(webUrl()),
  ),
  row(workingMessage),
  row(welcomeMessage, start),
  row(feedBlocks, many(event, 100), fc.constant('UTC')),
  row(
    auditMessage,
    many(entry, 50),
    fc.record({ size: fc.nat(50), page: fc.nat(8), upTo: maybe(text) }),
    fc.boolean(),
  ),
  row(
    rolesModal,
    fc.record({
      users: holders,
      groups: maybe(fc.record({ held: holders, all: many(fc.record({ id: slackId, name: text })) })),
      areGuestsAllowed: fc.boolean(),
      initial: fc.record({ roles: slug, commands: slug }),
      channel: maybe(fc.constant({ id: 'C0', commands: ['test'], all: ['test', 'activity'] })),
    }),
  ),
  row(rolesMessage, holders, fc.record({ guests: fc.boolean(), allowed: maybe(many(slug, 40)) })),
  row(
    testModal,
    fc.record({ account: slug, project: maybe(shortPlace), channel: maybe(fc.constant('C0')) }),
    fc.uniqueArray(slug, { maxLength: 150 }),
  ),
  row(openTestMessage),
  row(projectUnfurl, slug, project, maybe(shownRun)),
  row(serverUnfurl, slug, text, server),
  row(scheduleCard, schedule, scheduleChange),
  row(removedCard, many(schedule, 60), scheduleChange, fc.record({ removal: slug, list: maybe(slug) })),
  row(restoredCard, many(schedule, 60), asker),
  row(scheduleButtons, schedule, maybe(slug)),
  row(
    scheduleList,
    fc.constantFrom(...Object.values(SCHEDULE_FACES)),
    many(fc.record({ id: shortId, isAsleep: fc.boolean(), lines: fc.tuple(safe, safe) }), 60),
    fc.record({ scope: fc.constantFrom('here', 'all'), elsewhere: fc.nat(5), word }),
  ),
  row(
    guardModal,
    fc.record({
      origin: fc.record({
        channel: slug,
        id: maybe(shortId),
        accounts: fc.uniqueArray(slug, { maxLength: 150 }),
      }),
      values: fc.record({ cadence: fc.constantFrom('hourly', 'daily', 'cron'), project: maybe(slug) }),
      next: fc.oneof(text, many(fc.constant(NOW), 3)),
    }),
  ),
  row(watchModal, fc.record({ id: shortId, account: slug }), watched),
  row(
    watchListMessage,
    many(watch, 60),
    fc.record({ scope: fc.constantFrom('here', 'all'), elsewhere: fc.nat(5), word }),
  ),
  row(notifyStateMessage, many(billingChannel, 30), word),
];

/** What builders are made of: each of them bounds what it is given, and is met through them. */
const PARTS = new Set(['fields.ts', 'lists.ts', 'message.ts', 'modal.ts', 'timed.ts']);
const MADE = new Set(['Message', 'Message[]', 'ModalView', 'KnownBlock[]', 'News', 'News[]']);

describe('whatever it is given, Slack takes', () => {
  it.each(BUILDERS)('$name', ({ check }) => check());
});

describe('the table', () => {
  const here = import.meta.dirname;
  const views = join(here, '..', '..', '..', 'src', 'views');
  const read = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8');

  /** The other tests with properties, for builders whose data is so particular that theirs stand there. */
  const others = globSync('**/*.test.ts', { cwd: join(here, '..', '..') })
    .filter((file) => !file.endsWith('limits.test.ts'))
    .map((file) => read(join(here, '..', '..'), file))
    .filter((source) => source.includes('fc.property('));

  const made = globSync('**/*.ts', { cwd: views })
    .filter((file) => !PARTS.has(basename(file)))
    .flatMap((file) =>
      read(views, file)
        .split(/^export function /m)
        .slice(1),
    )
    .filter((source) => MADE.has(/\): ([\w[\]]+) \{\n/.exec(source)?.[1] ?? ''))
    .map((source) => source.slice(0, source.search(/[<(]/)));

  it.each(made)('has %s, or another test does', (name) => {
    const isHere = BUILDERS.some((builder) => builder.name === name);
    expect(isHere || others.some((source) => source.includes(`${name}(`))).toBe(true);
  });
});
