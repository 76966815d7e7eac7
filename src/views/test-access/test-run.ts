import type { KnownBlock, Message, News } from '../../core/message.ts';
import { bold, code, linesWithin, mrkdwn } from '../../core/mrkdwn.ts';
import type { TestTarget } from '../../core/test-target.ts';
import { hasEnded, type TestResults, type TestRun } from '../../service/test-access.ts';
import { LIMITS } from '../blocks/limits.ts';
import { type ButtonSpec, buttons, context, say, section } from '../blocks/message.ts';
import { skippedWords } from '../blocks/skipped.ts';
import { dateTime, duration } from '../blocks/time.ts';
import { outcomeOf, outcomeWords, statusWord, timesOf } from './outcome.ts';

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
  target: TestTarget;
  /** Undefined for a workflow. */
  askedBy?: string | undefined;
  /** When Deckhand began to follow it, milliseconds since the epoch. */
  startedAt: number;
  now: number;
  /** When it was created at the service, where it says so. */
  createdAt?: number | undefined;
  /** The service's word while the run goes on. */
  serviceStatus?: string | undefined;
  state: TestState;
  layout: 'full' | 'compact';
}

/** The root message: what is tested, who asked, its state; buttons only once it has ended. */
export function testRootMessage(view: TestView): Message {
  const { icon, words } = headline(view);
  const title = `${icon} *Test access* of ${targetName(view.target)}: ${words}`;
  return {
    text: `Test access of ${targetName(view.target)}: ${words}`,
    blocks: [
      section(title),
      ...detailBlocks(view),
      context(
        `Account ${code(view.target.account)}`,
        `asked by ${askerWords(view.askedBy)}`,
        `started ${dateTime(view.createdAt ?? view.startedAt)}`,
        elapsedWords(view),
      ),
      ...buttons(...buttonsOf(view)),
    ],
  };
}

/** All news of the run so far, in the order of the thread. */
export function newsOf(
  target: TestTarget,
  run: Pick<TestRun, 'status' | 'completed_at' | 'results'>,
  layout: TestView['layout'],
): News[] {
  const news: News[] = [];
  const { repository, servers = [] } = run.results ?? {};
  const isNews = (status: string): boolean => layout === 'full' || status === 'error';
  if (repository !== undefined && isNews(repository.status))
    news.push({ key: 'repository', message: itemMessage('Repository', repository) });
  for (const server of servers)
    if (isNews(server.status))
      news.push({
        key: `server:${server.identifier}`,
        message: itemMessage(bold(server.name), server, serverButton(target, server)),
      });
  if (hasEnded(run)) news.push({ key: 'summary', message: say(summaryLine(run)) });
  return news;
}

export function startedMessage(target: TestTarget, serviceStatus: string | undefined): Message {
  const name = targetName(target);
  if (serviceStatus === undefined || serviceStatus === 'running')
    return say(`:arrows_counterclockwise: The test of ${name} is running on a deployment worker.`);
  return say(
    `:hourglass_flowing_sand: The test of ${name} has been requested; the service says “${statusWord(serviceStatus)}”.`,
  );
}

/** The answer to a request for a test that is running already. */
export function alreadyRunningMessage(
  target: TestTarget,
  askedBy: string | undefined,
  startedAt: number,
  link: string | undefined,
): Message {
  const where = link === undefined ? '' : ` <${link}|See it here>.`;
  return say(
    `:hourglass_flowing_sand: A test of ${targetName(target)} is running already; ${askerWords(askedBy)} started it ${dateTime(startedAt)}.${where}`,
  );
}

/** How many results a run has so far, the repository's included. */
export function countTested(results: TestResults | undefined): number {
  return (results?.servers.length ?? 0) + (results?.repository === undefined ? 0 : 1);
}

export function summaryLine(run: Pick<TestRun, 'status' | 'results'>): string {
  const { icon, words } = outcomeWords(outcomeOf(run));
  return `${icon} ${words}`;
}

