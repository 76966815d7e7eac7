import type { Button } from '@slack/types';
import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, dateTime, duration, linesWithin, mrkdwn } from '../../core/mrkdwn.ts';
import type { Run, Target } from '../../records/test-runs.ts';
import type { TestOutcome, TestResults, TestRun } from '../../service/projects.ts';
import { LIMITS } from '../blocks/limits.ts';
import { skippedWords } from '../blocks/lists.ts';
import { button, buttons, context, EARLIER_COPY, say, section, UNENDED } from '../blocks/message.ts';

/** The state of a followed test run. */
export type TestState =
  | { kind: 'starting' }
  /** `tested`: how many results there are so far. */
  | { kind: 'running'; trouble?: string | undefined; tested?: number | undefined }
  | { kind: 'ended'; run: Omit<TestRun, 'identifier'> }
  /** It could not be started or followed; `reason` is mrkdwn, escaped. */
  | { kind: 'stopped'; reason: string }
  /** No longer followed; it may still be running. */
  | { kind: 'lost'; run: string | undefined };

export interface TestView {
  target: Target;
  /** Undefined for a workflow. */
  askedBy?: string | undefined;
  /** When Deckhand began to follow it, milliseconds since the epoch. */
  startedAt: number;
  now: number;
  /** When it was created at the service, where it says so. */
  createdAt?: number | undefined;
  /** The service's word while the run goes on. */
  serviceStatus?: string | undefined;
  /** How long earlier runs of the target took, in milliseconds; undefined before there are any. */
  usualMs?: number | undefined;
  /** The service was asked to start it; without a `run`, its answer is not known. */
  asked?: boolean | undefined;
  run?: string | undefined;
  /** What may be there twice, because Deckhand was stopped in the middle. */
  maybeTwice?: readonly MaybeTwice[] | undefined;
  state: TestState;
  /** `full`: a reply for each item; `compact`: what is reachable in one. */
  layout: 'full' | 'compact';
  /** False where it has no thread, so that its root message has the buttons of failing servers. */
  threads?: boolean | undefined;
}

/** The root message, or the run at the service. */
export type MaybeTwice = 'root' | 'run';

/** The root message: what is tested, who asked, its state; buttons only once it has ended. */
export function testRootMessage(view: TestView): Message {
  const { icon, words } = headline(view);
  const title = `${icon} *Test access* of ${targetWords(view.target)}: ${words}`;
  return {
    text: `Test access of ${targetWords(view.target)}: ${words}`,
    blocks: [
      section(title),
      ...detailBlocks(view),
      context(
        `Account ${code(view.target.account)}`,
        `asked by ${askerWords(view.askedBy)}`,
        `started ${dateTime(view.createdAt ?? view.startedAt)}`,
        elapsedWords(view),
      ),
      ...(view.maybeTwice ?? []).map((what) => context(TWICE[what])),
      ...buttonsOf(view),
    ],
  };
}

/** The answer to a request for a test that is running already. */
export function alreadyRunningMessage(
  target: Target,
  askedBy: string | undefined,
  startedAt: number,
  link: string | undefined,
): Message {
  const where = link === undefined ? '' : ` <${link}|See it here>.`;
  return say(
    `:hourglass_flowing_sand: A test of ${targetWords(target)} is running already; ${askerWords(askedBy)} started it ${dateTime(startedAt)}.${where}`,
  );
}

/** How many results a run has so far, the repository's included. */
export function countTested(results: TestResults | undefined): number {
  return (results?.servers.length ?? 0) + (results?.repository === undefined ? 0 : 1);
}

const TWICE: Readonly<Record<MaybeTwice, string>> = {
  root: EARLIER_COPY,
  run: ':warning: Deckhand was restarted while it started the test, so the service may run it twice.',
};

function headline(view: TestView): { icon: string; words: string } {
  switch (view.state.kind) {
    case 'starting':
      return { icon: ':arrows_counterclockwise:', words: 'running' };
    case 'running': {
      const tested = view.state.tested ? `, ${view.state.tested} tested so far` : '';
      return { icon: ':arrows_counterclockwise:', words: `${statusWord(view.serviceStatus)}${tested}` };
    }
    case 'ended':
      return outcomeWords(outcomeOf(view.state.run));
    case 'stopped':
    case 'lost':
      return UNENDED[view.state.kind];
  }
}

const MAY_RUN = 'The service did not say whether it started the test, so it may be running there.';

function detailBlocks(view: TestView): KnownBlock[] {
  const { state } = view;
  if (state.kind === 'stopped')
    return [section(state.reason), ...(view.asked && view.run === undefined ? [context(MAY_RUN)] : [])];
  if (state.kind === 'running' && state.trouble !== undefined) return [context(`:warning: ${state.trouble}`)];
  if (state.kind === 'lost')
    return [
      context('The test took longer than Deckhand follows one. It may still be running at the service.'),
    ];
  if (state.kind !== 'ended') return [];
  const { repository, servers = [], skipped = [] } = state.run.results ?? {};
  const failing = servers.filter(({ status }) => status === 'error');
  // Of one server alone, "Run again" does the same.
  const hasButtons = view.threads === false && view.target.server === undefined;
  const own = hasButtons ? failing.slice(0, MOST_WITH_BUTTON) : [];
  const lines = [
    ...(repository?.status === 'error' ? [failingLine('*Repository*', repository)] : []),
    ...failing.slice(own.length).map((server) => failingLine(bold(server.name), server)),
  ];
  return [
    ...own.map((server) =>
      section(failingLine(bold(server.name), server), serverButton(view.target, server)),
    ),
    ...(lines.length === 0 ? [] : [section(linesWithin(lines, LIMITS.sectionText, 'more not reachable'))]),
    ...(skipped.length === 0 ? [] : [context(skippedWords(skipped))]),
  ];
}

