import type { Button } from '@slack/types';
import type { Message, News } from '../../core/message.ts';
import { bold, cut, dateTime, duration, mrkdwn } from '../../core/mrkdwn.ts';
import type { Target } from '../../records/test-runs.ts';
import { hasEnded, type TestOutcome, type TestRun } from '../../service/projects.ts';
import { LIMITS } from '../blocks/limits.ts';
import { inPages, packed, table } from '../blocks/lists.ts';
import { buttons, say, section } from '../blocks/message.ts';
import {
  outcomeOf,
  outcomeWords,
  passed,
  resultWords,
  serverButton,
  statusWord,
  type TestView,
  usualBar,
} from './test-run.ts';

/** One item of a run: the repository, or a server. */
interface Item extends TestOutcome {
  key: string;
  /** Mrkdwn. */
  name: string;
  /** The same as foreign text. */
  title: string;
  again?: Button | undefined;
}

/** So many failing items have a reply of their own with a button; the others are listed, with their reasons. */
const MOST_FAILING = 50;
/** Sections of one reply: a longer list names its first items and counts the rest. */
const MOST_SECTIONS = 10;
const MOST_IN_SENTENCE = 10;
/** Of a section, without the words before the first item. */
const ROOM = LIMITS.sectionText - 60;

/**
 * All news of the run so far, in the order of the thread: what is reachable in one reply, or with the layout `full` a
 * reply for each item, as it becomes known; a reply for each failing item; the summary.
 */
export function newsOf(
  target: Target,
  run: Pick<TestRun, 'status' | 'completed_at' | 'results'>,
  layout: TestView['layout'],
): News[] {
  // Each poll of a run that goes on asks for its news, and in most there are none.
  if (layout === 'compact' && !hasEnded(run) && !hasFailing(run)) return [];
  const items = itemsOf(target, run);
  const { icon, words } = outcomeWords(outcomeOf(run));
  const summary: News[] = hasEnded(run) ? [{ key: 'summary', message: say(`${icon} ${words}`) }] : [];
  if (layout === 'full') return [...items.map(newsOfItem), ...summary];
  const failing = items.filter(({ status }) => status === 'error');
  const own = failing.slice(0, MOST_FAILING).map(newsOfItem);
  if (!hasEnded(run)) return own;
  const reachable = items.filter(({ status }) => status === 'ok');
  // A table names as many as it has rows; a longer list would leave some out.
  const isTable = items.length > MOST_IN_SENTENCE && items.length < LIMITS.tableRows && reachable.length > 0;
  const first = isTable
    ? [tableNews(items, `${icon} ${resultWords(outcomeOf(run))}`)]
    : reachableNews(reachable);
  return [...first, ...own, ...listedNews(failing.slice(MOST_FAILING)), ...summary];
}

function hasFailing({ results }: Pick<TestRun, 'results'>): boolean {
  if (results === undefined) return false;
  return results.repository?.status === 'error' || results.servers.some(({ status }) => status === 'error');
}

/** The first reply: how long the run takes, and how long one usually takes; at the end how long it took. */
export function progressMessage(view: TestView): Message {
  const { state } = view;
  const elapsed = duration(passed(view));
  const usual = view.usualMs === undefined ? '' : `, usually ${duration(view.usualMs)}`;
  switch (state.kind) {
    case 'starting':
      // True whenever it is read, because a process that dies now cannot edit it any more.
      return say(
        `:arrows_counterclockwise: The test was started ${dateTime(view.createdAt ?? view.startedAt)}${usual}.`,
      );
    case 'running': {
      const tested = state.tested ? `, ${state.tested} tested` : '';
      const bar = usualBar(view);
      return say(
        `:arrows_counterclockwise: ${bar}${statusWord(view.serviceStatus)}, ${elapsed} so far${usual}${tested}.`,
      );
    }
    case 'ended':
      return say(`:stopwatch: The test took ${elapsed}${usual}.`);
    case 'stopped':
      return say(`:x: Stopped after ${elapsed}.`);
    case 'lost':
      return say(`:grey_question: No longer followed after ${elapsed}.`);
  }
}

function itemsOf(target: Target, { results }: Pick<TestRun, 'results'>): Item[] {
  const { repository, servers = [] } = results ?? {};
  const first: Item[] =
    repository === undefined
      ? []
      : [{ ...repository, key: 'repository', name: 'Repository', title: 'Repository' }];
  return [
    ...first,
    ...servers.map((server) => ({
      ...server,
      key: `server:${server.identifier}`,
      name: bold(server.name),
      title: server.name,
      again: server.status === 'error' ? serverButton(target, server) : undefined,
    })),
  ];
}

function newsOfItem({ key, name, status, message, again }: Item): News {
  if (status === 'ok') return { key, message: say(`:white_check_mark: ${name} reachable`) };
  const said = `:x: ${name} not reachable: ${mrkdwn(message ?? 'no reason given', 2000)}`;
  return { key, message: say(said, ...buttons(again)) };
}

function reachableNews(items: readonly Item[]): News[] {
  if (items.length === 0) return [];
  const names = items.map(({ name }) => name);
  const pages = inPages(names, { room: ROOM }, ({ length }) => length + 2);
  const kept = pages.slice(0, MOST_SECTIONS);
  const left = pages.slice(MOST_SECTIONS).reduce((sum, page) => sum + page.length, 0);
  const more = left === 0 ? [] : [section(`_and ${left} more_`)];
  const texts = kept.map((page) => page.join(', '));
  const said = `:white_check_mark: Reachable: ${texts[0]}`;
  const blocks = [section(said), ...texts.slice(1).map((text) => section(text)), ...more];
  return [{ key: 'reachable', message: { text: cut(said, LIMITS.messageText), blocks } }];
}

/** All results, with pages and to be sorted. */
function tableNews(items: readonly Item[], said: string): News {
  const rows = items.map(({ title, status, message }) =>
    status === 'ok' ? [title, 'reachable', ''] : [title, 'not reachable', message ?? ''],
  );
  return { key: 'reachable', message: say(said, ...table('Results', ['Tested', 'Result', 'Reason'], rows)) };
}

/** Failing items without a reply of their own: nothing of them is left out. */
function listedNews(items: readonly Item[]): News[] {
  const lines = items.map(
    ({ name, message }) => `:x: ${name} not reachable: ${mrkdwn(message ?? 'no reason given', 300)}`,
  );
  return packed(lines, ROOM).map((page, at) => ({ key: `failing:${at}`, message: say(page) }));
}
