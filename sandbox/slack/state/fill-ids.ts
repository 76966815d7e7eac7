import { shortId } from './ids.ts';
import type { Json } from './types.ts';

const NO_ACTION = new Set(['image', 'plain_text', 'mrkdwn']);

/** Gives blocks and interactive elements the ids that Slack makes up where the app gave none. */
export function fillIds(blocks: readonly Json[]): Json[] {
  return blocks.map((block) => {
    const filled: Json = { ...block, block_id: block.block_id ?? shortId() };
    if (isElement(block.accessory)) filled.accessory = withActionId(block.accessory);
    if (isElement(block.element)) filled.element = withActionId(block.element);
    if (block.type === 'actions' && Array.isArray(block.elements)) {
      filled.elements = block.elements.map((element: Json) => withActionId(element));
    }
    return filled;
  });
}

/** The elements that a person can use, each with its block. */
export function elementsOf(blocks: readonly Json[]): { block: Json; element: Json }[] {
  return blocks.flatMap((block) => {
    const list = block.type === 'actions' && Array.isArray(block.elements) ? block.elements : [];
    return [block.element, block.accessory, ...list]
      .filter(isElement)
      .filter((element) => !NO_ACTION.has(String(element.type)))
      .map((element) => ({ block, element }));
  });
}

function withActionId(element: Json): Json {
  if (NO_ACTION.has(String(element.type))) return element;
  return { ...element, action_id: element.action_id ?? shortId() };
}

function isElement(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
