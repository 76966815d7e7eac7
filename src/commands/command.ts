import { z } from 'zod';
import type { Role } from '../core/choices.ts';
import { outdated, UserError } from '../core/errors.ts';
import { defined, parseJson } from '../core/json.ts';
import type { Audited, Caller, Change, Message, ModalView, Reply } from '../core/message.ts';
import { unmarked } from '../core/mrkdwn.ts';
import type { Settings } from '../core/settings.ts';
import type { Ending } from '../scheduler/workflows/end-steps.ts';
import type { Explained } from '../views/blocks/failures.ts';
import { type Choice, menuTarget } from '../views/blocks/inputs.ts';
import { messagesByField } from '../views/blocks/modal.ts';
import { ServerNeeded } from '../workspace/projects.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** What every handler is given, whatever came in: command, click, form, menu, shortcut, workflow step or event. */
export interface CommandContext {
  workspace: Workspace;
  caller: Caller;
  /** The name after `--account`, as typed. */
  account: string | undefined;
  /** What the person typed after the slash word, cleaned; empty where nothing was typed. */
  text: string;
  /** A project picked from a menu because the words named none. */
  project?: string | undefined;
  /** The identifier of a server picked from a menu, in place of the word for one. */
  server?: string | undefined;
  /** Logs a failure, and puts it in words for a person. */
  explain(error: unknown, fields?: ExplainFields): Explained;
}

export interface ExplainFields {
  /** The account that the failing call was made for, where its key is not stored yet. */
  newAccount?: string;
  [logged: string]: unknown;
}

/** What a submitted form leads to. Errors are by `block_id`; `base` stands on top of the modal. */
export type Submitted = Audited &
  (
    | { kind: 'errors'; errors: Record<string, string>; base?: string; lacks?: Explained['lacks'] }
    | { kind: 'view'; view: ModalView }
    /** Closes the modal; `after` runs once it is closed, and its reply is said where the modal came from. */
    | { kind: 'close'; after?: () => Promise<Reply> }
  );

export interface ViewState {
  /** Value by `action_id`, as `readState` in src/views/blocks/modal.ts gives it. */
  values: Record<string, string | string[] | undefined>;
  metadata: string;
  view: ModalView & { id: string; hash: string };
}

/** A modal's way back. `submit` may call the service: after 2 s the modal shows that the work continues. */
export interface Submission {
  callbackId: string;
  /** Who may, where that is not as the command says. */
  role?: Role;
  /** Fields whose values are never put back into the form. */
  secrets?: readonly string[] | ((state: ViewState) => readonly string[]);
  /**
   * True where doing it twice would order something twice at the service. It is not begun again after a kill: the person
   * is told to check. Every other form is carried out again from its beginning.
   */
  isOrder?: boolean;
  /** The channel that it acts in, where that is not the one it was opened from. */
  actsIn?(state: ViewState): string | undefined;
  submit(state: ViewState, context: CommandContext): Promise<Submitted>;
  /** The form as it is filled in: shown where a fault is of a field that the person does not see yet. */
  draw?(state: ViewState, context: CommandContext): Promise<ModalView> | ModalView;
}

/** A button, select or other element that the command's messages and modals carry. */
export interface Action {
  /** `action_id`, by convention `<command>:<verb>`; matched whole, or up to the first `#`. */
  actionId: string;
  /** The `callback_id` of the modal it stands in, where several modals have a field of this name. */
  view?: string;
  /** Who may, where that is not as the command says. */
  role?: Role;
  /** True where a second click must do nothing: the click is claimed in the store. */
  once?: boolean;
  /** True where it changes something: it is stored before the ack and survives `kill -9`. */
  durable?: boolean;
  /** What the audit log calls it; left out, the command and the verb. */
  change?: string;
  /**
   * The command line that it runs, read from the `block_id`: it is stored only if that command is. A command that
   * opens a form cannot be stored first, because Slack's handle expires.
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
  /** Draws the modal the element stands in again; the latest choice wins. */
  updateModal(view: ModalView): Promise<void>;
}

