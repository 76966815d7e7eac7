import type { Message, StreamEvent, Workspace } from '../api/types.ts';
import { isReply } from './replies.ts';
import { emptyState, type State } from './state.ts';

/** How many deliveries and calls the inspector keeps. */
const KEPT = 200;

export type Change =
  | Exclude<StreamEvent, { type: 'workspace' | 'go' }>
  | { type: 'loaded'; workspace: Partial<Workspace> }
  | { type: 'messages'; channel: string; messages: readonly Message[] }
  | { type: 'opened'; channel: string | undefined }
  | { type: 'connection'; connection: State['connection'] }
  | { type: 'log'; deliveries: State['deliveries']; calls: State['calls'] }
  | { type: 'other_eyes' };

export function reduce(state: State, change: Change): State {
  switch (change.type) {
    case 'loaded':
      return {
        ...state,
        teams: change.workspace.teams ?? state.teams,
        controls: change.workspace.controls ?? state.controls,
      };
    case 'opened':
      return opened(state, change.channel);
    case 'connection':
      return { ...state, connection: change.connection };
    case 'views':
      return { ...state, views: change.views };
    case 'pane':
      return { ...state, pane: change.pane };
    case 'home':
      return { ...state, homes: { ...state.homes, [change.app]: change.view } };
    case 'controls':
      return { ...state, controls: change.controls };
    case 'other_eyes':
      return { ...emptyState, teams: state.teams, controls: state.controls };
    case 'delivery':
      return { ...state, deliveries: upsert(state.deliveries, change.delivery).slice(-KEPT) };
    case 'call':
      return { ...state, calls: upsert(state.calls, change.call).slice(-KEPT) };
    case 'log':
      return { ...state, deliveries: change.deliveries, calls: change.calls };
    default:
      return reduceMessages(state, change);
  }
}

type MessageChange = Extract<Change, { type: 'message' | 'message_deleted' | 'messages' }>;

function reduceMessages(state: State, change: MessageChange): State {
  const before = state.messages[change.channel] ?? [];
  if (change.type === 'messages') return withMessages(state, change.channel, change.messages);
  if (change.type === 'message_deleted') {
    const rest = before.filter(({ ts }) => ts !== change.ts);
    return withMessages(state, change.channel, rest);
  }
  const isNew = before.every(({ ts }) => ts !== change.message.ts);
  const after = withMessages(state, change.channel, insert(before, change.message));
  return isNew ? announced(after, change.channel, change.message) : after;
}

/** What is said in threads is counted nowhere, as in Slack. */
function announced(state: State, channel: string, message: Message): State {
  const isCounted = state.open !== channel && !isReply(message);
  const unread = (state.unread[channel] ?? 0) + (isCounted ? 1 : 0);
  return { ...state, news: { channel, message }, unread: { ...state.unread, [channel]: unread } };
}

function opened(state: State, channel: string | undefined): State {
  const unread = channel === undefined ? state.unread : { ...state.unread, [channel]: 0 };
  return { ...state, open: channel, unread };
}

function withMessages(state: State, channel: string, messages: readonly Message[]): State {
  return { ...state, messages: { ...state.messages, [channel]: messages } };
}

/** Keeps messages in the order of their ts, which compares as text: seconds and microseconds have fixed lengths. */
function insert(messages: readonly Message[], message: Message): Message[] {
  const rest = messages.filter(({ ts }) => ts !== message.ts);
  const at = rest.findIndex(({ ts }) => ts > message.ts);
  return at < 0 ? [...rest, message] : rest.toSpliced(at, 0, message);
}

function upsert<T extends { id: string }>(items: readonly T[], item: T): T[] {
  const at = items.findIndex(({ id }) => id === item.id);
  return at < 0 ? [...items, item] : items.with(at, item);
}