function headline(view: TestView): { icon: string; words: string } {
  switch (view.state.kind) {
    case 'starting':
      return { icon: ':hourglass_flowing_sand:', words: 'running' };
    case 'running': {
      const tested = view.state.tested ? `, ${view.state.tested} tested so far` : '';
      return { icon: ':arrows_counterclockwise:', words: `${statusWord(view.serviceStatus)}${tested}` };
    }
    case 'ended':
      return outcomeWords(outcomeOf(view.state.run));
    case 'stopped':
      return { icon: ':x:', words: 'stopped' };
    case 'lost':
      return { icon: ':grey_question:', words: 'no longer followed' };
  }
}

function detailBlocks(view: TestView): KnownBlock[] {
  const { state } = view;
  if (state.kind === 'stopped') return [section(state.reason)];
  if (state.kind === 'running' && state.trouble !== undefined) return [context(`:warning: ${state.trouble}`)];
  if (state.kind === 'lost')
    return [
      context('The test took longer than Deckhand follows one. It may still be running at the service.'),
    ];
  if (state.kind !== 'ended') return [];
  const failing = failingLines(state.run.results);
  const { skipped = [] } = state.run.results ?? {};
  return [
    ...(failing.length === 0
      ? []
      : [section(linesWithin(failing, LIMITS.sectionText, 'more not reachable'))]),
    ...(skipped.length === 0 ? [] : [context(skippedWords(skipped))]),
  ];
}

function failingLines(results: TestResults | undefined): string[] {
  const { repository, servers = [] } = results ?? {};
  const lines =
    repository?.status === 'error' ? [`:x: *Repository*  ${mrkdwn(repository.message, 300)}`] : [];
  for (const server of servers)
    if (server.status === 'error') lines.push(`:x: ${bold(server.name)}  ${mrkdwn(server.message, 300)}`);
  return lines;
}

function elapsedWords({ state, now, startedAt, createdAt = startedAt }: TestView): string {
  // A service whose clock is ahead must not make the time stand still.
  const elapsed = duration(now - Math.min(createdAt, startedAt));
  if (state.kind === 'running' || state.kind === 'starting') return `${elapsed} so far`;
  if (state.kind !== 'ended') return `took ${elapsed}`;
  const { createdAt: began, completedAt: ended } = timesOf(state.run);
  // One clock for both ends: the service's, or ours.
  if (began === undefined || ended === undefined) return `took ${duration(now - startedAt)}`;
  return `took ${duration(ended - began)}`;
}

function buttonsOf(view: TestView): ButtonSpec[] {
  const { state, target } = view;
  if (state.kind === 'running' || state.kind === 'starting') return [];
  const again: ButtonSpec = { label: 'Run again', actionId: 'test:again', value: { target } };
  if (state.kind !== 'lost' || state.run === undefined) return [again];
  return [
    // `at` makes it another button each time: a used one stays used.
    {
      label: 'Check again',
      actionId: 'test:check',
      style: 'primary',
      value: { target, run: state.run, at: view.now },
    },
    again,
  ];
}

function itemMessage(
  name: string,
  item: { status: string; message: string | null },
  again?: ButtonSpec,
): Message {
  if (item.status === 'ok') return say(`:white_check_mark: ${name} reachable`);
  const said = say(`:x: ${name} not reachable: ${mrkdwn(item.message ?? 'no reason given', 2000)}`);
  return again === undefined ? said : { ...said, blocks: [...said.blocks, ...buttons(again)] };
}

function serverButton(target: TestTarget, server: { identifier: string; name: string }): ButtonSpec {
  const { identifier, name } = server;
  const value = { target: { ...target, server: { identifier, name: name.slice(0, 200) } } };
  return { label: 'Test this server again', actionId: 'test:server', value };
}

function askerWords(askedBy: string | undefined): string {
  return askedBy === undefined ? 'a workflow' : `<@${askedBy}>`;
}

function targetName(target: TestTarget): string {
  const project = bold(target.project.name);
  return target.server === undefined ? project : `${bold(target.server.name)} in ${project}`;
}
