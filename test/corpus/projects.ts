import type { Run } from '../../src/records/test-runs.ts';
import { type DeploymentsData, deploymentBars } from '../../src/service/activity.ts';
import { listItems } from '../../src/service/projects.ts';
import { activityMessage, feedBlocks, statsBlocks } from '../../src/views/activity/activity.ts';
import { chartBlock, chartWords } from '../../src/views/activity/chart.ts';
import { chooseProjectMessage, deployMessage, projectsMessage } from '../../src/views/projects/projects.ts';
import { openTestMessage, testModal } from '../../src/views/test-access/form.ts';
import { drawPlan } from '../../src/views/test-access/items.ts';
import {
  alreadyRunningMessage,
  runMessage,
  type TestState,
  type TestView,
  testRootMessage,
} from '../../src/views/test-access/test-run.ts';
import { listNews, progressMessage } from '../../src/views/test-access/test-thread.ts';
import { projectCard, projectDetails, projectUnfurl, serverUnfurl } from '../../src/views/unfurls/unfurl.ts';
import { RUN } from '../views/records.ts';
import { type Hand, type Subject, subject } from './hand.ts';
import {
  ACCOUNT,
  BEN,
  CHANNEL,
  events,
  machine,
  NOW,
  place,
  project,
  recovery,
  serverTarget,
  stats,
  target,
  testRun,
  WORD,
} from './records.ts';

const RUN_MS = 8_000;
const LATER = { link: undefined, isPostedLater: true };
const URL = 'https://acme.example.com/projects/storefront';

function view(hand: Hand, state: TestState, change: Partial<TestView> = {}): TestView {
  return {
    target: target(hand),
    requestedBy: BEN,
    startedAt: NOW,
    now: NOW + RUN_MS,
    state,
    usualMs: hand.maybe(9_000),
    projectUrl: hand.maybe(URL),
    runKey: 'k7',
    ...change,
  };
}

const ended =
  (failing: readonly string[], change = {}) =>
  (hand: Hand): TestState => ({
    kind: 'ended',
    run: testRun(hand, failing, change),
  });

const STATES = {
  starting: () => ({ kind: 'starting' }),
  'running, with results': (hand) => ({ kind: 'running', results: testRun(hand, ['web-1']).results }),
  'running, while the service is busy': (hand) => ({
    kind: 'running',
    trouble: hand.safe('The service is busy.'),
  }),
  green: ended([]),
  'one server fails': ended(['web-2']),
  'the repository and many fail': ended(['repository', 'web-1', 'web-2', 'web-3', 'worker-1', 'worker-2']),
  'failed without results': ended([], { status: 'failed', results: undefined }),
  'completed without results': ended([], { results: undefined }),
  'an unknown word': ended([], { status: 'aborted' }),
  stopped: (hand) => ({ kind: 'stopped', reason: hand.safe('The service cannot be reached.') }),
  lost: () => ({ kind: 'lost', run: 'run-1' }),
} as const satisfies Record<string, (hand: Hand) => TestState>;

function inEachState(change: (hand: Hand) => Partial<TestView> = () => ({})) {
  const entries = Object.entries(STATES as Record<string, (hand: Hand) => TestState>);
  return Object.fromEntries(
    entries.map(([what, state]) => [
      what,
      (hand: Hand): [TestView] => [view(hand, state(hand), change(hand))],
    ]),
  );
}

export function chartData(hand: Hand): DeploymentsData {
  const bars = deploymentBars(events(hand), {
    range: 'last_7_days',
    zone: 'Europe/Lisbon',
    now: NOW,
    isTruncated: false,
  });
  return { zone: 'Europe/Lisbon', bars, isTruncated: false };
}

export function run(hand: Hand, change: Partial<Run> = {}): Run {
  return {
    ...RUN,
    target: target(hand),
    startedAt: NOW,
    endedAt: NOW + RUN_MS,
    reachable: 6,
    total: 7,
    ...change,
  };
}

const ASK = { account: ACCOUNT, range: 'last_7_days', stats: false, page: 0, zone: 'Europe/Lisbon' } as const;
const PRIVATE = { kind: 'person', isShared: false } as const;

function shownProject(hand: Hand) {
  return { account: ACCOUNT, url: URL, project: project(hand), latest: hand.maybe(run(hand)) };
}