/** Answers an external select while the person types; must be quick. */
export interface OptionSource {
  actionId: string;
  /** Who may, where that is not as the command says. */
  role?: Role;
  options(typed: string, context: OptionContext): Promise<Choice[]>;
  /** Offered where the options fail or are late, e.g. what was typed. */
  fallback?(typed: string): Choice[];
}

export interface OptionContext extends CommandContext {
  /** Of the modal that the menu stands in; empty in a message. */
  metadata: string;
  blockId: string;
}

/** A step of Slack's Workflow Builder, by `callback_id` in manifest.yml. */
export interface WorkflowStep<Inputs = unknown> {
  /** The command that it stands for: a channel that does not allow the command does not allow the step. */
  command: string;
  inputs: z.ZodType<Inputs>;
  /** The channel that it posts in. */
  actsIn?(inputs: Inputs): string | undefined;
  /** Undefined: the step ends later, by the job that was started. */
  run(inputs: Inputs, context: CommandContext): Promise<Ending | undefined>;
}

/** Keeps the types of `inputs` and `run` together, as `defineCommand` does. */
export function defineStep<Inputs>(step: WorkflowStep<Inputs>): WorkflowStep {
  return step as WorkflowStep;
}

/** What Slack's Events API sends; its handler parses `event`. */
export interface SlackEvent {
  event_id: string;
  /** Seconds since the epoch. */
  event_time: number;
  event: { type: string; [field: string]: unknown };
  [field: string]: unknown;
}

/** Handles one type of Slack's events; the event is stored, and retried where this throws. */
export type EventHandler = (context: CommandContext, body: SlackEvent) => Promise<void>;

/** By the event's type. */
export type EventHandlers = Readonly<Record<string, EventHandler>>;

/** An entry of Slack's menu of shortcuts, or of a message's own menu. */
export interface Shortcut {
  /** These four as in manifest.yml, which a test holds equal. */
  callbackId: string;
  kind: 'global' | 'message';
  name: string;
  description: string;
  /** Who may, where that is not as the command says. */
  role?: Role;
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
  /** True where its outcome is posted in the channel: what it asks first is asked there, if Deckhand may post there. */
  isPosted?: boolean;
  /** False where `--account` would change nothing; by default as `needsAccount`. */
  takesAccount: boolean;
  /**
   * True where it changes something: it is stored before the ack and survives `kill -9`. By the words after its name
   * where only some of them change something: a command that opens a form cannot be
   * stored first, because Slack's handle expires.
   */
  durable?: boolean | ((words: readonly string[]) => boolean);
  /** Names of the words in their order, all of `args` but flags; with `rest` the last takes all that remain. */
  positionals: readonly string[];
  rest?: boolean;
  /** Flags beside `--account`; those that take no value are `switches`. */
  flags?: readonly string[];
  switches?: readonly string[];
  /** Parses `{ [positional]: word, [flag]: value }`. */
  args: z.ZodType<Args>;
  /** False where the configuration lacks what it needs: then it is absent from help. */
  isAvailable?(settings: Settings): boolean;
  run(args: Args, context: CommandContext): Promise<Reply>;
  submissions?: readonly Submission[];
  actions?: readonly Action[];
  optionSources?: readonly OptionSource[];
  shortcuts?: readonly Shortcut[];
}

/** A part of the help: what people do with its commands. */
export interface CommandGroup {
  id: string;
  title: string;
  /** Goes on from the title, e.g. *Test* that servers can be reached. */
  summary: string;
  commands: readonly Command[];
}

/** A command as it is written down: what most commands do not need may be left out. */
export type CommandSpec<Args> = Omit<Command<Args>, 'positionals' | 'takesAccount' | keyof typeof DEFAULTS> &
  Partial<Pick<Command<Args>, 'takesAccount' | keyof typeof DEFAULTS>> & {
    args?: z.ZodObject & z.ZodType<Args>;
  };

