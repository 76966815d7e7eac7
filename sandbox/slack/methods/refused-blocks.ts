import { fault } from '../block-kit/explain.ts';
import { policyOf } from '../state/policies.ts';
import type { Workspace } from '../state/types.ts';

/** Faults of blocks whose type a workspace does not take, in Slack's words for a type that it does not know. */
export function refusedBlocks(workspace: Workspace, blocks: unknown, root: string): string[] {
  const refused = policyOf(workspace, 'refusedBlocks') ?? [];
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block: unknown, at) => {
    const type = typeof block === 'object' && block !== null && 'type' in block ? String(block.type) : '';
    return refused.includes(type) ? [fault(`unsupported type: ${type}`, root, [at, 'type'])] : [];
  });
}
