import type { z } from 'zod';
import type { Role } from '../core/choices.ts';
import { UserError } from '../core/errors.ts';
import type { Audited, Change, Message, ModalView, Reply } from '../core/message.ts';
import { escapeMarkup, unmarked } from '../core/mrkdwn.ts';
import type { Explained } from '../views/blocks/failures.ts';
import { messagesByField } from '../views/blocks/modal.ts';
import { ServerNeeded } from '../workspace/project-list.ts';
import type { CommandContext } from './context.ts';
import { replyPrivately } from './replies.ts';

/** Result of a submitted form. Errors are by `block_id`; `base` is shown above the form. */
export type Submitted = Audited &
  (
    | { kind: 'errors'; errors: Record<string, string>; base?: string; lacks?: Explained['lacks'] }
    | { kind: 'view'; view: ModalView }
    /** Shows `card`, closes the modal, then runs `after`. Its reply goes to the place that the modal was opened from. */
    | { kind: 'close'; after?: () => Promise<Reply>; card?: Reply }
  );

export interface ViewState {
  /** Value by `action_id`, as `readState` in src/views/blocks/modal.ts gives it. */
  values: Record<string, string | string[] | undefined>;
  metadata: string;
  view: ModalView & { id: string; hash: string };
}

/** Handles a submitted modal. `submit` may call the service: after 2 s the modal shows that the work continues. */
export interface Submission {
  callbackId: string;
  /** Required role. Default: the command's. */
  role?: Role;
  /** Fields whose values are never put back into the form. */
  secrets?: readonly string[] | ((state: ViewState) => readonly string[]);
  /**
   * True if a repeat would order something twice at the service. After a kill, Deckhand does not repeat it,
   * but tells the person to check. It repeats any other form from the beginning.
   */
  isOrder?: boolean;
  /** The channel that it acts in. Default: the one where it was opened. */
  actsIn?(state: ViewState): string | undefined;
  submit(state: ViewState, context: CommandContext): Promise<Submitted>;
  /** Draws the form with its present values, to show an error of a field that was hidden. */
  draw?(state: ViewState, context: CommandContext): Promise<ModalView> | ModalView;
}

/**
 * Form errors by `block_id`, as plain text; `base` is shown above the form. For typed words, a message shows
 * them as mrkdwn.
 */
export class FormFault extends UserError {
  readonly errors: Record<string, string>;
  readonly base: string | undefined;

  constructor(errors: Record<string, string>, base?: string, options?: ErrorOptions) {
    super(escapeMarkup(Object.values(errors).join(' ')), undefined, options);
    this.errors = errors;
    this.base = base;
  }
}

/** Closes the form and shows the person its outcome. */
export function closeWith(message: Message, audit: Change): Submitted {
  return { kind: 'close', after: async () => replyPrivately(message), audit };
}

/** Parses the values of a form. @throws FormFault with each message under its field */
export function readFields<Schema extends z.ZodType>(schema: Schema, { values }: Pick<ViewState, 'values'>) {
  const fields = schema.safeParse(values);
  if (!fields.success) throw new FormFault(messagesByField(fields.error));
  return fields.data;
}

/** Runs work and shows a person's mistake under a field. @param text replaces the error's own message */
export async function showUnderField<T>(
  field: string,
  work: () => Promise<T> | T,
  text?: string,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isMistake = error instanceof UserError || error instanceof ServerNeeded;
    if (!isMistake || error instanceof FormFault) throw error;
    throw new FormFault({ [field]: text ?? unmarked(error.message) }, undefined, { cause: error });
  }
}
