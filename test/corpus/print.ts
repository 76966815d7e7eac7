import process from 'node:process';
import { describeWording } from '../support/sent.ts';
import { describeEntry, type Entry, openCorpus } from './recording.ts';

/**
 * Prints messages and forms that the tests send to Slack, to be read aloud: `npm run corpus [-- <words>]`. Each has a
 * line that those above it lack, except for names and numbers.
 */

/** Keys of a block that hold what a person reads; no icons, no pictures. */
const SHOWN = [
  ...['caption', 'title', 'tasks', 'output', 'text', 'fields', 'accessory', 'elements', 'placeholder'],
  ...['rows', 'label', 'hint', 'confirm', 'deny', 'options', 'option_groups', 'alt_text'],
];

const words = process.argv.slice(2).join(' ').toLowerCase();
const printed = new Set<string>();
for (const entry of openCorpus()) {
  const text = describeContent(entry);
  const lines = text.split('\n').map((line) => describeWording(line.trim()));
  if (!text.toLowerCase().includes(words) || lines.every((line) => printed.has(line))) continue;
  for (const line of lines) printed.add(line);
  process.stdout.write(`── ${describeEntry(entry)}\n${text}\n\n`);
}

function describeContent({ content }: Entry): string {
  const {
    title = {},
    submit,
    close,
    blocks = [],
  } = content as Record<string, object> & { blocks?: object[] };
  const parts = [title, ...blocks, { elements: [submit, close] }];
  return parts
    .map(readText)
    .join('\n')
    .trimStart()
    .replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
    .replace(/ {3,}/g, '  ')
    .replace(/\n\s*(?=\n|$)/g, '');
}

function readText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (Array.isArray(part)) return part.map(readText).join(' ');
  if (typeof part !== 'object' || part === null) return '';
  return SHOWN.map((key) => readText((part as Record<string, unknown>)[key])).join(' ');
}