const DEFAULTS = { usage: '', needsAccount: false, args: z.object({}) };

/** Keeps the types of `args` and `run` together, and drops them outside, where the registry mixes commands. */
export function defineCommand<Args = unknown>(command: CommandSpec<Args>): Command {
  const { args = DEFAULTS.args, flags = [], switches = [], needsAccount: takesAccount = false } = command;
  const positionals = Object.keys(args.shape).filter((name) => ![...flags, ...switches].includes(name));
  return { ...DEFAULTS, takesAccount, ...command, positionals } as Command;
}

/** What a button carries in its value. @throws UserError where it is of another version, which made it otherwise */
export function fromButton<Schema extends z.ZodType>(schema: Schema, value = '{}'): z.output<Schema> {
  return read(schema, value, 'button');
}

/** What a form carries in its `private_metadata`. @throws UserError as above */
export function fromForm<Schema extends z.ZodType>(schema: Schema, metadata: string): z.output<Schema> {
  return read(schema, metadata || '{}', 'form');
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  what: 'button' | 'form',
): z.output<Schema> {
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw outdated(what);
  return parsed.data;
}

/** What is wrong with what a form holds, by `block_id`; `base` stands on top of it. */
export class FormFault extends UserError {
  readonly errors: Record<string, string>;
  readonly base: string | undefined;

  constructor(errors: Record<string, string>, base?: string, options?: ErrorOptions) {
    super(Object.values(errors).join(' '), undefined, options);
    this.errors = errors;
    this.base = base;
  }
}

/** Closes the form, and says to the person alone what came of it. */
export function closeWith(message: Message, audit: Change): Submitted {
  return { kind: 'close', after: async () => ({ kind: 'private', message }), audit };
}

/** What a form holds. @throws FormFault with each message under its field */
export function readFields<Schema extends z.ZodType>(schema: Schema, { values }: Pick<ViewState, 'values'>) {
  const fields = schema.safeParse(values);
  if (!fields.success) throw new FormFault(messagesByField(fields.error));
  return fields.data;
}

/** What the work gives; what the person did wrong stands under the field. @param said in place of its own words */
export async function underField<T>(field: string, work: () => Promise<T> | T, said?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isTheirs = error instanceof UserError || error instanceof ServerNeeded;
    if (!isTheirs || error instanceof FormFault) throw error;
    throw new FormFault({ [field]: said ?? unmarked(error.message) }, undefined, { cause: error });
  }
}

/** A menu in a message whose choice completes the command that was typed. */
export function menuAction(
  actionId: string,
  complete: (choice: string, typed: string) => Partial<Extract<Reply, { kind: 'run' }>>,
): Action {
  return {
    actionId,
    durable: true,
    leadsTo: (blockId) => menuTarget(blockId)?.run,
    async run(choice, { blockId }) {
      const { run: text, project, thread } = menuTarget(blockId) ?? {};
      if (text === undefined || choice === undefined) throw outdated('menu');
      return { kind: 'run', text, thread, ...defined({ project }), ...complete(choice, text) };
    },
  };
}

/** What an element does that draws its form anew; outside a form it does nothing. */
export function redraw(
  draw: (state: ViewState, context: ActionContext, value: string | undefined) => Promise<ModalView>,
): Action['run'] {
  return async (value, context) => {
    const { state } = context;
    if (state !== undefined) await context.updateModal(await draw(state, context, value));
    return { kind: 'nothing' };
  };
}

/** The channel for a root message. @throws UserError if there is none, e.g. on App Home */
export function channelOf(context: CommandContext): string {
  const { channel } = context.caller;
  if (channel === undefined) throw new UserError('Run this in a channel, where its thread can be posted.');
  return channel;
}
