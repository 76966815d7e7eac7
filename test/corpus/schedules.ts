import type { Diagnosis, Episode, Subject as EpisodeSubject } from '../../src/records/episodes.ts';
import type {
  Digest,
  Guard,
  Schedule,
  ScheduleKind,
  TimedSchedule,
  Watch,
} from '../../src/records/schedules.ts';
import { chartBlock } from '../../src/views/activity/chart.ts';
import {
  type AccountReport,
  digestMessage,
  digestModal,
  threadMessages,
} from '../../src/views/digests/digest.ts';
import { diagnosisReply } from '../../src/views/episodes/diagnosis.ts';
import {
  episodeReply,
  episodeRoot,
  escalationReply,
  failingMessage,
  muteButtons,
  type ShownFailure,
} from '../../src/views/episodes/episode.ts';
import { type HomeData, homeView, refusedHomeView } from '../../src/views/home/home.ts';
import {
  invoiceNotices,
  invoiceSentMessage,
  invoicesMessage,
  notifyStateMessage,
} from '../../src/views/invoices/invoices.ts';
import {
  pausedLine,
  pausedMessage,
  removedCard,
  restoredCard,
  resumedLine,
  SCHEDULE_FACES,
  type ScheduleChange,
  type ShownSchedule,
  scheduleButtons,
  scheduleCard,
  scheduleList,
} from '../../src/views/schedules/schedule.ts';
import { guardModal, timedLines, timedModal, timeInputs } from '../../src/views/schedules/timed.ts';
import { newsLine, pushModal, watchLines, watchMessages, watchModal } from '../../src/views/watches/watch.ts';
import { DIGEST, NOTICES, WATCH } from '../views/records.ts';
import { answer, type Hand, type Subject, subject } from './hand.ts';
import { chartData, run } from './projects.ts';
import {
  ACCOUNT,
  ADA,
  accountKey,
  BEN,
  CHANNEL,
  event,
  events,
  invoice,
  NOW,
  paused,
  place,
  recovery,
  skipped,
  stats,
  WORD,
} from './records.ts';

const DAY = 86_400_000;
const ZONE = 'Europe/Lisbon';
const ALL = { scope: 'all', elsewhere: 0, word: WORD } as const;
const HERE = { scope: 'here', elsewhere: 2, word: WORD } as const;

function digest(change: Partial<Digest> = {}): Digest {
  return {
    ...DIGEST,
    channel: CHANNEL,
    cadence: { kind: 'weekly', day: 'mon', time: '09:00' },
    zone: ZONE,
    range: 'last_7_days',
    account: ACCOUNT,
    createdBy: ADA,
    createdAt: NOW - 30 * DAY,
    ...change,
  };
}

function projectDigest(hand: Hand): Digest {
  return digest({
    project: place(hand),
    cadence: { kind: 'cron', cron: hand.text('0 9 * * 1-5').slice(0, 200) },
  });
}

function reported(hand: Hand, account = ACCOUNT): AccountReport {
  return {
    kind: 'reported',
    account,
    activity: { events: events(hand), stats: stats(hand) },
    data: chartData(hand),
    unlisted: hand.maybe('40 failed; the newest 100 events hold 3 of them'),
    recovery: recovery(hand),
    skipped: skipped(hand),
  };
}

function quiet(): AccountReport {
  const none = { total_deployments: 0, success_rate: null } as const;
  const activity = { events: [], stats: { ...none, total_deployments_delta: 0, success_rate_delta: null } };
  return {
    kind: 'reported',
    account: ACCOUNT,
    activity,
    data: { zone: ZONE, bars: [], isTruncated: false },
  } as AccountReport;
}

function failed(hand: Hand): AccountReport {
  return { kind: 'failed', account: 'harbour', said: hand.safe('The service cannot be reached.') };
}

function reports(hand: Hand): AccountReport[] {
  return hand.list(
    [reported(hand)],
    (at) => (at % 3 === 2 ? failed(hand) : reported(hand, `account-${at}`)),
    12,
  );
}

