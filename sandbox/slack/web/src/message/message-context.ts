import { createContext, useContext } from 'react';
import type { Client } from '../api/client.ts';
import type { Message } from '../api/types.ts';

/** What a message may ask of the page around it. */
export interface MessageActions {
  client: Client;
  channel: string;
  openThread: (ts: string) => void;
  inspect: (message: Message) => void;
  /** The ts of the message the inspector shows. */
  inspected: string | undefined;
  complain: (error: string) => void;
}

export const MessageContext = createContext<MessageActions | undefined>(undefined);

export function useMessageActions(): MessageActions {
  const actions = useContext(MessageContext);
  if (actions === undefined) throw new Error('useMessageActions needs a MessageContext around it');
  return actions;
}
