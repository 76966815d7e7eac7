import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count } from '../../core/mrkdwn.ts';
import type { WatchMode } from '../../core/schedule-choices.ts';
import { type ButtonSpec, buttons, context, header, say, section } from '../blocks/message.ts';
import { dateTime } from '../blocks/time.ts';

/** How much a list shows; its buttons carry it, so that they draw the same list anew. */
export const WATCH_LISTS = ['here', 'all'] as const;
export type WatchList = (typeof WATCH_LISTS)[number];

/** A watch as people are shown it, with where it stands. Times are milliseconds since the epoch. */
export interface ShownWatch {
  watch: {
    id: string;
    mode: WatchMode;
    project?: { name: string } | undefined;
    setUpBy: string;
    setUpAt: number;
    state: { kind: 'active' } | { kind: 'paused'; reason: string; by?: string | undefined; at: number };
    last?: { at: number; said: string } | undefined;
  };
  channel: string;
  account: string;
}

const WHAT: Readonly<Record<WatchMode, string>> = {
  all: 'every event',
  failures: 'what fails',
  transitions: 'when a project starts failing and when it recovers',
};

/** Two blocks each, and Slack takes fifty. */
const MOST_LISTED = 20;

/** "every event of *Storefront* in `acme`"; mrkdwn. */
export function watchWords({ watch, account }: ShownWatch): string {
  const { mode, project } = watch;
  const where =
    project === undefined
      ? `all projects of ${code(account)}`
      : `${bold(project.name, 60)} in ${code(account)}`;
  return mode === 'transitions' ? `${WHAT[mode]}, ${where}` : `${WHAT[mode]} of ${where}`;
}

/** Stands in the channel that is told. @param said what was done, by whom; mrkdwn, e.g. "<@U1> set it up" */
export function watchCard(placed: ShownWatch, said: string, word: string): Message {
  const { id } = placed.watch;
  const isPaused = placed.watch.state.kind === 'paused';
  const icon = isPaused ? ':double_vertical_bar:' : ':eyes:';
  const text = `${icon} Watch ${code(id)}: ${watchWords(placed)}`;
  const hint = isPaused
    ? `resume with ${code(`${word} watch resume ${id}`)}`
    : `stop with ${code(`${word} unwatch ${id}`)}`;
  return { text, blocks: [section(text), context(said, hint), ...watchButtons(placed)] };
}

/** What is left of a card. */
export function stoppedMessage(placed: ShownWatch, user: string): Message {
  return say(`:no_bell: <@${user}> stopped the watch ${code(placed.watch.id)}: ${watchWords(placed)}.`);
}

export interface ListedWatch extends ShownWatch {
  /** When the service answered last, milliseconds since the epoch; undefined before that. */
  lookedAt: number | undefined;
  /** Looks in a row that failed. */
  failures: number;
}

export interface WatchListing {
  list: WatchList;
  /** Watches of other channels that are not listed. */
  elsewhere: number;
  /** The slash word. */
  word: string;
}

/** Who set up what, when, and what came of it. */
export function watchListMessage(watches: readonly ListedWatch[], listing: WatchListing): Message {
  const { list, word } = listing;
  const notes = notesOf(watches, listing);
  if (watches.length === 0) {
    const where = list === 'here' ? 'in this channel' : 'yet';
    const said = `Nothing is watched ${where}. Begin with ${code(`${word} watch all failures`)}.`;
    return say(said, ...notes);
  }
  const text = `${count(watches.length, 'watch', 'watches')}${list === 'here' ? ' of this channel' : ''}`;
  const shown = watches.slice(0, MOST_LISTED);
  const rows = shown.flatMap((watch) => [section(listLines(watch)), ...watchButtons(watch, list)]);
  return { text, blocks: [header(text), ...rows, ...notes] };
}

function notesOf(watches: readonly ListedWatch[], { elsewhere, word }: WatchListing): KnownBlock[] {
  const notes: string[] = [];
  if (watches.length > MOST_LISTED)
    notes.push(`and ${watches.length - MOST_LISTED} more, listed in their own channels`);
  if (elsewhere > 0) notes.push(`${elsewhere} more in other channels: ${code(`${word} watch list all`)}`);
  return notes.length === 0 ? [] : [context(...notes)];
}

function listLines(listed: ListedWatch): string {
  const { channel, watch } = listed;
  const { id, setUpAt, setUpBy, last } = watch;
  return [
    `${code(id)}  ${watchWords(listed)}, in <#${channel}>`,
    `Set up by <@${setUpBy}> ${dateTime(setUpAt)}`,
    last === undefined ? 'Nothing was posted yet' : `Last: ${last.said}, ${dateTime(last.at)}`,
    stateWords(listed),
  ].join('\n');
}

function stateWords({ watch: { state }, failures, lookedAt }: ListedWatch): string {
  if (state.kind === 'paused') {
    const by = state.by === undefined ? '' : ` by <@${state.by}>`;
    return `:double_vertical_bar: Paused${by} ${dateTime(state.at)}: ${state.reason}`;
  }
  const looked = lookedAt === undefined ? 'not looked yet' : `looked last ${dateTime(lookedAt)}`;
  return failures < 2
    ? `Active, ${looked}`
    : `:warning: The service does not answer, ${looked}; I keep trying`;
}

/** @param list the list that the buttons stand in */
function watchButtons({ watch: { id, state } }: ShownWatch, list?: WatchList): KnownBlock[] {
  const value = { id, ...(list === undefined ? {} : { list }) };
  const pause: ButtonSpec =
    state.kind === 'paused'
      ? { label: 'Resume', actionId: `watch:resume#${id}`, value }
      : { label: 'Pause', actionId: `watch:pause#${id}`, value };
  const confirm = { title: 'Stop this watch?', text: 'This channel is told no more of it.', confirm: 'Stop' };
  return buttons(pause, { label: 'Stop', actionId: `watch:stop#${id}`, value, style: 'danger', confirm });
}
