import type { z } from 'zod';
import type { Role } from '../core/choices.ts';
import { outdated } from '../core/errors.ts';
import { defined } from '../core/json.ts';
import type { Message, ModalView, Reply } from '../core/message.ts';
import { type Choice, menuTarget } from '../views/blocks/inputs.ts';
import { keepOpened } from '../views/blocks/shared-form.ts';
import type { CommandContext } from './context.ts';
import type { ViewState } from './submission.ts';
import { parseButton } from './values.ts';

/** A button, select or other element that the command's messages and modals carry. */
export interface Action {
  /** `action_id`, by convention `<command>:<verb>`. Matches the whole id, or the part before the first `#`. */
  actionId: string;
  /** `callback_id` of its modal, if several modals have a field of this name. */
  view?: string;
  /** Required role. Default: the command's. */
  role?: Role;
  /** True if a second click must do nothing. The store then holds a claim of the click. */
  once?: boolean | ((value: string | undefined) => boolean);
  /** True if it changes something. Deckhand then stores it before the ack, so that it survives `kill -9`. */
  durable?: boolean;
  /** True for a value that opens a form. Slack's handle for it expires, so that Deckhand does not store the click. */
  opensForm?(value: string | undefined): boolean;
  /** Its name in the audit log. Default: the command and the verb. */
  change?: string;
  /**
   * Returns the command line that it runs, from the `block_id`. Deckhand stores the click only if it would
   * store that command. A command that opens a form cannot be stored first, because Slack's handle expires.
   */
  leadsTo?(blockId: string): string | undefined;
  handle(value: string | undefined, context: ActionContext): Promise<Reply>;
}

export interface ActionContext extends CommandContext {
  /** State of the element's modal, with its present values. */
  state: ViewState | undefined;
  blockId: string;
  /** The element's message. */
  message: Message | undefined;
  /** Redraws the element's modal; the latest choice wins. */
  updateModal(view: ModalView): Promise<void>;
}

/** Answers an external select while the person types. It must be quick. */
export interface OptionSource {
  actionId: string;
  /** Required role. Default: the command's. */
  role?: Role;
  options(query: string, context: OptionContext): Promise<Choice[]>;
  /** Options to show if the others fail or are late, e.g. the typed text. */
  fallback?(query: string): Choice[];
}

export interface OptionContext extends CommandContext {
  /** Metadata of the menu's modal; empty in a message. */
  metadata: string;
  blockId: string;
}

/** A button whose value is parsed before `handle`. */
export function defineButton<Value>(
  schema: z.ZodType<Value>,
  action: Omit<Action, 'handle'> & { handle(value: Value, context: ActionContext): Promise<Reply> },
): Action {
  return { ...action, handle: async (value, context) => action.handle(parseButton(schema, value), context) };
}

/** A menu in a message. The choice completes the typed command. */
export function defineMenu(
  actionId: string,
  complete: (choice: string, command: string) => Partial<Extract<Reply, { kind: 'command' }>>,
): Action {
  return {
    actionId,
    durable: true,
    leadsTo: (blockId) => menuTarget(blockId)?.command,
    async handle(choice, { blockId }) {
      const { command: text, project, thread } = menuTarget(blockId) ?? {};
      if (text === undefined || choice === undefined) throw outdated('menu');
      return { kind: 'command', text, thread, ...defined({ project }), ...complete(choice, text) };
    },
  };
}

/** Handler of an element that redraws its form; does nothing outside a form. */
export function redraw(
  draw: (state: ViewState, context: ActionContext, value: string | undefined) => Promise<ModalView>,
): Action['handle'] {
  return async (value, context) => {
    const { state } = context;
    if (state !== undefined)
      await context.updateModal(keepOpened(await draw(state, context, value), state.view));
    return { kind: 'nothing' };
  };
}
