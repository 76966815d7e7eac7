import type { Call, Control, Delivery, Message, Pane, Team, View } from '../api/types.ts';

/** All the page knows. Everything in it is replaced, never changed in place. */
export interface State {
  teams: Team[];
  controls: Control[];
  connection: 'connecting' | 'live' | 'lost';
  /** Which channel is in view, for what counts as unread. */
  open: string | undefined;
  messages: Readonly<Record<string, readonly Message[]>>;
  unread: Readonly<Record<string, number>>;
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
  views: [],
  pane: null,
  homes: {},
  deliveries: [],
  calls: [],
  news: undefined,
};
