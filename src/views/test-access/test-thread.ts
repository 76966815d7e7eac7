import type { Message, News } from '../../core/message.ts';
import { capitalised, dateTime, duration } from '../../core/mrkdwn.ts';
import {
  hasEnded,
  type Item,
  isFailing,
  listItems,
  summarizeRun,
  type TestRun,
} from '../../service/projects.ts';
import { packed, table } from '../blocks/lists.ts';
import { button, buttons, LIMITS, say } from '../blocks/make-blocks.ts';
import { itemName, makeAgainValue, reasonWords, serverButton, type TestPlace } from './items.ts';
import { describeOutcome, passed, type TestView } from './test-run.ts';

/** Maximum number of failing items with their own reply and button. One reply lists the others with their reasons. */
const MAX_FAILING = 50;
/** If there are more results, a table shows them. */
const MAX_WITHOUT_TABLE = 10;
/** Room in a section for items, after the introduction. */
const ROOM = LIMITS.sectionText - 60;

/**
 * All news of the run so far, in thread order. Each failing item gets a reply as soon as it is known; with
 * the layout `full`, every item does. Many results end with a table.
 */
export function listNews(
  place: TestPlace,
  run: Pick<TestRun, 'status' | 'completed_at' | 'results'>,
  layout: 'full' | 'compact',
): News[] {
  const items = listItems(place.target, run.results);
  const news = (item: Item): News => newsOfItem(place, item);
  if (layout === 'full') return items.map(news);
  const failing = items.filter(isFailing);
  const own = failing.slice(0, MAX_FAILING).map(news);
  if (!hasEnded(run)) return own;
  const all = items.length > MAX_WITHOUT_TABLE ? tableNews(items) : [];
  return [...all, ...own, ...listedNews(place, failing.slice(MAX_FAILING))];
}

/** The first reply: start and usual duration; at the end the outcome and the total time. */
export function firstReply(view: TestView): Message {
  const { state } = view;
  const elapsed = duration(passed(view));
  const usual = view.usualMs === undefined ? '' : `, usually ${duration(view.usualMs)}`;
  switch (state.kind) {
    case 'starting':
    case 'running':
      // A sentence that stays true: the reply is not edited while Slack's rate has no room.
      return say(
        `:arrows_counterclockwise: The test started ${dateTime(view.createdAt ?? view.startedAt)}${usual}`,
      );
    case 'ended': {
      const { icon, words } = describeOutcome(summarizeRun(state.run), view.target);
      return say(`${icon} ${capitalised(words)}. The test took ${elapsed}${usual}.`);
    }
    case 'stopped':
      return say(`:x: The test stopped after ${elapsed}.`);
    case 'lost':
      return say(`:grey_question: The test is no longer followed after ${elapsed}.`);
  }
}

function newsOfItem(place: TestPlace, item: Item): News {
  const { key, identifier } = item;
  const name = itemName(place, item);
  if (!isFailing(item)) return { key, message: say(`:white_check_mark: ${name} is reachable`) };
  const again =
    identifier === undefined
      ? button('Test again', 'test:again', { value: makeAgainValue(place) })
      : serverButton(place, item);
  const text = `:x: ${name} is unreachable\n${reasonWords(item, 2000)}`;
  return { key, message: say(text, ...buttons(again)) };
}

/** All results, with pages, sortable. */
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

/** Lists all failing items without their own reply. */
function listedNews(place: TestPlace, items: readonly Item[]): News[] {
  const lines = items.map((item) => `:x: ${itemName(place, item)} ${reasonWords(item, 300)}`);
  return packed(lines, ROOM).map((page, at) => ({ key: `failing:${at}`, message: say(page) }));
}
