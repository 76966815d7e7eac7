import { messageBlock } from './blocks.ts';
import { checkCharts } from './charts.ts';
import { explain, fault } from './explain.ts';
import { LIMITS } from './limits.ts';
import { countCells } from './tables.ts';
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
  return [...checkAcross(parsed.data, root), ...checkTotals(parsed.data as readonly LooseBlock[], root)];
}

interface LooseBlock {
  type: string;
  text?: unknown;
  rows?: Parameters<typeof countCells>[0]['rows'];
}

function checkTotals(blocks: readonly LooseBlock[], root: string): string[] {
  const faults = checkCharts(blocks, root);
  const tables = blocks.filter((block) => block.type === 'table');
  if (tables.length > LIMITS.tablesPerMessage) faults.push(fault('only_one_table_allowed', root));
  const cells = blocks
    .filter((block) => block.type === 'data_table')
    .reduce((sum, block) => sum + countCells(block), 0);
  if (cells > LIMITS.dataTableText) {
    faults.push(fault(`table cells must be less than ${LIMITS.dataTableText + 1} characters in all`, root));
  }
  const markdown = blocks
    .filter((block) => block.type === 'markdown')
    .reduce((sum, block) => sum + [...String(block.text)].length, 0);
  if (markdown > LIMITS.markdown) {
    faults.push(fault(`markdown blocks must be less than ${LIMITS.markdown + 1} characters in all`, root));
  }
  return faults;
}