function watch(hand: Hand, change: Partial<Watch> = {}): Watch {
  const project = { ...place(hand), identifier: 'p-0' };
  const placed = { ...WATCH, channel: CHANNEL, account: ACCOUNT };
  return { ...placed, mode: 'failures', project, createdBy: ADA, createdAt: NOW - DAY, ...change };
}

const HOURS = { from: '09:00', to: '18:00', zone: ZONE };

function guard(hand: Hand, change: Partial<Guard> = {}): Guard {
  const {
    id: _,
    account: __,
    project: ___,
    last: ____,
    range: _____,
    skipQuiet: ______,
    ...timed
  } = digest();
  return {
    ...timed,
    kind: 'guard',
    id: 'g7k2',
    account: ACCOUNT,
    project: place(hand),
    cadence: { kind: 'hourly' },
    ...change,
  };
}

function rowOf(schedule: TimedSchedule, scope: 'here' | 'all') {
  const nextAt = schedule.state.kind === 'active' ? NOW + DAY : undefined;
  const isAsleep = schedule.state.kind === 'paused' || schedule.snoozedUntil !== undefined;
  return { id: schedule.id, isAsleep, lines: timedLines(schedule, { scope, now: NOW, nextAt }) };
}

function listedGuards(hand: Hand) {
  const reason = hand.safe('1 of 7 servers');
  const last = { scheduledAt: NOW, at: NOW, outcome: 'unreachable', reason } as const;
  const all = [guard(hand), guard(hand, { last, state: paused(hand) })];
  return hand
    .list(all, (at) => all[at % 2] ?? all[0], 60)
    .flatMap((one) => (one === undefined ? [] : [rowOf(one, 'all')]));
}

function listedWatches(hand: Hand, scope: 'here' | 'all') {
  const row = (one: Watch, polling: { lookedAt?: number; failures: number }, kept = 0) => ({
    id: one.id,
    isAsleep: one.state.kind === 'paused',
    lines: watchLines(one, { scope, polling, kept, isGone: kept > 0 }),
  });
  const last = { at: NOW, said: hand.safe('2 events') };
  const all = [
    row(watch(hand, { last }), { lookedAt: NOW, failures: 0 }),
    row(watch(hand, { state: paused(hand, BEN), hours: HOURS }), { failures: 3 }, 4),
  ];
  return hand.list(all, (at) => all[at % 2] ?? all[0], 60).filter((one) => one !== undefined);
}

function listedDigests(hand: Hand, scope: 'here' | 'all') {
  const reason = hand.safe('the service did not answer');
  const last = { scheduledAt: NOW, at: NOW, outcome: 'failed', reason } as const;
  const all: Digest[] = [
    digest({ last: { ...last, outcome: 'posted', reason: undefined } }),
    { ...projectDigest(hand), state: paused(hand), last },
    digest({ snoozedUntil: NOW + 7 * DAY, skipQuiet: true }),
  ];
  return hand
    .list(all, (at) => all[at % 3] ?? all[0], 60)
    .flatMap((one) => (one === undefined ? [] : [rowOf(one, scope)]));
}

function schedule(hand: Hand, kind: ScheduleKind): Schedule {
  const schedules: Record<ScheduleKind, Schedule> = {
    digest: projectDigest(hand),
    guard: guard(hand),
    watch: watch(hand),
    invoices: NOTICES,
  };
  return schedules[kind];
}

function awake(hand: Hand, kind: ScheduleKind): ShownSchedule {
  return { schedule: schedule(hand, kind), isAsleep: false };
}

const DONE = ['set up', 'edited', 'paused', 'resumed', 'snoozed', 'restored'] as const;
const KINDS = Object.keys(SCHEDULE_FACES) as Array<keyof typeof SCHEDULE_FACES>;

