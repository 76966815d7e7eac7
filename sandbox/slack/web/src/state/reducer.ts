import type { Message, StreamEvent, View, Workspace } from '../api/types.ts';
import { isReply } from './replies.ts';
import { emptyState, type State, type Unread } from './state.ts';

/** How many deliveries and calls the inspector keeps. */
const KEPT = 200;

export type Change =
  | Exclude<StreamEvent, { type: 'workspace' | 'go' }>
  | { type: 'loaded'; workspace: Partial<Workspace> }
  | { type: 'messages'; channel: string; messages: readonly Message[] }
  | { type: 'opened'; channel: string | undefined }
  | { type: 'connection'; connection: State['connection'] }
  | { type: 'log'; deliveries: State['deliveries']; calls: State['calls'] }
  | { type: 'left_open'; views: readonly View[] }
  | { type: 'other_eyes'; user: string };

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
      return { ...state, views: change.views.filter(({ id }) => !state.leftOpen.has(id)) };
    case 'left_open':
      return { ...state, views: [], leftOpen: new Set(change.views.map(({ id }) => id)) };
    case 'typed':
      return { ...state, typed: change };
    case 'pane':
      return { ...state, pane: change.pane };
    case 'home':
      return { ...state, homes: { ...state.homes, [change.app]: change.view } };
    case 'controls':
      return { ...state, controls: change.controls };
    case 'other_eyes':
      return otherEyes(state, change.user);
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
  if (change.type === 'messages') {
    const visible = change.messages.filter(({ ephemeral, ts }) => !ephemeral || ts >= state.since);
    return withMessages(state, change.channel, visible);
  }
  if (change.type === 'message_deleted') {
    const rest = before.filter(({ ts }) => ts !== change.ts);
    return withMessages(state, change.channel, rest);
  }
  const isNew = before.every(({ ts }) => ts !== change.message.ts);
  const after = withMessages(state, change.channel, insert(before, change.message));
  return isNew ? announced(after, change.channel, change.message) : after;
}

/** What is said in threads, or to one person alone, is counted nowhere, as in Slack. */
function announced(state: State, channel: string, message: Message): State {
  const news = { channel, message };
  if (state.open === channel || isReply(message) || message.ephemeral) return { ...state, news };
  const { messages, mentions } = state.unread[channel] ?? READ;
  const unread = { messages: messages + 1, mentions: mentions + Number(mentionsPerson(message, state.me)) };
  return { ...state, news, unread: { ...state.unread, [channel]: unread } };
}

const READ: Unread = { messages: 0, mentions: 0 };

function mentionsPerson({ text, blocks }: Message, me: string): boolean {
  const words = JSON.stringify([text, blocks]);
  return [`<@${me}`, '<!here', '<!channel', '<!everyone', `"user_id":"${me}"`].some((one) =>
    words.includes(one),
  );
}

function otherEyes({ teams, controls, since, leftOpen }: State, me: string): State {
  return { ...emptyState, teams, controls, since, leftOpen, me };
}

function opened(state: State, channel: string | undefined): State {
  const unread = channel === undefined ? state.unread : { ...state.unread, [channel]: READ };
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
