import type { TaskCardBlock } from '@slack/types';
import { isObject } from './json.ts';
import type { KnownBlock, Message } from './message.ts';
import {
  escapeMarkup,
  isMarkup,
  toSentence,
  truncateMarkup,
  unescapeMarkup,
  withoutFormatting,
  withoutLiveAddresses,
} from './mrkdwn.ts';

/**
 * The `text` of a message, which phones show and screen readers read in place of its blocks: the headline, then what
 * the blocks say, row by row, without formatting.
 */

/** A longer text is no notification. */
const MAX_TEXT = 1_500;
/** Maximum number of rows of a list. */
const MAX_ROWS = 20;
/** Room for "And 12 more." */
const RESERVE = 24;

/** Prepares a message for Slack, with its whole text. */
export function prepareMessage(message: Message): Pick<Message, 'text' | 'blocks'> {
  return { text: describeMessage(message), blocks: message.blocks };
}

/** The whole message without formatting, in which no address becomes a link. Mentions and times stay, because Slack shows them as words. */
export function describeMessage({ text, blocks, isTextWhole }: Message): string {
  if (isTextWhole === true) return truncateMarkup(unformat(text), MAX_TEXT);
  const [first = '', ...more] = text.split('\n');
  const headline = unformat(first);
  const headlineWords = new Set([...listWords(headline), ...SMALL_WORDS]);
  const own = splitLines(more.join('\n')).map((line) => ({ ...line, text: unformat(line.text) }));
  const texts = [headline, ...own.map((line) => line.text)].map(reduceWords);
  const added = blocks.flatMap(readBlock).flatMap(({ text: formatted, ...line }) => {
    const words = unformat(formatted);
    const isTitle = line.isTitle && listWords(words).every((word) => headlineWords.has(word));
    const isRepeated = texts.some((one) => one.includes(reduceWords(words)));
    return isTitle || isRepeated ? [] : [{ ...line, text: words }];
  });
  const lines = [...own, ...added];
  return lines.length === 0 ? truncateMarkup(headline, MAX_TEXT) : joinSentences(headline, lines);
}

/** A line of a block; mrkdwn. */
interface Line {
  text: string;
  /** True for an item of a list. */
  isRow?: boolean;
  /** True for a header or the first section, which may repeat the headline in other words. */
  isTitle?: boolean;
}

/** Words that a title may have beyond those of the headline. */
const SMALL_WORDS = ['a', 'and', 'by', 'for', 'in', 'of', 'on', 'the', 'this'];

/**
 * A headline and the rows of a list, each as a sentence without formatting. Tells how many rows are left out.
 * @param omitted number of rows that are not given; `end`: the last sentence, for which there is always room
 */
export function describeList(
  headline: string,
  rows: readonly string[],
  { omitted = 0, end = '', max = MAX_TEXT }: { omitted?: number; end?: string; max?: number } = {},
): string {
  const last = end === '' ? '' : ` ${toSentence(unformat(end))}`;
  const lines: Line[] = rows.map((row) => ({ text: unformat(row), isRow: true }));
  if (omitted > 0) lines.push({ text: `and ${omitted} more` });
  return `${joinSentences(unformat(headline), lines, max - last.length)}${last}`;
}

/** Cuts the rows of a list after the twentieth, and the whole where there is no more room. */
function joinSentences(headline: string, lines: readonly Line[], max = MAX_TEXT): string {
  let text = truncateMarkup(toSentence(headline), max - RESERVE);
  let rows = 0;
  let omitted = 0;
  for (const { text: line, isRow = false } of lines) {
    const more = Number(/^and (\d+) more$/.exec(line)?.[1] ?? 0);
    const sentence = ` ${toSentence(line)}`;
    const isFull = text.length + sentence.length > max - RESERVE;
    if (more > 0 && (omitted > 0 || isFull)) omitted += more;
    else if (isRow && (omitted > 0 || isFull || rows === MAX_ROWS)) omitted += 1;
    else if (!isFull) {
      text += sentence;
      rows += Number(isRow);
    }
  }
  return omitted === 0 ? text : `${text} And ${omitted} more.`;
}

function readBlock(block: KnownBlock, at: number): Line[] {
  switch (block.type) {
    case 'header':
      return [{ text: escapeMarkup(block.text.text), isTitle: true }];
    case 'section': {
      const lines = block.text === undefined ? [] : splitLines(readTextObject(block.text));
      const fields =
        block.fields?.map((field) => ({ text: readTextObject(field).replace(/\n/g, ': ') })) ?? [];
      const [first] = lines;
      return lines.length === 1 && first !== undefined && at < 2
        ? [{ ...first, isTitle: true }]
        : [...lines, ...fields];
    }
    case 'context':
      return readContext(
        block.elements.flatMap((element) => ('text' in element ? [readTextObject(element)] : [])),
      );
    case 'plan':
      return readTasks((block.tasks ?? []) as TaskCardBlock[]);
    case 'rich_text':
      return splitLines(readRichText(block));
    case 'table':
    case 'data_table':
      return readTable(block.rows);
    case 'data_visualization':
      return readChart(block);
    default:
      return [];
  }
}