function cards(done: ScheduleChange['done']) {
  return Object.fromEntries(
    KINDS.map((kind) => [
      `${kind} ${done}`,
      (hand: Hand): [ShownSchedule, ScheduleChange] => [
        {
          schedule: schedule(hand, kind),
          isAsleep: done === 'paused' || done === 'snoozed',
          canBePushed: kind === 'watch' && done === 'set up',
        },
        { done, user: BEN, note: hand.maybe('Next: Monday at 9:00.') },
      ],
    ]),
  );
}

function news(hand: Hand) {
  return hand
    .list([event(hand, 0, 'deploy_failed'), event(hand, 1)], (at) => event(hand, at), 100)
    .map((one) => newsLine(one, (name) => (name === 'Kim Lee' ? BEN : undefined)));
}

function home(hand: Hand, change: Partial<HomeData> = {}): [HomeData] {
  const account = accountKey(hand);
  return [
    {
      word: WORD,
      now: NOW,
      canSignUp: true,
      accounts: hand.list([account], (at) => ({ ...account, name: `account-${at}` }), 40),
      defaultAccount: ACCOUNT,
      figures: {
        acme: {
          stats: stats(hand),
          data: chartData(hand),
          skipped: skipped(hand),
          recoveries: hand.list([recovery(hand)], () => recovery(hand), 40),
        },
      },
      charts: new Map([[ACCOUNT, chartBlock(chartData(hand))]]),
      failing: failures(hand),
      runs: hand.list([run(hand), run(hand, { status: 'running' })], () => run(hand), 13),
      schedules: hand.list(
        [
          { schedule: projectDigest(hand), next: NOW + DAY },
          { schedule: watch(hand, { state: paused(hand) }), next: undefined },
          { schedule: { ...NOTICES, channel: 'C0BILLING' }, next: undefined },
        ],
        (at) => ({ schedule: watch(hand, { id: `w${at}`, state: paused(hand) }), next: undefined }),
        60,
      ),
      roles: ['admin', 'operator', 'billing'],
      ...change,
    },
  ];
}

function notices(hand: Hand) {
  const polling = { lookedAt: NOW, failures: 0 };
  const one = { ...NOTICES, account: ACCOUNT, createdBy: ADA, createdAt: NOW - DAY };
  const other = { ...one, state: paused(hand), last: { at: NOW, said: hand.safe('2 invoice notices') } };
  return hand.list(
    [
      { notices: one, polling },
      { notices: { ...other, account: 'harbour' }, polling },
    ],
    (at) => ({ notices: { ...other, account: `account-${at}` }, polling }),
    30,
  );
}

const FILLED = { cadence: 'weekly:mon', time: '09:00', zone: ZONE, range: 'last_7_days' };

const FAILING = {
  id: 'e1',
  since: NOW - 38 * 60_000,
  failures: 1,
  latestAt: NOW,
  newsAt: NOW,
  replies: [],
} as const;

function episode(change: Partial<Episode> = {}, person?: string) {
  return (hand: Hand): [string, EpisodeSubject, Episode] => {
    const { line } = newsLine(event(hand, 0, 'deploy_failed'), () => undefined);
    const name = hand.text('Storefront');
    return [
      'k1',
      { kind: 'deployments', channel: CHANNEL, account: ACCOUNT, project: 'storefront', name, person },
      { ...FAILING, first: [line], latest: hand.list([line], () => line, 20), ...change, replies: [] },
    ];
  };
}

export function failures(hand: Hand): ShownFailure[] {
  const link = 'https://house.slack.com/archives/C1/p1';
  const items = [{ key: 'server:1', title: hand.text('web-1'), message: hand.text('Connection refused') }];
  const guarded = episode({ items })(hand);
  const some = [episode()(hand), episode({ owner: BEN })(hand), guarded];
  return hand
    .list(some, () => episode()(hand), 30)
    .map(([key, subject, failing]) => ({
      key,
      subject: failing.items === undefined ? subject : { ...subject, kind: 'reachability' },
      episode: failing,
      link,
    }));
}

function subjectAndEpisode(hand: Hand): [EpisodeSubject, Episode] {
  const [, about, failing] = episode()(hand);
  return [about, failing];
}

