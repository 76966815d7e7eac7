import type { ActionsBlock } from '@slack/types';
import { isDirect, type KnownBlock, type Message } from '../../core/message.ts';
import { code, count, dateTime, duration, joinLinesWithin, link, mrkdwn } from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { Run, Target } from '../../records/test-runs.ts';
import {
  type Item,
  isFailing,
  listItems,
  type RunOutcome,
  readRunTimes,
  summarizeRun,
  type TestResults,
  type TestRun,
} from '../../service/projects.ts';
import { firstClause, splitReason } from '../blocks/formats.ts';
import { inPages, skippedWords } from '../blocks/lists.ts';
import {
  button,
  buttons,
  context,
  LIMITS,
  notes,
  plainText,
  safeUrl,
  say,
  section,
  UNENDED,
} from '../blocks/make-blocks.ts';
import { linkName, projectLink, serverLink } from '../blocks/page-links.ts';
import { drawPlan, itemLines, makeAgainValue, serverButton, type TestPlace } from './items.ts';

export type TestState =
  | { kind: 'starting' }
  /** `results`: the results so far. */
  | { kind: 'running'; trouble?: string | undefined; results?: TestResults | undefined }
  | { kind: 'ended'; run: Omit<TestRun, 'identifier'> }
  /** Starting or following it failed; `reason` is escaped mrkdwn. */
  | { kind: 'stopped'; reason: string }
  /** Deckhand no longer follows it. It may still run. */
  | { kind: 'lost'; run: string | undefined };

export interface TestView extends TestPlace {
  /** Undefined for a workflow. */
  requestedBy?: string | undefined;
  /** Time at which Deckhand began to follow it, milliseconds since the epoch. */
  startedAt: number;
  now: number;
  /** Time of creation at the service, if the service gives it. */
  createdAt?: number | undefined;
  /** The service's status of a running test. */
  serviceStatus?: string | undefined;
  /** Usual duration of the target's runs, in milliseconds; undefined if unknown. */
  usualMs?: number | undefined;
  /** True if the service did not answer whether it started the run. */
  mayRun?: boolean | undefined;
  /** The project's page at the service. */
  projectUrl?: string | undefined;
  /** Key of the run's record, for a menu, because an option cannot hold a whole target. */
  runKey?: string | undefined;
  /** True to name the account in the headline. */
  isAccountShown?: boolean | undefined;
  state: TestState;
}

/** The root message: headline, items, person and duration. Buttons appear once the run has ended. */
export function testRootMessage(view: TestView): Message {
  const { icon, title } = drawRunHeadline(view);
  const { title: linked } = drawRunHeadline(view, view.projectUrl);
  const items = shownItems(view);
  const build = (items: readonly KnownBlock[]): Message => ({
    text: title,
    blocks: [
      section(`${icon} *${linked}*`),
      ...items,
      ...noteBlocks(view),
      mutedLine(view),
      ...drawRunButtons(view),
    ],
  });
  const plan = drawPlan(items);
  if (plan.length === 0) return build([]);
  return { ...build(plan), fallback: () => build([section(itemLines(items))]) };
}

/** The starter of a run: a person, a guard, a workflow, or a failed deployment that a channel follows. */
export type TestStarter =
  | { user: string }
  | { noun: 'guard' | 'workflow' }
  | { failureIn: string | undefined };

/**
 * The answer to a request for a test that already runs.
 * @param where the address of the message that shows it; `isPostedLater`: this channel will get its outcome
 */
export function alreadyRunningMessage(
  target: Target,
  starter: TestStarter,
  startedAt: number,
  { link: url, isPostedLater }: { link: string | undefined; isPostedLater: boolean },
): Message {
  const began = `started it ${dateTime(startedAt)}`;
  const sentences = [
    `A test of ${targetWords(target)} is running already.`,
    'user' in starter
      ? `<@${starter.user}> ${began}.`
      : 'noun' in starter
        ? `A ${starter.noun} ${began}.`
        : failureWords(starter),
    ...(url === undefined ? [] : [`<${url}|See it here>.`]),
    ...(isPostedLater ? ['The outcome will be posted here.'] : []),
  ];
  return say(`:hourglass_flowing_sand: ${sentences.join(' ')}`);
}

