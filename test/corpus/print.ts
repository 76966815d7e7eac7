import process from 'node:process';
import { drawCorpus } from './corpus.ts';
import type { HandName, Sample, Shown } from './hand.ts';

/** The keys that hold what is read. */
const SHOWN = [
  'title',
  'text',
  'description',
  'fields',
  'accessory',
  'elements',
  'placeholder',
  'options',
  'deny',
];

/** Prints what people read, to be read aloud: `npm run corpus [-- <part of a builder's name> [<hand>]]`. */

const [wanted = '', hand = 'usual'] = process.argv.slice(2);
const samples = drawCorpus().filter(
  (sample) =>
    sample.hand === (hand as HandName) && sample.builder.toLowerCase().includes(wanted.toLowerCase()),
);
for (const sample of samples) process.stdout.write(`${asText(sample)}\n\n`);

function asText({ builder, what, shown }: Sample): string {
  return [`── ${builder}: ${what}`, ...linesOf(shown)].join('\n');
}

function linesOf(shown: Shown): string[] {
  if (Array.isArray(shown)) return shown.flatMap(blockLines);
  if ('entity_payload' in shown) return [JSON.stringify(shown.entity_payload, undefined, 1)];
  if ('next' in shown) return pageLines(shown);
  if ('text' in shown) return [`(notification) ${plain(shown.text)}`, ...shown.blocks.flatMap(blockLines)];
  const title = shown.type === 'home' ? 'App Home' : `${shown.title.text} (form)`;
  const ends = shown.type === 'home' ? [] : [`[${shown.submit?.text ?? ''}] [${shown.close?.text ?? ''}]`];
  return [title, ...shown.blocks.flatMap(blockLines), ...ends];
}

function pageLines({
  title,
  text,
  sections = [],
  next,
  links = [],
  form,
}: Extract<Shown, { next: string }>): string[] {
  const parts = sections.flatMap((section) => [
    `## ${section.title}`,
    ...section.items.map((item) => `• ${item}`),
  ]);
  const buttons = [...links, ...(form ? [form] : [])].map(({ label }) => `[${label}]`);
  return [`# ${title}`, text, ...parts, buttons.join(' '), next];
}

type Part = Readonly<Record<string, unknown>>;

function blockLines(block: object): string[] {
  const part = block as Part;
  switch (part.type) {
    case 'header':
      return [`# ${wordsOf(part.text)}`];
    case 'context':
      return [`  · ${listOf(part.elements).map(wordsOf).join('  ')}`];
    case 'actions':
      return [listOf(part.elements).map(wordsOf).join(' ')];
    case 'input':
      return [
        `${wordsOf(part.label)}: ${wordsOf(part.element)}${part.hint ? `  · ${wordsOf(part.hint)}` : ''}`,
      ];
    case 'plan':
      return [wordsOf(part.title), ...listOf(part.tasks).map((task) => `  - ${wordsOf(task)}`)];
    case 'table':
    case 'data_table':
      return listOf(part.rows).map((row) => `| ${listOf(row).map(wordsOf).join(' | ')} |`);
    case 'data_visualization':
      return [`<chart> ${String(part.title)}`];
    default:
      return [wordsOf(part)];
  }
}

/** What is read of an element, a text, a task or a section. */
function wordsOf(value: unknown): string {
  if (typeof value === 'string') return plain(value);
  if (Array.isArray(value)) return value.map(wordsOf).filter(Boolean).join(' ');
  if (typeof value !== 'object' || value === null) return '';
  const part = value as Part;
  switch (part.type) {
    case 'button':
      return `[${wordsOf(part.text)}]${part.confirm ? ` (asks: ${wordsOf(part.confirm)})` : ''}`;
    case 'overflow':
      return `[… ${wordsOf(part.options)}]`;
    case 'task_card':
      return `${String(part.status)} ${wordsOf(part.title)} ${wordsOf(part.output)}`;
    case 'image':
      return `<picture> ${wordsOf(part.alt_text)}`;
    default:
      return SHOWN.map((key) => wordsOf(part[key]))
        .filter(Boolean)
        .join(' ');
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Times by their fallback, mentions and channels by their ids. */
function plain(text: string): string {
  return text.replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1');
}
