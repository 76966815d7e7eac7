import { UserError } from '../core/errors.ts';
import type { Invocation } from '../core/message.ts';
import type { Explained } from '../views/blocks/failures.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** The context of every handler: of a command, click, form, menu, shortcut, workflow step or event. */
export interface CommandContext {
  workspace: Workspace;
  invocation: Invocation;
  /** The name after `--account`, as typed. */
  account: string | undefined;
  /** Cleaned text after the slash word; empty if nothing was typed. */
  text: string;
  /** A project picked from a menu because the words named none. */
  project?: string | undefined;
  /** Identifier of a server picked from a menu. */
  server?: string | undefined;
  /** Logs a failure and returns the sentence for a person. */
  explain(error: unknown, fields?: ExplainFields): Explained;
}

export interface ExplainFields {
  /** The account of the failing call, if its key is not stored yet. */
  newAccount?: string;
  [logged: string]: unknown;
}

/** The channel for a root message. @throws UserError without a channel, e.g. on App Home */
export function expectChannel(context: CommandContext): string {
  const { channel } = context.invocation;
  if (channel === undefined) throw new UserError('Run this in a channel, where its thread can be posted.');
  return channel;
}
