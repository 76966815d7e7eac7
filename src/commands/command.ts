import type { z } from 'zod';
import type { Config } from '../config.ts';
import type { Message, ModalView } from '../core/message.ts';
import type { Caller, Reply } from '../core/reply.ts';
import type { Choice } from '../views/blocks/modal.ts';
import type { Role } from '../workspace/roles.ts';
import type { Workspace } from '../workspace/workspace.ts';

export interface CommandContext {
  caller: Caller;
  /** The name after `--account`, as typed. */
  account: string | undefined;
  /** What the person typed after the slash word, cleaned. */
  text: string;
  /** A project picked from a menu because the words named none. */
  project?: string | undefined;
  /** The identifier of a server picked from a menu, in place of the word for one. */
  server?: string | undefined;
  workspace: Workspace;
}

/** What a submission leads to. Errors are by `block_id`; `base` stands on top of the modal. */
export type Submitted =
  | { kind: 'errors'; errors: Record<string, string>; base?: string }
  | { kind: 'view'; view: ModalView }
  /** Closes the modal; `after` runs once it is closed, and is said where the modal came from. */
  | { kind: 'close'; after?: () => Promise<Reply> };

export interface ViewState {
  /** Value by `action_id`, as `readState` in src/views/blocks/modal-state.ts gives it. */
  values: Record<string, string | string[] | undefined>;
  metadata: string;
  view: ModalView & { id: string; hash: string };
}

/** A modal's way back. `submit` may call the service: past 2 s the person sees that it is going on. */
export interface Submission {
  callbackId: string;
  role: Role;
  /** Fields whose values are never put back into the form. */
  secrets?: readonly string[] | ((state: ViewState) => readonly string[]);
  submit(state: ViewState, context: CommandContext): Promise<Submitted>;
}

/** A button, select or other element that the command's messages and modals carry. */
export interface Action {
  /** `action_id`, by convention `<command>:<verb>`; matched whole, or up to the first `#`. */
  actionId: string;
  /** The `callback_id` of the modal it stands in, where several modals have a field of this name. */
  view?: string;
  role: Role;
  /** True where a second click must do nothing: the click is claimed in the store. */
  once?: boolean;
  /** True where it changes something: it is stored before the ack and survives `kill -9`. */
  durable?: boolean;
  /**
   * The command line that it runs, out of the `block_id`: then it is stored only if that command is. One that opens a
   * form cannot wait, for Slack's handle dies.
   */
  leadsTo?(blockId: string): string | undefined;
  run(value: string | undefined, context: ActionContext): Promise<Reply>;
}

export interface ActionContext extends CommandContext {
  /** The modal the element stands in, with what was filled in so far. */
  state: ViewState | undefined;
  blockId: string;
  /** The message the element stands on. */
  message: Message | undefined;
  /**
   * Replaces the modal the element stands in, unless it was replaced since the click; `anyway` for what only draws
   * the form anew, where the latest choice wins.
   */
  updateModal(view: ModalView, anyway?: 'anyway'): Promise<void>;
}

/** Answers an external select while the person types; must be quick. */
export interface OptionSource {
  actionId: string;
  role: Role;
  options(typed: string, context: OptionContext): Promise<Choice[]>;
  /** Offered where the options fail or are late, e.g. what was typed. */
  fallback?(typed: string): Choice[];
}

export interface OptionContext extends CommandContext {
  /** Of the modal that the menu stands in; empty in a message. */
  metadata: string;
  blockId: string;
}

/** An entry of Slack's menu of shortcuts, or of a message's own menu. */
export interface Shortcut {
  /** These four as in manifest.yml, which a test holds equal. */
  callbackId: string;
  kind: 'global' | 'message';
  name: string;
  description: string;
  role: Role;
  /** True where it changes something: it is stored before the ack and survives `kill -9`. */
  durable?: boolean;
  run(context: ShortcutContext): Promise<Reply>;
}

export interface ShortcutContext extends CommandContext {
  /** All that the message says, its links included; empty for a global shortcut. */
  said: string;
}

export interface Command<Args = unknown> {
  /** One or two words, e.g. `server add`. */
  name: string;
  summary: string;
  /** After the name: `[project] [server]`. */
  usage: string;
  examples?: readonly string[];
  role: Role;
  /** True where the command works on a connected account: without one the person is asked to connect first. */
  needsAccount: boolean;
  /**
   * True where it changes something: it is stored before the ack and survives `kill -9`. By the words after its name
   * where only some of them change something: what opens a form cannot wait, for Slack's handle dies.
   */
  durable?: boolean | ((words: readonly string[]) => boolean);
  /** Names of the words in their order; with `rest` the last takes all that remain. */
  positionals: readonly string[];
  rest?: boolean;
  /** Flags beside `--account`; those that take no value are `switches`. */
  flags?: readonly string[];
  switches?: readonly string[];
  /** Parses `{ [positional]: word, [flag]: value }`. */
  args: z.ZodType<Args>;
  /** False where the configuration lacks what it needs: then it is absent from help. */
  isAvailable?(config: Config): boolean;
  run(args: Args, context: CommandContext): Promise<Reply>;
  submissions?: readonly Submission[];
  actions?: readonly Action[];
  optionSources?: readonly OptionSource[];
  shortcuts?: readonly Shortcut[];
}

/** Keeps the types of `args` and `run` together, and forgets them outside, where the registry mixes commands. */
export function defineCommand<Args>(command: Command<Args>): Command {
  return command as Command;
}
