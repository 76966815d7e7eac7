import type { SeenMessage } from '../../sandbox/slack/state/types.ts';

type Part = Record<string, unknown>;

/** What a person reads of messages: texts, labels of buttons and menus, cells; no icons, no pictures. */
export function visibleText(messages: readonly Pick<SeenMessage, 'blocks'>[]): string {
  return messages.flatMap(({ blocks }) => (blocks ?? []).map(textOf)).join('\n');
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

function textOf(part: unknown): string {
  if (typeof part === 'string') return part;
  if (Array.isArray(part)) return part.map(textOf).join(' ');
  if (typeof part !== 'object' || part === null) return '';
  return SHOWN.map((key) => textOf((part as Part)[key])).join(' ');
}