export const PROJECTS: readonly Subject[] = [
  subject(testRootMessage, {
    ...inEachState(),
    'one server is tested': (hand) => [view(hand, ended([])(hand), { target: serverTarget(hand) })],
    'asked by a workflow': (hand) => [view(hand, ended([])(hand), { requestedBy: undefined })],
    'not known whether it was started': (hand) => [
      view(hand, { kind: 'stopped', reason: hand.safe('The service did not answer.') }, { mayRun: true }),
    ],
  }),
  subject(progressMessage, inEachState()),
  subject(listNews, {
    'one server fails': (hand) => [target(hand), testRun(hand, ['web-2']), 'compact' as const],
    'every item has a reply': (hand) => [target(hand), testRun(hand, ['web-2']), 'full' as const],
    'the repository fails': (hand) => [target(hand), testRun(hand, ['repository']), 'compact' as const],
  }),
  subject(drawPlan, {
    'with a failure': (hand) => [listItems(target(hand), testRun(hand, ['web-2']).results)],
  }),
  subject(runMessage, {
    ended: (hand) => [
      run(hand, {
        reachable: 5,
        failing: hand.list(
          [{ key: 'server:1', title: hand.text('web-1'), message: hand.text('Connection refused') }],
          (at) => ({ key: `server:${at}`, title: hand.text('web-1'), message: hand.text('timed out') }),
          20,
        ),
      }),
    ],
    running: (hand) => [run(hand, { status: 'running' })],
  }),
  subject(alreadyRunningMessage, {
    running: (hand) => [
      target(hand),
      { user: BEN },
      NOW,
      { link: hand.maybe('https://acme.slack.com/archives/C1/p1'), isPostedLater: false },
    ],
    'by a workflow': (hand) => [serverTarget(hand), { noun: 'workflow' as const }, NOW, LATER],
    'by a guard': (hand) => [target(hand), { noun: 'guard' as const }, NOW, LATER],
    'for a failure': (hand) => [target(hand), { failureIn: 'C0DEPLOYS' }, NOW, LATER],
  }),
  subject(testModal, {
    'nothing chosen': () => [{ account: ACCOUNT }, [ACCOUNT]],
    'a project, of several accounts': (hand) => [
      {
        account: ACCOUNT,
        project: { permalink: 'storefront', name: hand.text('Storefront').slice(0, 100) },
        channel: CHANNEL,
      },
      hand.list([ACCOUNT, 'harbour'], (at) => `account-${at}`),
    ],
  }),
  subject(openTestMessage, { asked: () => [] }),
  subject(projectsMessage, {
    all: (hand) => [
      hand.list([project(hand), project(hand, 1), project(hand, 2)], (at) => project(hand, at)),
      { account: ACCOUNT, page: 0 },
      WORD,
    ],
    'by a word': (hand) => [
      [project(hand)],
      { account: ACCOUNT, filter: hand.text('store').slice(0, 200), page: 0 },
      WORD,
    ],
    'the second page': (hand) => [
      Array.from({ length: 41 }, (_, at) => project(hand, at)),
      { account: ACCOUNT, page: 1 },
      WORD,
    ],
    'none fits': (hand) => [
      [],
      { account: ACCOUNT, filter: hand.text('nonsense').slice(0, 200), page: 0 },
      WORD,
    ],
  }),
  subject(chooseProjectMessage, {
    several: (hand) => [hand.list([project(hand), project(hand, 1)], (at) => project(hand, at)), 'test'],
    'in the thread of a mention': (hand) => [
      hand.list([project(hand), project(hand, 1)], (at) => project(hand, at)),
      hand.text('test').slice(0, 3_000),
      '1700000000.000100',
    ],
  }),
  subject(deployMessage, {
    'in a bound channel': (hand) => [{ word: WORD, account: ACCOUNT, url: URL, project: place(hand) }],
    'without an account': () => [{ word: WORD, account: undefined, url: undefined, project: undefined }],
  }),
  subject(activityMessage, {
    'of an account': (hand) => [ASK, { events: events(hand), stats: undefined }, PRIVATE],
    'with figures': (hand) => [
      { ...ASK, stats: true },
      { events: events(hand), stats: stats(hand) },
      PRIVATE,
      { chart: chartBlock(chartData(hand)) },
    ],
    'of a project, with figures': (hand) => [
      { ...ASK, stats: true, project: { permalink: 'storefront', name: hand.text('Storefront') } },
      { events: events(hand), stats: stats(hand) },
      PRIVATE,
      { recovery: recovery(hand) },
    ],
    'shared, a later page': (hand) => [
      { ...ASK, page: 1 },
      { events: events(hand), stats: undefined },
      { kind: 'channel' as const, sharedBy: BEN },
    ],
    'shared, for the asker': (hand) => [
      ASK,
      { events: events(hand), stats: undefined },
      { ...PRIVATE, isShared: true },
    ],
  }),
  subject(feedBlocks, { 'of two days': (hand) => [events(hand).slice(0, 12), 'UTC'] }),
  subject(statsBlocks, {
    all: (hand) => [stats(hand), 'last_7_days' as const],
    none: () => [undefined, 'today' as const],
  }),
  subject(chartBlock, { 'of a week': (hand) => [chartData(hand)] }),
  subject(chartWords, { 'of a week': (hand) => [chartData(hand), 7] }),
  subject(projectUnfurl, {
    tested: (hand) => [ACCOUNT, project(hand), hand.maybe(run(hand))],
    running: (hand) => [ACCOUNT, project(hand, 1), run(hand, { status: 'running' })],
  }),
  subject(serverUnfurl, { managed: (hand) => [ACCOUNT, hand.text('storefront'), machine(hand)] }),
  subject(projectCard, { tested: (hand) => [shownProject(hand), URL] }),
  subject(projectDetails, {
    'with deployments': (hand) => [shownProject(hand), events(hand)],
    'that could not be read': (hand) => [shownProject(hand), undefined],
  }),
];
