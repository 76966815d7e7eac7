import { fault } from './explain.ts';

interface LooseElement {
  action_id?: string;
  focus_on_load?: boolean;
}

interface LooseBlock {
  type: string;
  block_id?: string;
  text?: unknown;
  element?: LooseElement;
  accessory?: LooseElement;
  elements?: LooseElement[];
}

/** Faults that only show across blocks. Call it with blocks whose shape has been checked. */
export function checkAcross(blocks: readonly unknown[], root: string): string[] {
  const list = blocks as readonly LooseBlock[];
  return [
    ...findTwice(
      list.map((block) => block.block_id),
      (id, at) => fault(`\`block_id\` "${id}" already exists`, root, [at, 'block_id']),
    ),
    ...list.flatMap((block, at) => checkActionIds(block, at, root)),
    ...checkFocus(list, root),
  ];
}

/** action_ids are to be unique within their block only. */
function checkActionIds(block: LooseBlock, at: number, root: string): string[] {
  if (block.type !== 'actions') return [];
  const ids = (block.elements ?? []).map((element) => element.action_id);
  return findTwice(ids, (id, index) =>
    fault(`\`action_id\` "${id}" already exists`, root, [at, 'elements', index, 'action_id']),
  );
}

function checkFocus(blocks: readonly LooseBlock[], root: string): string[] {
  const focused = blocks
    .flatMap((block) => [block.element, block.accessory, ...(block.elements ?? [])])
    .filter((element) => element?.focus_on_load === true);
  return focused.length > 1 ? [fault('only one element can set `focus_on_load`', root)] : [];
}

function findTwice(
  ids: readonly (string | undefined)[],
  complain: (id: string, index: number) => string,
): string[] {
  return ids.flatMap((id, index) =>
    id !== undefined && ids.indexOf(id) < index ? [complain(id, index)] : [],
  );
}
