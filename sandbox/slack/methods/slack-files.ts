import { fault } from '../block-kit/explain.ts';
import type { Json, Workspace } from '../state/types.ts';

const PICTURES = new Set(['png', 'jpg', 'jpeg', 'gif']);

/** Faults of image blocks whose `slack_file` is not an uploaded picture of this workspace. */
export function missingSlackFiles(workspace: Workspace, blocks: readonly unknown[], root: string): string[] {
  return blocks.flatMap((block, at) =>
    imagesIn(block).flatMap(({ image, path }) =>
      isPicture(workspace, image.slack_file)
        ? []
        : [fault('invalid slack file', root, [at, ...path, 'slack_file'])],
    ),
  );
}

function imagesIn(block: unknown): { image: Json; path: (string | number)[] }[] {
  if (!isRecord(block)) return [];
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
