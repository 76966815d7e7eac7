/**
 * Text that a person reads in messages: texts, labels of buttons and menus, cells; no icons, no pictures.
 *
 * @param more keys of a block whose text is read too
 */
export function visibleText(
  messages: readonly { blocks?: object[] | undefined }[],
  more: string[] = [],
): string {
  const keys = [...SHOWN, ...more];
  return messages.flatMap(({ blocks = [] }) => blocks.map((block) => readText(block, keys))).join('\n');
}

export function countWords(text: string): number {
  const shown = text.replace(DATE, 'Nov 22, 2026 at 9:00 AM').replace(/:[a-z_]+:/g, ' ');
  return shown.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** A date and time, as Slack shows the token. */
const DATE = /<!date\^[^>]*>/g;
/** Keys of a block that hold what is shown. */
const SHOWN = [
  'caption',
  'title',
  'tasks',
  'output',
  'text',
  'fields',
  'accessory',
  'elements',
  'placeholder',
  'rows',
  'label',
  'hint',
];

function readText(part: unknown, keys: readonly string[]): string {
  if (typeof part === 'string') return part;
  if (Array.isArray(part)) return part.map((item) => readText(item, keys)).join(' ');
  if (typeof part !== 'object' || part === null) return '';
  return keys.map((key) => readText((part as Record<string, unknown>)[key], keys)).join(' ');
}
