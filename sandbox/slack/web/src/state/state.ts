import type { Call, Control, Delivery, Message, Pane, Team, View } from '../api/types.ts';

/** Messages of a conversation since the person last looked. Of a channel only mentions are counted on screen. */
export interface Unread {
  messages: number;
  mentions: number;
}

/** All the page knows. Everything in it is replaced, never changed in place. */
export interface State {
  teams: Team[];
  controls: Control[];
  connection: 'connecting' | 'live' | 'lost';
  /** Which channel is in view, for what counts as unread. */
  open: string | undefined;
  messages: Readonly<Record<string, readonly Message[]>>;
  unread: Readonly<Record<string, Unread>>;
  /** The person who looks. */
  me: string;
  /** When the page was loaded, as a message's `ts`. What only this person saw before is gone, as in Slack. */
  since: string;
  /** Ids of forms that were open before the page was loaded. */
  leftOpen: ReadonlySet<string>;
  /** What a guide types for the person, by channel. */
  typed: { channel: string; text: string } | undefined;
  views: readonly View[];
  pane: Pane | null;
  homes: Readonly<Record<string, View | null>>;
  deliveries: readonly Delivery[];
  calls: readonly Call[];
  /** Newest message of somebody else, for screen readers. */
  news: { channel: string; message: Message } | undefined;
}

export const emptyState: State = {
  teams: [],
  controls: [],
  connection: 'connecting',
  open: undefined,
  messages: {},
  unread: {},
  me: '',
  since: '',
  leftOpen: new Set(),
  typed: undefined,
  views: [],
  pane: null,
  homes: {},
  deliveries: [],
  calls: [],
  news: undefined,
};
