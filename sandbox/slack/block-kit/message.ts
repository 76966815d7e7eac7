import { messageBlock } from './blocks.ts';
import { explain, fault } from './explain.ts';
import { LIMITS } from './limits.ts';
import { items } from './texts.ts';
import { checkAcross } from './uniqueness.ts';

const messageBlocks = items(messageBlock, LIMITS.messageBlocks);

/**
 * Everything Slack would refuse in a message's blocks, in its words; empty where they pass.
 *
 * @param root where the blocks stand in the request, `/blocks` by default
 */
export function checkMessageBlocks(blocks: unknown, root = '/blocks'): string[] {
  const parsed = messageBlocks.safeParse(blocks, { reportInput: true });
  if (!parsed.success) return explain(parsed.error.issues, root);
  return [...checkAcross(parsed.data, root), ...checkTotals(parsed.data, root)];
}

function checkTotals(blocks: readonly { type: string; text?: unknown }[], root: string): string[] {
  const faults: string[] = [];
  const tables = blocks.filter((block) => block.type === 'table');
  if (tables.length > LIMITS.tablesPerMessage) faults.push(fault('only_one_table_allowed', root));
  const markdown = blocks
    .filter((block) => block.type === 'markdown')
    .reduce((sum, block) => sum + [...String(block.text)].length, 0);
  if (markdown > LIMITS.markdown) {
    faults.push(fault(`markdown blocks must be less than ${LIMITS.markdown + 1} characters in all`, root));
  }
  return faults;
}
