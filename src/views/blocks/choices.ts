import { z } from 'zod';
import type { KnownBlock, Message } from '../../core/message.ts';
import { section } from './message.ts';

/** What a menu in a message is about; it stands in the `block_id`, so that a choice survives a restart. */
const MenuPlace = z.object({
  account: z.string(),
  /** Permalink. */
  project: z.string().optional(),
  /** What was typed, to be run again with the choice. */
  run: z.string().optional(),
});
export type MenuPlace = z.infer<typeof MenuPlace>;

const LONGEST_BLOCK_ID = 255;
const PREFIX = 'about ';

/** A menu whose options are searched; nothing where the place does not fit into a `block_id`. */
export function searchMenu(spec: { actionId: string; placeholder: string; place: MenuPlace }): KnownBlock[] {
  const blockId = PREFIX + JSON.stringify(MenuPlace.parse(spec.place));
  if (blockId.length > LONGEST_BLOCK_ID) return [];
  return [
    {
      type: 'actions',
      block_id: blockId,
      elements: [
        {
          type: 'external_select',
          action_id: spec.actionId,
          min_query_length: 0,
          placeholder: { type: 'plain_text', text: spec.placeholder },
        },
      ],
    },
  ];
}

/** The place of a menu, out of its `block_id`; undefined for any other block. */
export function menuPlace(blockId: string): MenuPlace | undefined {
  if (!blockId.startsWith(PREFIX)) return undefined;
  return MenuPlace.safeParse(JSON.parse(blockId.slice(PREFIX.length))).data;
}

/** Asks which server is meant; the choice runs what was typed again. `said` is mrkdwn, escaped. */
export function chooseServerMessage(said: string, place: MenuPlace): Message {
  const menu = searchMenu({ actionId: 'server', placeholder: 'Choose a server', place });
  return { text: said, blocks: [section(said), ...menu] };
}
