import { z } from 'zod';
import type { Settings } from '../config.ts';
import type { Role } from '../core/choices.ts';
import { outdated, UserError } from '../core/errors.ts';
import { defined, parseJson } from '../core/json.ts';
import type { Audited, Change, Invocation, Message, ModalView, Reply } from '../core/message.ts';
import { escapeMarkup, unmarked } from '../core/mrkdwn.ts';
import type { ProjectRef } from '../core/project-ref.ts';
import type { Account, KeyUse } from '../records/accounts.ts';
import type { Ending } from '../scheduler/workflows/end-steps.ts';
import type { Explained } from '../views/blocks/failures.ts';
import { type Choice, menuTarget } from '../views/blocks/inputs.ts';
import { messagesByField } from '../views/blocks/modal.ts';
import { keepOpened } from '../views/blocks/shared-form.ts';
import { ServerNeeded } from '../workspace/projects.ts';
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

/** A button, select or other element that the command's messages and modals carry. */
export interface Action {
  /** `action_id`, by convention `<command>:<verb>`. Matches the whole id, or the part before the first `#`. */
  actionId: string;
  /** `callback_id` of its modal, if several modals have a field of this name. */
  view?: string;
  /** Required role. Default: the command's. */
  role?: Role;
  /** True if a second click must do nothing. The store then holds a claim of the click. */
  once?: boolean;
  /** True if it changes something. Deckhand then stores it before the ack, so that it survives `kill -9`. */
  durable?: boolean;
  /** Its name in the audit log. Default: the command and the verb. */
  change?: string;
  /**
   * Returns the command line that it runs, from the `block_id`. Deckhand stores the click only if it would
   * store that command. A command that opens a form cannot be stored first, because Slack's handle expires.
   */
  leadsTo?(blockId: string): string | undefined;
  run(value: string | undefined, context: ActionContext): Promise<Reply>;
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

/** A step of Slack's Workflow Builder, by `callback_id` in manifest.yml. */
export interface WorkflowStep<Inputs = unknown> {
  /** Its command. A channel that does not allow the command does not allow the step either. */
  command: string;
  inputs: z.ZodType<Inputs>;
  /** It fills a menu for the author of a workflow, so it ends before the ack, as Slack expects. */
  isMenu?: true;
  /** The channel that it posts in. */
  actsIn?(inputs: Inputs): string | undefined;
  /** Undefined if the step ends later, by a job that was started. */
  run(inputs: Inputs, context: CommandContext): Promise<Ending | undefined>;
}

/** Keeps the types of `inputs` and `run` together, as `defineCommand` does. */
export function defineStep<Inputs>(step: WorkflowStep<Inputs>): WorkflowStep {
  return step as WorkflowStep;
}

/** An event of Slack's Events API. Its handler parses `event`. */
export interface SlackEvent {
  event_id: string;
  /** Seconds since the epoch. */
  event_time: number;
  event: { type: string; [field: string]: unknown };
  [field: string]: unknown;
}

/** Handles one type of Slack's events. The event is stored, and repeated if this throws. */
export type EventHandler = (context: CommandContext, body: SlackEvent) => Promise<void>;

export type EventHandlers = Readonly<Record<string, EventHandler>>;

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
  run(context: ShortcutContext): Promise<Reply>;
}

export interface ShortcutContext extends CommandContext {
  /** The whole text of the message with its links; empty for a global shortcut. */
  messageText: string;
}

/** The targets of commands, by kind. Deckhand finds them before the handler runs. */
export interface Targets {
  none: Record<never, never>;
  /** The account after `--account`, else the channel's, else the default one. */
  account: { account: Account };
  /** The project of the argument `project`, else the channel's. */
  project: { account: Account; project: ProjectRef };
  /** Project and server from all arguments, in the order of `positionals`. Each may have several words. */
  server: {
    account: Account;
    project: ProjectRef;
    projectName: string | undefined;
    server: string | undefined;
  };
}

type TargetKind = keyof Targets;

