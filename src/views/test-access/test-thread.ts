import type { Message, News } from '../../core/message.ts';
import { bold, capitalised, dateTime, duration } from '../../core/mrkdwn.ts';
import type { Target } from '../../records/test-runs.ts';
import {
  hasEnded,
  type Item,
  isFailing,
  listItems,
  summarizeRun,
  type TestRun,
} from '../../service/projects.ts';
import { packed, table } from '../blocks/lists.ts';
import { button, buttons, LIMITS, say } from '../blocks/message.ts';
import { reasonWords, serverButton } from './items.ts';
import { describeStatus, outcomeWords, passed, type TestView } from './test-run.ts';

/** Failing items with a reply and a button each; one reply lists the others with their reasons. */
const MAX_FAILING = 50;
/** More results than these are in a table. */
const MAX_WITHOUT_TABLE = 10;
/** Room in a section after the words before the first item. */
const ROOM = LIMITS.sectionText - 60;

/**
 * All news of the run so far, in the order of the thread: a reply for each failing item, or with the layout `full` for each
 * item, as it becomes known; at the end a table of many results.
 */
export function listNews(
  target: Target,
  run: Pick<TestRun, 'status' | 'completed_at' | 'results'>,
  layout: 'full' | 'compact',
): News[] {
  const items = listItems(target, run.results);
  const news = (item: Item): News => newsOfItem(target, item);
  if (layout === 'full') return items.map(news);
  const failing = items.filter(isFailing);
  const own = failing.slice(0, MAX_FAILING).map(news);
  if (!hasEnded(run)) return own;
  const all = items.length > MAX_WITHOUT_TABLE ? tableNews(items) : [];
  return [...all, ...own, ...listedNews(failing.slice(MAX_FAILING))];
}

/** The first reply: how long the run takes, and how long one usually takes; at the end how it ended and how long it took. */
export function progressMessage(view: TestView): Message {
  const { state } = view;
  const elapsed = duration(passed(view));
  const usual = view.usualMs === undefined ? '' : `, usually ${duration(view.usualMs)}`;
  switch (state.kind) {
    case 'starting':
      // True whenever it is read, because a process that dies now cannot edit it any more.
      return say(
        `:arrows_counterclockwise: Running since ${dateTime(view.createdAt ?? view.startedAt)}${usual}`,
      );
    case 'running': {
      const tested = listItems(view.target, state.results).length;
      const done = tested === 0 ? '' : `, ${tested} tested`;
      const word = capitalised(describeStatus(view.serviceStatus));
      return say(`:arrows_counterclockwise: ${usualBar(view)}${word}, ${elapsed} so far${usual}${done}`);
    }
    case 'ended': {
      const { icon, words } = outcomeWords(summarizeRun(state.run), view.target);
      return say(`${icon} ${capitalised(words)}. The test took ${elapsed}${usual}.`);
    }
    case 'stopped':
      return say(`:x: Stopped after ${elapsed}.`);
    case 'lost':
      return say(`:grey_question: No longer followed after ${elapsed}.`);
  }
}

const BAR_LENGTH = 10;

/** "▰▰▰▱▱▱▱▱▱▱ ": the part of the usual time that has passed; empty if that is unknown. */
function usualBar(view: TestView): string {
  if (view.usualMs === undefined) return '';
  const share = Math.min(1, Math.max(0, passed(view)) / Math.max(1, view.usualMs));
  const full = Math.floor(share * BAR_LENGTH);
  return `${'▰'.repeat(full)}${'▱'.repeat(BAR_LENGTH - full)} `;
}

function newsOfItem(target: Target, item: Item): News {
  const { key, title, identifier } = item;
  if (!isFailing(item)) return { key, message: say(`:white_check_mark: ${bold(title)} is reachable`) };
  const again =
    identifier === undefined
      ? button('Run again', 'test:again', { value: { target } })
      : serverButton(target, item);
  const text = `:x: ${bold(title)} is unreachable\n${reasonWords(item, 2000)}`;
  return { key, message: say(text, ...buttons(again)) };
}

/** All results, with pages and to be sorted. */
function tableNews(items: readonly Item[]): News[] {
  const rows = items.map(({ title, status, message }) =>
    status === 'ok' ? [title, 'reachable', ''] : [title, 'unreachable', message ?? ''],
  );
  const tables = table('Results', ['Tested', 'Result', 'Reason'], rows);
  return tables.map((block, at) => {
    const part = at === 0 ? '' : `, part ${at + 1}`;
    return { key: `reachable${at}`, message: say(`All ${items.length} results${part}`, block) };
  });
}

/** Failing items without a reply of their own: nothing of them is left out. */
function listedNews(items: readonly Item[]): News[] {
  const lines = items.map((item) => `:x: ${bold(item.title)} ${reasonWords(item, 300)}`);
  return packed(lines, ROOM).map((page, at) => ({ key: `failing:${at}`, message: say(page) }));
}