/** Does not name a direct message to others. */
function failureWords({ failureIn: channel }: { failureIn: string | undefined }): string {
  const where = channel === undefined || isDirect(channel) ? '' : ` in <#${channel}>`;
  return `It is looking for the cause of a failed deployment${where}.`;
}

/** "Testing access to Storefront", "Storefront: all 7 servers are reachable", "The test of Storefront failed, …"; mrkdwn. */
function drawRunHeadline(view: TestView, projectUrl?: string): { icon: string; title: string } {
  const { state, target, isAccountShown = false } = view;
  const name = `${nameTarget(target, projectUrl)}${isAccountShown ? ` in ${mrkdwn(target.account)}` : ''}`;
  switch (state.kind) {
    case 'starting':
    case 'running':
      return { icon: ':arrows_counterclockwise:', title: `Testing access to ${name}` };
    case 'ended': {
      const { icon, words, isAboutTest } = outcomeWords(summarizeRun(state.run), target);
      return { icon, title: isAboutTest ? `The test of ${name} ${words}` : `${name}: ${words}` };
    }
    case 'stopped':
      return {
        icon: UNENDED.stopped.icon,
        title: `The test of ${name} stopped: ${firstClause(state.reason)}`,
      };
    case 'lost':
      return { icon: UNENDED.lost.icon, title: `The test of ${name} ${UNENDED.lost.words}` };
  }
}

function shownItems({ target, state }: TestView): Item[] {
  if (state.kind === 'ended') return listItems(target, state.run.results);
  if (state.kind === 'running') return listItems(target, state.results, true);
  return state.kind === 'starting' ? listItems(target, undefined, true) : [];
}

const MAY_RUN = 'The service did not say whether it started the test, so it may be running there.';

function noteBlocks({ state, mayRun, run }: TestView & { run?: string | undefined }): KnownBlock[] {
  switch (state.kind) {
    case 'stopped': {
      const [, others] = splitReason(state.reason);
      return [
        ...(others === '' ? [] : [section(others)]),
        ...notes(mayRun === true && run === undefined && MAY_RUN),
      ];
    }
    case 'running':
      return notes(state.trouble && `:warning: ${state.trouble}`);
    case 'lost':
      return [context('It took too long. It may still be running.')];
    case 'ended':
      return notes(skippedWords(state.run.results?.skipped ?? []));
    case 'starting':
      return [];
  }
}

/** "Storefront in acme · asked by @Ben · today at 9:00 · took 8 s" */
function mutedLine(view: TestView): KnownBlock {
  const { account, project } = view.target;
  const url = safeUrl(view.projectUrl);
  const where =
    url === undefined ? code(account) : link(url, `${mrkdwn(project.name, 80)} in ${mrkdwn(account)}`);
  const began = dateTime(view.createdAt ?? view.startedAt);
  const parts = [
    where,
    `asked by ${view.requestedBy === undefined ? 'a workflow' : `<@${view.requestedBy}>`}`,
    `started ${began}`,
    elapsedWords(view),
  ];
  return context(parts.filter((part) => part !== '').join(' · '));
}

/** "running for 8 s, usually 12 s", "took 12 s" */
function elapsedWords(view: TestView): string {
  const { state, usualMs, serviceStatus } = view;
  const elapsedMs = passed(view);
  const usual = usualMs === undefined ? '' : `, usually ${duration(usualMs)}`;
  if (state.kind !== 'running' && state.kind !== 'starting') return `took ${duration(elapsedMs)}`;
  const elapsed = elapsedMs < 1_000 ? '' : ` for ${duration(elapsedMs)}`;
  return `${describeStatus(serviceStatus)}${elapsed}${usual}`;
}

