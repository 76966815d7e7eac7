import process from 'node:process';
import { countWords, describeWording } from '../support/sent.ts';
import { describeEntry, type Entry, openCorpus } from './recording.ts';

/**
 * Prints messages and forms that the tests send to Slack, to be read aloud: `npm run corpus [-- <words>]`. Each has a
 * line that those above it lack, except for names and numbers. A message begins with its `text`, which phones show and
 * screen readers read.
 */

/** Keys of a block that hold what a person reads; no icons, no pictures. */
const SHOWN = [
  ...['caption', 'title', 'tasks', 'output', 'text', 'fields', 'accessory', 'elements', 'placeholder'],
  ...['rows', 'label', 'hint', 'confirm', 'deny', 'options', 'option_groups', 'alt_text'],
];

interface Content {
  text?: string;
  title?: object;
  submit?: object;
  close?: object;
  blocks?: object[];
}

const words = process.argv.slice(2).join(' ').toLowerCase();
const printed = new Set<string>();
for (const entry of openCorpus()) {
  const { text: spoken } = entry.content as Content;
  const text = describeContent(entry);
  const lines = text.split('\n').map((line) => describeWording(line.trim()));
  const isAsked = `${spoken ?? ''}\n${text}`.toLowerCase().includes(words);
  if (!isAsked || lines.every((line) => printed.has(line))) continue;
  for (const line of lines) printed.add(line);
  const title =
    spoken === undefined
      ? describeEntry(entry)
      : `message, ${countWords(spoken)} words of ${countWords(text)}`;
  const said = spoken === undefined ? '' : `text: ${withoutDates(spoken)}\n\n`;
  process.stdout.write(`── ${title}\n${said}${text}\n\n`);
}

function describeContent({ content }: Entry): string {
  const { title = {}, submit, close, blocks = [] } = content as Content;
  const parts = [title, ...blocks, { elements: [submit, close] }];
  return withoutDates(parts.map(readText).join('\n').trimStart())
    .replace(/ {3,}/g, '  ')
    .replace(/\n\s*(?=\n|$)/g, '');
}

function readText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (Array.isArray(part)) return part.map(readText).join(' ');
  if (typeof part !== 'object' || part === null) return '';
  return SHOWN.map((key) => readText((part as Record<string, unknown>)[key])).join(' ');
}

function withoutDates(text: string): string {
  return text.replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1');
}
