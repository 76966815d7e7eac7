import type { KnownBlock, ModalView as SlackModalView } from '@slack/types';

export type { KnownBlock };

/** What Deckhand says: `text` for notifications and screen readers, `blocks` for eyes; always both. */
export interface Message {
  text: string;
  blocks: KnownBlock[];
}

/** A piece of news for a thread; the key identifies it, so that it is never posted twice. */
export interface News {
  key: string;
  message: Message;
}

/** Slack's own type takes any object for a block; ours takes the known ones only. */
export type ModalView = Omit<SlackModalView, 'blocks'> & { blocks: KnownBlock[] };