/** Time taken so far or in total, in milliseconds. */
export function passed({ state, now, startedAt, createdAt = startedAt }: TestView): number {
  // The time must grow even if the service's clock is ahead.
  if (state.kind !== 'ended') return now - Math.min(createdAt, startedAt);
  const { createdAt: began, completedAt: ended } = readRunTimes(state.run);
  // Both times by the same clock: the service's, or Deckhand's.
  return began === undefined || ended === undefined ? now - startedAt : ended - began;
}

/** Maximum number of failing servers with a button. A menu lists the others. */
const MAX_BUTTONS = 4;

function drawRunButtons(view: TestView): KnownBlock[] {
  const { state, target, now, runKey } = view;
  if (state.kind === 'running' || state.kind === 'starting') return [];
  const again = button('Test again', 'test:again', { value: makeAgainValue(view) });
  if (state.kind === 'lost' && state.run !== undefined) {
    // `at` makes the new button differ, because a used button stays used.
    const value = { target, run: state.run, at: now };
    return buttons(button('Check again', 'test:check', { style: 'primary', value }), again);
  }
  // For a single server, "Test again" does the same.
  if (target.server !== undefined) return buttons(again);
  const failing = shownItems(view).filter((item) => isFailing(item) && item.identifier !== undefined);
  const own = failing.slice(0, MAX_BUTTONS).map((item, at) => serverButton(view, item, at));
  const [row] = buttons(again, ...own);
  const menu = runKey === undefined ? [] : drawMenu(runKey, failing.slice(MAX_BUTTONS));
  if (row?.type !== 'actions') return [];
  return [{ ...row, elements: [...row.elements, ...menu] }];
}

/** Slack refuses messages whose blocks hold much over 13,000 characters, and the plan takes half of them. */
const MAX_MENU_TEXT = 4_000;

function drawMenu(runKey: string, items: readonly Item[]): ActionsBlock['elements'] {
  const all = items
    .map(({ title, identifier }) => ({
      text: plainText(title, LIMITS.optionText),
      value: `${runKey} ${identifier}`,
    }))
    .filter(({ value }) => value.length <= LIMITS.optionValue);
  const page = { most: LIMITS.options, room: MAX_MENU_TEXT };
  const [options] = inPages(all, page, ({ text }) => text.text.length);
  if (options === undefined) return [];
  const placeholder = plainText('Test another server again', LIMITS.placeholder);
  return [{ type: 'static_select', action_id: 'test:pick', placeholder, options }];
}

/** "*web-1* in *Storefront*"; mrkdwn. @param pages for links */
export function targetWords(target: Target, pages?: Pages): string {
  const { account, project, server } = target;
  const name = projectLink(pages, account, project);
  if (server === undefined) return name;
  return `${serverLink(pages, { account, permalink: project.permalink }, server)} in ${name}`;
}

/** "web-1 in Storefront", for bold text; mrkdwn. @param projectUrl for a link */
function nameTarget({ project, server }: Target, projectUrl: string | undefined): string {
  const name = linkName(mrkdwn(project.name, 80), projectUrl);
  return server === undefined ? name : `${mrkdwn(server.name, 80)} in ${name}`;
}

/**
 * ":warning:" and "1 of 7 servers is unreachable". Only a run without failures gets the sign of success. `isAboutTest`: the
 * words are what the test did, e.g. "failed without results".
 */
function outcomeWords(
  outcome: RunOutcome,
  target: Target,
): { icon: string; words: string; isSuccess?: boolean; isAboutTest?: boolean } {
  const { serviceStatus = 'completed', repository, reachable = 0, total = 0, unread = 0 } = outcome;
  const results = resultWords(outcome, target);
  const isAllReachable = repository !== 'error' && reachable === total;
  if (serviceStatus === 'failed') {
    const words = results === '' ? ' without results' : `${isAllReachable ? ' although' : ','} ${results}`;
    return { icon: ':x:', words: `failed${words}`, isAboutTest: true };
  }
  const isSuccess = serviceStatus === 'completed' && results !== '' && isAllReachable && unread === 0;
  const icon = isSuccess ? ':white_check_mark:' : ':warning:';
  if (serviceStatus === 'completed' && results !== '') return { icon, words: results, isSuccess };
  const end =
    serviceStatus === 'completed' ? 'gave no results' : `ended as “${describeStatus(serviceStatus)}”`;
  const words = results === '' && serviceStatus !== 'completed' ? `${end}, without results` : end;
  return { icon, words: results === '' ? words : `${end}, ${results}`, isSuccess, isAboutTest: true };
}

