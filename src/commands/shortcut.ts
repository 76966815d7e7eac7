import type { Role } from '../core/choices.ts';
import type { Reply } from '../core/message.ts';
import type { CommandContext } from './context.ts';

/** An entry of Slack's menu of shortcuts, or of a message's own menu. */
export interface Shortcut {
  /** These four fields equal those in manifest.yml; a test compares them. */
  callbackId: string;
  kind: 'global' | 'message';
  name: string;
  description: string;
  /** Required role. Default: the command's. */
  role?: Role;
  /** True if it changes something. Deckhand then stores it before the ack, so that it survives `kill -9`. */
  durable?: boolean;
  handle(context: ShortcutContext): Promise<Reply>;
}

export interface ShortcutContext extends CommandContext {
  /** The whole text of the message with its links; empty for a global shortcut. */
  messageText: string;
}