/** Slack refuses messages whose blocks are too long altogether. */
const MOST_WITH_BUTTON = 5;

function failingLine(name: string, { message }: TestOutcome): string {
  return `:x: ${name}  ${mrkdwn(message, 300)}`;
}

export function serverButton(target: Target, server: { identifier: string; name: string }): Button {
  const { identifier, name } = server;
  const value = { target: { ...target, server: { identifier, name: name.slice(0, 200) } } };
  return button('Test this server again', 'test:server', { value });
}

function elapsedWords(view: TestView): string {
  const elapsed = duration(passed(view));
  const { state, usualMs } = view;
  if (state.kind !== 'running' && state.kind !== 'starting') return `took ${elapsed}`;
  const usual = usualMs === undefined ? '' : `, usually ${duration(usualMs)}`;
  return `${usualBar(view)}${elapsed} so far${usual}`;
}

/** How long the run takes or took, in milliseconds. */
export function passed({ state, now, startedAt, createdAt = startedAt }: TestView): number {
  // A service whose clock is ahead must not make the time stand still.
  if (state.kind !== 'ended') return now - Math.min(createdAt, startedAt);
  const { createdAt: began, completedAt: ended } = timesOf(state.run);
  // One clock for both ends: the service's, or ours.
  return began === undefined || ended === undefined ? now - startedAt : ended - began;
}

const BAR_LENGTH = 10;

/** "▰▰▰▱▱▱▱▱▱▱ ": how much of the usual time has passed; empty where that is not known. */
export function usualBar(view: TestView): string {
  if (view.usualMs === undefined) return '';
  const share = Math.min(1, Math.max(0, passed(view)) / Math.max(1, view.usualMs));
  const full = Math.floor(share * BAR_LENGTH);
  return `${'▰'.repeat(full)}${'▱'.repeat(BAR_LENGTH - full)} `;
}

function buttonsOf({ state, target, now }: TestView): KnownBlock[] {
  if (state.kind === 'running' || state.kind === 'starting') return [];
  const again = button('Run again', 'test:again', { value: { target } });
  if (state.kind !== 'lost' || state.run === undefined) return buttons(again);
  // `at` makes it another button each time: a used one stays used.
  const value = { target, run: state.run, at: now };
  return buttons(button('Check again', 'test:check', { style: 'primary', value }), again);
}

function askerWords(askedBy: string | undefined): string {
  return askedBy === undefined ? 'a workflow' : `<@${askedBy}>`;
}

/** "*web-1* in *Storefront*"; mrkdwn. */
export function targetWords({ project, server }: Target): string {
  return server === undefined ? bold(project.name) : `${bold(server.name)} in ${bold(project.name)}`;
}

/** What is kept of a run that has ended: enough to show it alike everywhere. */
type RunOutcome = Pick<Run, 'serviceStatus' | 'repository' | 'reachable' | 'total' | 'unread'>;

export function outcomeOf({ status, results }: Pick<TestRun, 'status' | 'results'>): RunOutcome {
  const servers = results?.servers ?? [];
  return {
    serviceStatus: status,
    repository: results?.repository?.status,
    reachable: servers.filter((server) => server.status === 'ok').length,
    total: servers.length,
    unread: results?.skipped?.reduce((sum, rows) => sum + rows.count, 0),
  };
}

/** ":white_check_mark:" and "completed: 2 of 2 reachable, repository ok". Nothing but that has the sign of success. */
export function outcomeWords(outcome: RunOutcome): { icon: string; words: string } {
  const { serviceStatus = 'completed', repository, reachable = 0, total = 0, unread = 0 } = outcome;
  const results = resultWords(outcome);
  if (serviceStatus === 'failed' && results === '')
    return { icon: ':x:', words: 'failed; the service gave no results' };
  const words = `${endWords(serviceStatus)}: ${results || 'no results'}`;
  if (serviceStatus === 'failed') return { icon: ':x:', words };
  const isAllWell = results !== '' && repository !== 'error' && reachable === total && unread === 0;
  const isSuccess = serviceStatus === 'completed' && isAllWell;
  return { icon: isSuccess ? ':white_check_mark:' : ':warning:', words };
}

/** "2 of 2 reachable, repository ok"; empty where there are no results. */
export function resultWords({ repository, reachable = 0, total = 0, unread = 0 }: RunOutcome): string {
  const servers = total === 0 ? [] : [`${reachable} of ${total} reachable`];
  const ofRepository =
    repository === undefined ? [] : [`repository ${repository === 'ok' ? 'ok' : 'not reachable'}`];
  return [...servers, ...ofRepository, ...(unread === 0 ? [] : [`${unread} not readable`])].join(', ');
}

function endWords(serviceStatus: string): string {
  if (serviceStatus === 'completed' || serviceStatus === 'failed') return serviceStatus;
  return `ended, the service says “${statusWord(serviceStatus)}”`;
}

/** The service's own times, milliseconds since the epoch; absent where it gives none. */
export function timesOf(
  run: Pick<TestRun, 'created_at' | 'completed_at'>,
): Pick<Run, 'createdAt' | 'completedAt'> {
  return {
    createdAt: run.created_at === null ? undefined : Date.parse(run.created_at),
    completedAt: run.completed_at === null ? undefined : Date.parse(run.completed_at),
  };
}

/** How a run that goes on stands: the service's word as it is; mrkdwn. */
export function statusWord(serviceStatus: string | undefined): string {
  return mrkdwn(serviceStatus ?? 'running', 60);
}