/** The outcome without the target's name: "all 7 servers are reachable", "the test failed without results". */
export function describeOutcome(
  outcome: RunOutcome,
  target: Target,
): { icon: string; words: string; isSuccess: boolean } {
  const { icon, words, isSuccess = false, isAboutTest } = outcomeWords(outcome, target);
  return { icon, words: isAboutTest ? `the test ${words}` : words, isSuccess };
}

/** "all 7 servers are reachable", "the repository is unreachable"; empty without results. */
function resultWords(outcome: RunOutcome, target: Target): string {
  const { unread = 0 } = outcome;
  const unreadWords = unread > 0 && `${count(unread, 'result')} could not be read`;
  return [reachedWords(outcome, target), unreadWords].filter(Boolean).join(', ');
}

function reachedWords(
  { repository, reachable = 0, total = 0 }: RunOutcome,
  { server }: Target,
): string | undefined {
  const failing = total - reachable;
  if (server !== undefined && total === 1) return failing === 0 ? 'reachable' : 'unreachable';
  if (repository === 'error')
    return failing === 0
      ? 'the repository is unreachable'
      : `the repository and ${countServers(failing, total)} are unreachable`;
  if (failing > 0) return `${countServers(failing, total)} ${failing === 1 ? 'is' : 'are'} unreachable`;
  if (total > 0) return `${countServers(total, total)} ${total === 1 ? 'is' : 'are'} reachable`;
  return repository === undefined ? undefined : 'the repository is reachable';
}

/** "the server", "both servers", "all 7 servers", "1 of 7 servers" */
function countServers(some: number, total: number): string {
  if (total === 1) return 'the server';
  if (some < total) return `${some} of ${total} servers`;
  return total === 2 ? 'both servers' : `all ${total} servers`;
}

/** The service's status of a running test; mrkdwn. */
export function describeStatus(serviceStatus: string | undefined): string {
  return mrkdwn(serviceStatus ?? 'running', 60);
}

/** ":white_check_mark: all 6 servers are reachable, today at 9:00"; mrkdwn. */
export function runWords(run: Run): string {
  const { began, ended } = timesOfRun(run);
  if (run.status === 'running')
    return `:arrows_counterclockwise: ${describeStatus(run.serviceStatus)} since ${dateTime(began)}`;
  const { icon, words } = endedWords(run);
  return `${icon} ${words}, ${dateTime(ended)}`;
}

/** A stored run in a few lines. */
export function runMessage(run: Run): Message {
  const failing = (run.failing ?? []).map((item) => ({ ...item, status: 'error' as const }));
  const lines = [`${targetWords(run.target)}: ${runWords(run)}`, itemLines(failing)].filter(Boolean);
  const again = button('Test again', 'test:project', { value: { target: run.target } });
  return say(joinLinesWithin(lines, LIMITS.sectionText), ...buttons(run.status !== 'running' && again));
}

/** Times by the service's clock if it gives them, otherwise by Deckhand's. */
export function timesOfRun({ createdAt, startedAt, completedAt, endedAt }: Run): {
  began: number;
  ended: number;
} {
  const began = createdAt ?? startedAt;
  return { began, ended: completedAt ?? endedAt ?? began };
}

/** State of a run that Deckhand no longer follows. */
export function endedWords(run: Run): { icon: string; words: string } {
  const { status, serviceStatus = status } = run;
  if (status === 'stopped' || status === 'lost') {
    const { icon, words } = UNENDED[status];
    return { icon, words: `the test ${words}` };
  }
  return describeOutcome({ ...run, serviceStatus }, run.target);
}
