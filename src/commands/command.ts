import { z } from 'zod';
import type { Settings } from '../config.ts';
import type { Role } from '../core/choices.ts';
import type { Invocation, Reply } from '../core/message.ts';
import type { ProjectRef } from '../core/project-ref.ts';
import type { Account, KeyUse } from '../records/accounts.ts';
import type { Action, OptionSource } from './action.ts';
import type { CommandContext } from './context.ts';
import type { Phrases } from './phrases.ts';
import type { Shortcut } from './shortcut.ts';
import type { Submission } from './submission.ts';

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
  /** Sentences that mean it. */
  phrases?: Phrases;
  /** True if it starts something that changes nothing, so that it may be offered for a question. */
  isHarmless?: boolean;
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
  handle(args: Args, context: CommandContext, target: Targets[Kind]): Promise<Reply>;
  submissions?: readonly Submission[];
  actions?: readonly Action[];
  optionSources?: readonly OptionSource[];
  shortcuts?: readonly Shortcut[];
}

/** A section of the help. */
export interface CommandGroup {
  id: string;
  title: string;
  /** The verb that begins the summary. Default: the title. */
  verb?: string;
  /** Continues the verb, e.g. *Test* that servers can be reached. */
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

/** Connects the types of `args`, `target` and `handle`, and hides them outside, because the registry mixes commands. */
export function defineCommand<Args = unknown, Kind extends TargetKind = 'none'>(
  command: CommandSpec<Args, Kind>,
): Command {
  const { args = DEFAULTS.args, flags = [], switches = [], target = 'none' } = command;
  const { needsAccount = target !== 'none', takesAccount = needsAccount } = command;
  const positionals = Object.keys(args.shape).filter((name) => ![...flags, ...switches].includes(name));
  return { ...DEFAULTS, ...command, needsAccount, takesAccount, positionals } as Command;
}

/** True if a command changes something, or opens a form that does. A question leads to none of them. */
export function mayChange({ durable = false, submissions = [], role, isHarmless = false }: Command): boolean {
  if (isHarmless) return false;
  return durable !== false || submissions.length > 0 || role === 'operator' || role === 'admin';
}