function diagnosis(hand: Hand): Diagnosis {
  const item = { key: 'server:s1', title: hand.text('web-1'), message: hand.text('Connection refused') };
  const line = hand.safe('web-1 cannot be reached: Connection refused');
  return { at: NOW, line, items: hand.list([item], () => item, 20) };
}

function pausedSchedule(kind: 'digest' | 'watch'): Schedule {
  return kind === 'digest' ? digest() : { ...WATCH, channel: CHANNEL };
}

export const SCHEDULES: readonly Subject[] = [
  subject(scheduleCard, Object.assign({}, ...DONE.map(cards))),
  subject(removedCard, {
    ...Object.fromEntries(
      KINDS.map((kind) => [
        kind,
        (hand: Hand) => [[schedule(hand, kind)], BEN, { removal: 'r1' }] as Parameters<typeof removedCard>,
      ]),
    ),
    several: (hand) => [
      hand.list([schedule(hand, 'watch'), schedule(hand, 'watch')], () => schedule(hand, 'watch'), 50),
      BEN,
      { removal: 'r1', list: 'here' },
    ],
  }),
  subject(restoredCard, {
    one: (hand) => [[awake(hand, 'digest')], BEN],
    several: (hand) => [
      hand.list([awake(hand, 'watch'), awake(hand, 'watch')], () => awake(hand, 'watch'), 50),
      BEN,
    ],
  }),
  subject(scheduleButtons, {
    active: () => [{ face: SCHEDULE_FACES.digest, id: 'd7k2', isAsleep: false }],
    'in a list': () => [{ face: SCHEDULE_FACES.watch, id: 'w7k2', isAsleep: false }, 'all'],
  }),
  subject(scheduleList, {
    'none here': () => [SCHEDULE_FACES.digest, [], { ...HERE, unreadable: 1 }],
    'digests here': (hand) => [SCHEDULE_FACES.digest, listedDigests(hand, 'here'), HERE],
    'digests everywhere': (hand) => [SCHEDULE_FACES.digest, listedDigests(hand, 'all'), ALL],
    guards: (hand) => [SCHEDULE_FACES.guard, listedGuards(hand), ALL],
    'watches here': (hand) => [SCHEDULE_FACES.watch, listedWatches(hand, 'here'), HERE],
    'watches everywhere': (hand) => [SCHEDULE_FACES.watch, listedWatches(hand, 'all'), ALL],
    some: (hand) => [
      SCHEDULE_FACES.watch,
      hand.list(
        [{ id: 'w7k2', isAsleep: false as boolean, lines: [hand.safe('Failures of Storefront')] }],
        () => ({
          id: 'w7k2',
          isAsleep: true,
          lines: [hand.safe('so'), hand.safe('on')],
        }),
      ),
      ALL,
    ],
  }),
  subject(pausedLine, {
    several: (hand) => [
      [pausedSchedule('digest'), pausedSchedule('watch'), pausedSchedule('watch')],
      hand.safe('the key of `acme` was revoked or rotated'),
      'They resume by themselves once it is connected again.',
    ],
  }),
  subject(resumedLine, {
    one: (hand) => [[pausedSchedule('digest')], hand.safe('the account `acme` works again')],
  }),
  subject(pausedMessage, {
    one: (hand) => [
      {
        reason: hand.safe('the channel is archived'),
        paused: [pausedSchedule('digest')],
        next: 'Once this is fixed, press “Resume”.',
      },
    ],
    several: (hand) => [
      {
        reason: hand.safe('the key of `acme` was revoked or rotated'),
        paused: hand.list(
          [pausedSchedule('digest'), pausedSchedule('watch')],
          () => pausedSchedule('watch'),
          12,
        ),
        next: 'Connect it again.',
      },
    ],
  }),
  subject(digestMessage, {
    'of an account': (hand) => [{ digest: digest(), next: NOW + DAY }, reports(hand)],
    'of a project, late': (hand) => [
      { digest: projectDigest(hand), next: NOW + DAY, lateSince: NOW },
      [reported(hand)],
    ],
    'quiet, as a preview': () => [{ digest: digest(), isPreview: true }, [quiet()]],
    'of an account that does not answer': (hand) => [{ digest: digest(), next: NOW + DAY }, [failed(hand)]],
  }),
  subject(threadMessages, {
    'of an account': (hand) => [[reported(hand)], digest()],
    'of a project': (hand) => [[reported(hand)], projectDigest(hand)],
  }),
  subject(guardModal, {
    new: (hand) => [
      {
        origin: { channel: CHANNEL, accounts: hand.list([ACCOUNT, 'harbour'], (at) => `account-${at}`) },
        values: FILLED,
        next: [NOW + DAY],
      },
    ],
    'hourly, edited': () => [
      {
        origin: { channel: CHANNEL, id: 'g7k2', accounts: [] },
        values: { cadence: 'hourly', zone: ZONE },
        next: [NOW + DAY],
      },
    ],
  }),
  subject(timedModal, {
    guard: () => [
      'guard' as const,
      { origin: { channel: CHANNEL, accounts: [] }, values: {}, next: 'Choose a time.' },
      [],
    ],
  }),
  subject(timeInputs, {
    'by cron': () => [{ origin: { channel: CHANNEL, accounts: [] }, values: { cadence: 'cron' }, next: [] }],
  }),
  subject(digestModal, {
    new: (hand) => [
      {
        origin: { channel: CHANNEL, accounts: hand.list([ACCOUNT, 'harbour'], (at) => `account-${at}`) },
        values: FILLED,
        next: [NOW + DAY, NOW + 8 * DAY],
      },
    ],
    'by cron, edited': (hand) => [
      {
        origin: { channel: CHANNEL, id: 'd7k2', accounts: [] },
        values: { ...FILLED, cadence: 'cron', cron: hand.text('0 9 * *').slice(0, 100) },
        next: hand.text('Five fields are needed.'),
      },
    ],
  }),
  subject(watchModal, {
    'of a project': (hand) => [
      { id: 'w7k2', account: ACCOUNT },
      watch(hand, { hours: HOURS, server: { identifier: 's', name: hand.text('web-1').slice(0, 200) } }),
    ],
    'that mentions a group': (hand) => [
      { id: 'w7k2', account: ACCOUNT },
      watch(hand, { escalation: { mention: 'S0ONCALL', name: hand.text('oncall').slice(0, 80), after: 15 } }),
    ],
    'of all projects': () => [{ id: 'w7k2', account: ACCOUNT }, { ...WATCH }],
  }),
  subject(pushModal, { 'of a project': (hand) => [{ id: 'w7k2', account: ACCOUNT }, watch(hand)] }),
  subject(watchMessages, {
    some: (hand) => [{ account: ACCOUNT, lines: news(hand), isTruncated: false, word: WORD }],
    'many, some missing': (hand) => [
      {
        account: ACCOUNT,
        lines: [
          ...news(hand),
          ...news(hand),
          ...news(hand),
          ...news(hand),
          ...news(hand),
          ...news(hand),
        ].slice(0, 100),
        isTruncated: true,
        skipped: skipped(hand),
        word: WORD,
      },
    ],
    'kept until working hours': (hand) => [
      { account: ACCOUNT, lines: news(hand), isTruncated: false, kept: { dropped: 3 }, word: WORD },
    ],
    'of one’s own': (hand) => [
      { account: ACCOUNT, lines: news(hand), isTruncated: false, word: WORD, isOwn: true },
    ],
    'none could be read': (hand) => [
      { account: ACCOUNT, lines: [], isTruncated: false, skipped: skipped(hand), word: WORD },
    ],
  }),
  answer(invoicesMessage, {
    some: (hand) => [
      ACCOUNT,
      hand.list(
        [invoice(hand, 1002, { paid: false, paid_at: null }), invoice(hand)],
        (at) => invoice(hand, at, { paid: at % 2 === 0 }),
        150,
      ),
    ],
    'more than ten': (hand) => [ACCOUNT, Array.from({ length: 14 }, (_, at) => invoice(hand, 1000 + at))],
  }),
  subject(invoiceSentMessage, { sent: () => [ACCOUNT, 1001] }),
  subject(invoiceNotices, {
    all: (hand) => [
      ACCOUNT,
      hand.list(
        [
          { kind: 'new', invoice: invoice(hand, 1003, { paid: false, paid_at: null }) },
          { kind: 'paid', invoice: invoice(hand) },
          { kind: 'unpaid', invoice: invoice(hand, 1002, { paid: false, paid_at: null }), days: 14 },
        ],
        (at) => ({ kind: 'new', invoice: invoice(hand, at) }),
        30,
      ),
      skipped(hand),
    ],
  }),
  subject(notifyStateMessage, { set: (hand) => [notices(hand), WORD] }),
  subject(homeView, {
    'of an admin': (hand) => home(hand),
    'of a member, loading': (hand) => home(hand, { figures: 'loading', roles: [] }),
    'with a broken key': (hand) =>
      home(hand, {
        accounts: [accountKey(hand, { state: 'broken' })],
        figures: { acme: { failed: hand.safe('The key was revoked.') } },
      }),
    'nothing connected, an admin': (hand) => home(hand, { accounts: [], runs: [], schedules: [] }),
    'nothing connected, a member': (hand) => home(hand, { accounts: [], runs: [], schedules: [], roles: [] }),
    'nothing done yet': (hand) => home(hand, { runs: [], schedules: [], charts: new Map(), figures: {} }),
  }),
  subject(refusedHomeView, {
    stranger: (hand) => [hand.safe('Only people of the workspace that installed Deckhand can use it here.')],
  }),
  subject(episodeRoot, {
    'a first failure': episode(),
    'somebody is on it': episode({ failures: 3, owner: BEN }),
    'of one’s own': episode({}, BEN),
    'with its diagnosis': (hand) => episode({ diagnosis: diagnosis(hand) })(hand),
    recovered: episode({ failures: 3, ending: { kind: 'recovered', at: NOW } }),
    closed: episode({ ending: { kind: 'closed', at: NOW } }),
    'closed by a person': episode({ ending: { kind: 'closed', at: NOW, requestedBy: BEN } }),
  }),
  subject(failingMessage, {
    'some, and a watch is paused': (hand) => [
      failures(hand),
      [{ ...WATCH, state: paused(hand) }],
      { word: WORD, channel: CHANNEL },
    ],
    none: () => [[], [WATCH], { word: WORD, channel: CHANNEL }],
    'all is paused': (hand) => [[], [{ ...WATCH, state: paused(hand) }], { word: WORD, channel: CHANNEL }],
    'nothing is followed': () => [[], [], { word: WORD, channel: CHANNEL }],
    'nothing is followed in a direct message': () => [[], [], { word: WORD, channel: 'D1' }],
  }),
  subject(muteButtons, { 'of an account': () => [ACCOUNT] }),
  subject(escalationReply, {
    'a group and a person': (hand) => [...subjectAndEpisode(hand), ['S0ONCALL', BEN], 900_000],
    'they are gone': (hand) => [...subjectAndEpisode(hand), [], 900_000],
  }),
  subject(diagnosisReply, {
    'a server': (hand) => [
      ACCOUNT,
      { permalink: 'storefront', name: hand.text('Storefront') },
      diagnosis(hand),
    ],
  }),
  subject(episodeReply, {
    failure: (hand) => [{ kind: 'failure' as const, number: 2, lines: [hand.safe('deploy failed')] }],
    recovery: (hand) => [{ kind: 'success' as const, number: 3, lines: [hand.safe('deploy completed')] }],
    claimed: () => [{ kind: 'claim' as const, number: 1, lines: [], requestedBy: BEN }],
    'handed back': () => [{ kind: 'release' as const, number: 2, lines: [], requestedBy: BEN }],
    closed: () => [{ kind: 'close' as const, number: 3, lines: [], requestedBy: BEN }],
  }),
];
