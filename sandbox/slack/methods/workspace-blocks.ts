import { fault } from '../block-kit/explain.ts';
import { policyOf } from '../state/policies.ts';
import type { Json, Workspace } from '../state/types.ts';

const PICTURES = new Set(['png', 'jpg', 'jpeg', 'gif']);

/**
 * Faults of blocks that depend on the workspace: types that its policies refuse, and pictures by a `slack_file` that is
 * not an uploaded picture of it.
 */
export function checkInWorkspace(workspace: Workspace, blocks: unknown, root: string): string[] {
  if (!Array.isArray(blocks)) return [];
  const refused = policyOf(workspace, 'refusedBlocks') ?? [];
  return blocks.flatMap((block: unknown, at) => {
    if (!isRecord(block)) return [];
    const type = String(block.type);
    return [
      ...(refused.includes(type) ? [fault(`unsupported type: ${type}`, root, [at, 'type'])] : []),
      ...imagesIn(block)
        .filter(({ image }) => !isPicture(workspace, image.slack_file))
        .map(({ path }) => fault('invalid slack file', root, [at, ...path, 'slack_file'])),
    ];
  });
}

function imagesIn(block: Json): { image: Json; path: (string | number)[] }[] {
  const inside = Array.isArray(block.elements) ? block.elements : [];
  const places = [
    { image: block, path: [] },
    { image: block.accessory, path: ['accessory'] },
    ...inside.map((element: unknown, index) => ({ image: element, path: ['elements', index] })),
  ];
  return places.flatMap(({ image, path }) =>
    isRecord(image) && image.type === 'image' && isRecord(image.slack_file) ? [{ image, path }] : [],
  );
}

function isPicture(workspace: Workspace, given: unknown): boolean {
  if (!isRecord(given)) return false;
  const file = [...workspace.files.values()].find(
    (one) => one.completed && (one.id === given.id || String(given.url ?? ' ').includes(one.id)),
  );
  return file !== undefined && PICTURES.has(file.filetype);
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
