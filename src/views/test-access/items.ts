import type { Button, PlanBlock, TaskCardBlock } from '@slack/types';
import { bold, count, joinLinesWithin, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { Target } from '../../records/test-runs.ts';
import { type Item, isFailing } from '../../service/projects.ts';
import { button, LIMITS, richText } from '../blocks/make-blocks.ts';
import { serverLink } from '../blocks/page-links.ts';

const NO_REASON = 'no reason given';

/** Reason of the failure, as mrkdwn. */
export function reasonWords({ message }: Pick<Item, 'message'>, max: number): string {
  return mrkdwn(message ?? NO_REASON, max);
}

/** Slack refuses messages whose blocks hold much over 13,000 characters. */
const MAX_TASKS = 20;
const MAX_REASON = 200;

/** One task for each item, failures first. If there are too many, the last task counts the others. */
export function drawPlan(items: readonly Item[]): PlanBlock[] {
  if (items.length === 0) return [];
  const servers = items.filter(({ key }) => key !== 'repository').length;
  const parts = [servers < items.length && 'Repository', servers > 0 && count(servers, 'server')];
  const title = parts.filter(Boolean).join(' and ');
  const ordered = items.toSorted((one, other) => Number(isFailing(other)) - Number(isFailing(one)));
  const tasks = ordered.slice(0, items.length > MAX_TASKS ? MAX_TASKS - 1 : MAX_TASKS).map(drawTask);
  const rest = ordered.slice(tasks.length);
  if (rest.length > 0) tasks.push(drawRest(rest, tasks.length));
  return [{ type: 'plan', title, tasks }];
}

function drawTask({ title, status, message }: Item, at: number): TaskCardBlock {
  const task = { type: 'task_card', task_id: `t${at}`, title: sanitize(title) } as const;
  if (status === undefined) return { ...task, status: 'in_progress' };
  if (status === 'ok') return { ...task, status: 'complete' };
  const text = sanitize(message ?? NO_REASON, MAX_REASON);
  return { ...task, status: 'error', output: richText({ type: 'text', text }) };
}

function drawRest(items: readonly Item[], at: number): TaskCardBlock {
  const failing = items.filter(isFailing).length;
  const title = `and ${items.length} more${failing === 0 ? '' : `, ${failing} unreachable`}`;
  const isWaiting = items.some(({ status }) => status === undefined);
  const status = failing > 0 ? 'error' : isWaiting ? 'in_progress' : 'complete';
  return { type: 'task_card', task_id: `t${at}`, title, status };
}

/** The name of the repository, or of a server as a link to its page; mrkdwn. */
export function itemName({ target, pages }: TestPlace, { title, identifier }: Item): string {
  const { account, project } = target;
  return serverLink(pages, { account, permalink: project.permalink }, { name: title, identifier });
}

/** The items as mrkdwn, for a workspace that rejects plans. */
export function itemLines(items: readonly Item[]): string {
  const failing = items
    .filter(isFailing)
    .map((item) => `:x: ${bold(item.title)} ${reasonWords(item, MAX_REASON)}`);
  const listed = (icon: string, status: Item['status']): string[] => {
    const names = items.filter((item) => item.status === status).map(({ title }) => bold(title));
    return names.length === 0 ? [] : [`${icon} ${names.join(', ')}`];
  };
  const others = [...listed(':white_check_mark:', 'ok'), ...listed(':arrows_counterclockwise:', undefined)];
  return joinLinesWithin([...failing, ...others], LIMITS.sectionText, 'more');
}

/**
 * Tests a server of the target's project again.
 * @param at its index among the buttons of one block
 */
export function serverButton(
  { target, threadTs }: TestPlace,
  { identifier = '', title }: Item,
  at?: number,
): Button {
  const server = { identifier, name: title.slice(0, 200) };
  const value = makeAgainValue({ target: { ...target, server }, threadTs });
  return at === undefined
    ? button('Test this server again', 'test:server', { value })
    : button(`Test ${title} again`, `test:server#${at}`, { value });
}

/** A run, and the thread that it is shown in, if it is in another message's. */
export interface TestPlace {
  target: Target;
  threadTs?: string | undefined;
  /** For links. */
  pages?: Pages | undefined;
}

/** Value of a button that tests again. A run in a thread is followed there by the next. */
export function makeAgainValue({ target, threadTs }: TestPlace): { target: Target; isInThread?: true } {
  return threadTs === undefined ? { target } : { target, isInThread: true };
}
