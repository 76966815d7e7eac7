import { z } from 'zod';
import type { KnownBlock, Message } from '../../core/message.ts';
import { type Choice, menuBlock } from './inputs.ts';
import { LIMITS } from './limits.ts';
import { say } from './message.ts';

/** What a menu in a message is about; kept in its `block_id`, so that a choice survives a restart. */
const MenuTarget = z.object({
  account: z.string(),
  /** Permalink. */
  project: z.string().optional(),
  /** The typed command, to be run again with the choice. */
  run: z.string().optional(),
  /** The message in whose thread a mention is answered. */
  thread: z.string().optional(),
});
export type MenuTarget = z.infer<typeof MenuTarget>;

const PREFIX = 'about ';

/** A menu whose options are searched; nothing where the target does not fit into a `block_id`. */
export function searchMenu(spec: {
  actionId: string;
  placeholder: string;
  target: MenuTarget;
}): KnownBlock[] {
  const blockId = PREFIX + JSON.stringify(MenuTarget.parse(spec.target));
  if (blockId.length > LIMITS.blockId) return [];
  return [menuBlock({ ...spec, blockId })];
}

/** As `searchMenu`, with the choices given. */
export function choiceMenu(spec: {
  actionId: string;
  placeholder: string;
  target: MenuTarget;
  choices: readonly Choice[];
}): KnownBlock[] {
  const blockId = PREFIX + JSON.stringify(MenuTarget.parse(spec.target));
  return blockId.length > LIMITS.blockId ? [] : [menuBlock({ ...spec, blockId })];
}

/** The target of a menu, from its `block_id`; undefined for any other block. */
export function menuTarget(blockId: string): MenuTarget | undefined {
  if (!blockId.startsWith(PREFIX)) return undefined;
  return MenuTarget.safeParse(JSON.parse(blockId.slice(PREFIX.length))).data;
}

/** Asks which server is meant; the choice runs the typed command again. `text` is mrkdwn, escaped. */
export function chooseServerMessage(text: string, target: MenuTarget): Message {
  const menu = searchMenu({ actionId: 'server', placeholder: 'Choose a server', target });
  return say(text, ...menu);
}

/**
 * The `block_id` of a menu whose choice completes a typed command, so that it survives a restart.
 * @param thread the message in whose thread a mention is answered
 */
export function runBlock(text: string, thread?: string): string {
  return thread === undefined ? `run ${text}` : `run@${thread} ${text}`;
}

const RUN_BLOCK = /^run(?:@(?<thread>\d{1,12}\.\d{1,12}))? (?<text>.*)$/s;

/** The typed command of such a menu; undefined for any other block. */
export function chosenText(blockId: string): string | undefined {
  return RUN_BLOCK.exec(blockId)?.groups?.text;
}

/** The thread of such a menu; undefined where the choice is shown in the channel. */
export function chosenThread(blockId: string): string | undefined {
  return RUN_BLOCK.exec(blockId)?.groups?.thread;
}
