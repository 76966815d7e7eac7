import type { KnownBlock } from '../../core/message.ts';
import { linesWithin } from '../../core/mrkdwn.ts';
import { LIMITS } from './limits.ts';
import { section } from './message.ts';

/** Slack refuses messages whose blocks hold much over 13,000 characters: three full sections leave room for the rest. */
const MOST_SECTIONS = 3;

/** Lines of safe mrkdwn in as few sections as hold them, with "and N more" where even these are too many. */
export function listBlocks(lines: readonly string[], noun?: string): KnownBlock[] {
  const blocks: KnownBlock[] = [];
  let left = lines;
  while (left.length > 0 && blocks.length < MOST_SECTIONS - 1) {
    const fitting = countWithin(left, LIMITS.sectionText);
    if (fitting === 0) break;
    blocks.push(section(left.slice(0, fitting).join('\n')));
    left = left.slice(fitting);
  }
  if (left.length > 0) blocks.push(section(linesWithin(left, LIMITS.sectionText, noun)));
  return blocks;
}

function countWithin(lines: readonly string[], max: number): number {
  let used = 0;
  const over = lines.findIndex((line) => {
    used += line.length + 1;
    return used > max;
  });
  return over === -1 ? lines.length : over;
}