export interface Command<Args = unknown, Kind extends TargetKind = TargetKind> {
  /** One or two words, e.g. `server add`. */
  name: string;
  /** Other words for it. */
  synonyms?: readonly string[];
  /** Words that mean it with its first words, e.g. `stats` for `activity stats`. */
  shorthands?: Readonly<Record<string, string>>;
  /** A word that means it if nothing follows, e.g. `digest` for `digest list`. */
  alone?: string;
  summary: string;
  /** Its line in the overview of help, in at most eight words. Commands with the same phrase share a line. */
  phrase: string | undefined;
  /** Its name in that line. Default: `name`. */
  shownAs?: string;
  /** Words after the name: `[project] [server]`. */
  usage: string;
  examples?: readonly string[];
  role: Role;
  target: Kind;
  /** Decides which key of the account is used. Default: the person's. */
  keyUse?(invocation: Invocation): KeyUse;
  /**
   * True if it needs a connected account. Without one, Deckhand asks the person to connect first. Default:
   * true with a target.
   */
  needsAccount: boolean;
  /**
   * True if its outcome is posted in the channel. Its questions then appear there too, if Deckhand may post
   * there.
   */
  isPosted?: boolean;
  /** False if `--account` would change nothing. Default: like `needsAccount`. */
  takesAccount: boolean;
  /**
   * True if it changes something. Deckhand then stores it before the ack, so that it survives `kill -9`. A
   * function of the words if only some of them change something. A command that opens a form cannot be stored
   * first, because Slack's handle expires.
   */
  durable?: boolean | ((words: readonly string[]) => boolean);
  /** Names of the words in order: all `args` except flags. With `rest`, the last one takes all remaining words. */
  positionals: readonly string[];
  rest?: boolean;
  /** Flags in addition to `--account`; `switches` take no value. */
  flags?: readonly string[];
  switches?: readonly string[];
  /** Parses `{ [positional]: word, [flag]: value }`. */
  args: z.ZodType<Args>;
  /** False if the configuration lacks something that it needs. Help then leaves it out. */
  isAvailable?(settings: Settings): boolean;
  run(args: Args, context: CommandContext, target: Targets[Kind]): Promise<Reply>;
  submissions?: readonly Submission[];
  actions?: readonly Action[];
  optionSources?: readonly OptionSource[];
  shortcuts?: readonly Shortcut[];
}

/** A section of the help. */
export interface CommandGroup {
  id: string;
  title: string;
  /** Continues the title, e.g. *Test* that servers can be reached. */
  summary: string;
  commands: readonly Command[];
}

const DEFAULTS = { usage: '', target: 'none', args: z.object({}) } as const;
type Optional = keyof typeof DEFAULTS | 'needsAccount' | 'takesAccount';

/** A command as its file defines it; fields that most commands do not need are optional. */
export type CommandSpec<Args, Kind extends TargetKind = 'none'> = Omit<
  Command<Args, Kind>,
  'positionals' | Optional
> &
  Partial<Pick<Command<Args, Kind>, Optional>> & { args?: z.ZodObject & z.ZodType<Args> };

/** Connects the types of `args`, `target` and `run`, and hides them outside, because the registry mixes commands. */
export function defineCommand<Args = unknown, Kind extends TargetKind = 'none'>(
  command: CommandSpec<Args, Kind>,
): Command {
  const { args = DEFAULTS.args, flags = [], switches = [], target = 'none' } = command;
  const { needsAccount = target !== 'none', takesAccount = needsAccount } = command;
  const positionals = Object.keys(args.shape).filter((name) => ![...flags, ...switches].includes(name));
  return { ...DEFAULTS, ...command, needsAccount, takesAccount, positionals } as Command;
}

/** Replies to the person only. */
export function replyPrivately(message: Message, audit?: Audited['audit']): Reply {
  return { kind: 'private', message, audit };
}

/** Replaces the message whose button was used. */
export function replyInPlace(
  message: Message,
  audit?: Audited['audit'],
): Extract<Reply, { kind: 'replace' }> {
  return { kind: 'replace', message, audit };
}

/** A button whose value is parsed before `run`. */
export function defineButton<Value>(
  schema: z.ZodType<Value>,
  action: Omit<Action, 'run'> & { run(value: Value, context: ActionContext): Promise<Reply> },
): Action {
  return { ...action, run: async (value, context) => action.run(parseButton(schema, value), context) };
}

/** Parses a button's value. @throws UserError if another version of Deckhand made the button */
export function parseButton<Schema extends z.ZodType>(schema: Schema, value = '{}'): z.output<Schema> {
  return read(schema, value, 'button');
}

/** Parses a form's `private_metadata`. @throws UserError as above */
export function parseForm<Schema extends z.ZodType>(schema: Schema, metadata: string): z.output<Schema> {
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

/** A menu in a message. The choice completes the typed command. */
export function defineMenu(
  actionId: string,
  complete: (choice: string, command: string) => Partial<Extract<Reply, { kind: 'run' }>>,
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

/** Handler of an element that redraws its form; does nothing outside a form. */
export function redraw(
  draw: (state: ViewState, context: ActionContext, value: string | undefined) => Promise<ModalView>,
): Action['run'] {
  return async (value, context) => {
    const { state } = context;
    if (state !== undefined)
      await context.updateModal(keepOpened(await draw(state, context, value), state.view));
    return { kind: 'nothing' };
  };
}

/** The channel for a root message. @throws UserError without a channel, e.g. on App Home */
export function expectChannel(context: CommandContext): string {
  const { channel } = context.invocation;
  if (channel === undefined) throw new UserError('Run this in a channel, where its thread can be posted.');
  return channel;
}