/** Notes beside each other: one sentence, unless one of them is a sentence itself. */
function readContext(texts: readonly string[]): Line[] {
  const areSentences = texts.some((text) => /[.!?]$/.test(text));
  return areSentences ? texts.map((text) => ({ text })) : [{ text: texts.join(', ') }];
}

type TextObject = { type: string; text: string };

function readTextObject(part: TextObject): string {
  return isMarkup(part) ? part.text : escapeMarkup(part.text);
}

/** The lines of a section: those of a list are its rows, those in bold alone are headings. */
function splitLines(formatted: string): Line[] {
  const lines = formatted
    .replaceAll('```', '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((text) => ({ text, isRow: lines.length > 1 && !/^\*[^*]*\*$/.test(text) }));
}

const TASK_STATES = { pending: 'Waiting', in_progress: 'In progress', complete: 'Done' } as const;

/** Failed tasks with their reasons, and the names of the others. */
function readTasks(tasks: readonly TaskCardBlock[]): Line[] {
  const failed = tasks.filter(({ status }) => status === 'error');
  const rows = failed.map(({ title, output }) => {
    const reason = output === undefined ? '' : `: ${readRichText(output)}`;
    return { text: `${escapeMarkup(title)}${reason}`, isRow: true };
  });
  const others = Object.entries(TASK_STATES).flatMap(([status, words]) => {
    const names = tasks.filter((task) => task.status === status).map(({ title }) => escapeMarkup(title));
    return names.length === 0 ? [] : [{ text: `${words}: ${names.join(', ')}` }];
  });
  return [...rows, ...others];
}

/** Plain and rich text; mrkdwn. */
function readRichText(part: unknown): string {
  if (!isObject(part)) return '';
  const { type, text, elements } = part;
  if (typeof text === 'string') return escapeMarkup(text);
  if (type === 'user') return `<@${part.user_id}>`;
  if (type === 'channel') return `<#${part.channel_id}>`;
  if (type === 'date') return `<!date^${part.timestamp}^${part.format}|${part.fallback}>`;
  const parts: unknown[] = Array.isArray(elements) ? elements : [];
  return parts.map(readRichText).join(type === 'rich_text' ? '\n' : '');
}

/** The rows of a table, after the titles of its columns. */
function readTable(rows: ReadonlyArray<readonly object[]>): Line[] {
  const [titles, ...others] = rows.map((row) => {
    const cells = row.map(readRichText).filter((text) => !['', '—'].includes(text));
    return cells.join(', ');
  });
  return [{ text: titles ?? '' }, ...others.map((text) => ({ text, isRow: true }))];
}

/** "Deployments by day. 3 Oct: 4 succeeded, 1 failed"; days without any are left out. */
function readChart({ title, chart }: Extract<KnownBlock, { type: 'data_visualization' }>): Line[] {
  const rows = chart.axis_config.categories.flatMap((label) => {
    const parts = chart.series.flatMap(({ name, data }) => {
      const value = data.find((point) => point.label === label)?.value ?? 0;
      return value === 0 ? [] : [`${value} ${name.toLowerCase()}`];
    });
    return parts.length === 0 ? [] : [{ text: escapeMarkup(`${label}: ${parts.join(', ')}`), isRow: true }];
  });
  return rows.length === 0 ? [] : [{ text: escapeMarkup(title) }, ...rows];
}

/** Names of emoji that Deckhand writes; an invisible mark keeps those of others apart. */
const EMOJI = /:[a-z0-9_+-]{1,40}:/g;
/** A bold word before two spaces names what follows. */
const LABEL = /^((?::[a-z_]{1,40}: )?(?:• )?)\*([^*]+)\* {2}(?=\S)/;
/** A colon after `groups:read` would make an emoji of it. */
const ENDS_AS_EMOJI = /:[a-z0-9_+-]+`$/;
const LIST_SIGN = /^(?:[•>]|&gt;)\s*/;

function unformat(formatted: string): string {
  const text = formatted
    .replace(
      LABEL,
      (_, sign: string, label: string) => `${sign}${label}${ENDS_AS_EMOJI.test(label) ? '' : ':'} `,
    )
    .split(/(<[^<>]*>|`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(EMOJI, '').replace(/ · /g, ', ')))
    .join('')
    .replace(/<(https?:[^<>|]*)>/g, '$1')
    .replace(/▇+/g, '')
    .replace(/[▲▼] /g, (sign) => (sign === '▲ ' ? 'up ' : 'down '));
  const plain = withoutFormatting(text).replace(/\s+/g, ' ').trim().replace(LIST_SIGN, '');
  // Before the text is cut, because the invisible marks count.
  return withoutLiveAddresses(plain);
}

/** The text as whole words of letters and digits, for comparison. */
function reduceWords(text: string): string {
  return ` ${listWords(text).join(' ')} `;
}

function listWords(text: string): string[] {
  return (
    unescapeMarkup(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}
