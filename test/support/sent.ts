import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { SENT, type Sent } from '../../sandbox/slack/block-kit/sent.ts';

/** Slack rejects blocks of much over 13,000 characters in all; its documentation does not say so. */
const MAX_TEXT = 13_000;
/** `chat.update` rejects longer text. */
const MAX_MESSAGE_TEXT = 4_000;
/** More is too long to be read aloud. */
const MAX_SPOKEN = 1_500;

/** Holds all that Deckhand sends to Slack's limits. @returns a function that ends this, which throws what was broken */
export function holdToLimits(): () => void {
  const broken: string[] = [];
  const listen = (message: unknown): void => {
    const sent = message as Sent;
    broken.push(...sent.faults, ...findOwnFaults(sent));
    record(sent);
  };
  SENT.subscribe(listen);
  return () => {
    SENT.unsubscribe(listen);
    if (broken.length > 0) throw new Error(`Slack rejects what Deckhand sent:\n${broken.join('\n')}`);
  };
}

/** Limits of messages beyond those of their blocks. */
function findOwnFaults({ kind, content }: Sent): string[] {
  if (kind !== 'message') return [];
  const { text, blocks } = content as { text?: string; blocks: unknown };
  const length = JSON.stringify(blocks).length > MAX_TEXT ? measureText(blocks) : 0;
  return [
    ...(length > MAX_TEXT ? [`${length} characters in the blocks of “${text?.slice(0, 60)}”`] : []),
    ...(text === '' ? [`no text for the notification of ${JSON.stringify(blocks).slice(0, 200)}`] : []),
    ...((text?.length ?? 0) > MAX_MESSAGE_TEXT ? [`the text of “${text?.slice(0, 60)}” is too long`] : []),
    ...findSpokenFaults(text ?? '', blocks),
  ];
}

/** Mentions and times, which Slack shows as words, and the invisible mark in foreign text. */
const LIVE = /<(?:[@#][^>]*|![^>]*)>|\u2060/g;
const MARKUP = /[*`<>]|:[a-z_]+:/;
/** A message whose blocks have more words is more than a headline. */
const MANY_WORDS = 24;
/** A text of this length may lack some of the rows. */
const LONG_TEXT = 900;

/** Faults of the text that phones show and screen readers read. */
function findSpokenFaults(text: string, blocks: unknown): string[] {
  const plain = text.replace(LIVE, (live) => (live === '\u2060' ? live : ''));
  const words = new Set(listWords(readShown(blocks)));
  const spoken = new Set(listWords(text));
  const missing = [...words].filter((word) => !spoken.has(word));
  const isHalf = words.size > MANY_WORDS && text.length < LONG_TEXT && missing.length > words.size * (2 / 3);
  const name = `the text of “${text.slice(0, 80)}”`;
  return [
    ...(MARKUP.test(plain) ? [`${name} has markup: ${plain.slice(0, 1_500)}`] : []),
    ...(text.length > MAX_SPOKEN ? [`${name} has ${text.length} characters`] : []),
    ...(isHalf
      ? [`${name} lacks ${missing.length} of ${words.size} words of the blocks: ${missing.join(' ')}`]
      : []),
  ];
}

/** Text of the blocks, without that of buttons and menus. */
function readShown(part: unknown): string {
  if (typeof part === 'string') return part;
  if (Array.isArray(part)) return part.map(readShown).join(' ');
  if (typeof part !== 'object' || part === null || ('type' in part && part.type === 'actions')) return '';
  const { text, fields, elements, tasks, title, output, rows } = part as Record<string, unknown>;
  return [text, fields, elements, tasks, title, output, rows].map(readShown).join(' ');
}

function listWords(text: string): string[] {
  const plain = text.replace(/<[^|>]*\|([^>]*)>/g, '$1').replace(/:[a-z_]+:/g, ' ');
  return plain.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

export function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
}

export function measureText(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + measureText(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, item]) =>
      sum + (['text', 'title'].includes(key) || typeof item === 'object' ? measureText(item) : 0),
    0,
  );
}

/** Names the folder in which each worker records what it sends, as lines of JSON. */
export const RECORDING = 'DECKHAND_TEST_RECORDING';
const file = `${randomUUID()}.jsonl`;
const recorded = new Set<string>();

/** Records each wording of each shape once. */
function record({ kind, content }: Sent): void {
  const folder = process.env[RECORDING];
  if (folder === undefined) return;
  const shape = `${folder} ${describeShape(content, describeWording)}`;
  const key = createHash('sha256').update(shape).digest('base64');
  if (recorded.has(key)) return;
  recorded.add(key);
  appendFileSync(join(folder, file), `${JSON.stringify({ kind, content })}\n`);
}

/** Values that say what something is. */
const NAMES = new Set(['type', 'style', 'status', 'callback_id']);
/** Values that tell one record from another. */
const IDS = new Set(['private_metadata', 'block_id', 'action_id', 'value', 'url', 'client_msg_id']);

/** The tree of types and keys, with texts as `describe` has them and lists by the shapes of their items. */
export function describeShape(value: unknown, describe: (text: string) => string, key = ''): string {
  if (typeof value === 'string') return NAMES.has(key) ? value : IDS.has(key) ? '' : describe(value);
  if (Array.isArray(value)) {
    const items = new Set(value.map((item) => describeShape(item, describe, key)));
    return `[${describeLength(value.length)} ${[...items].join(' ')}]`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([name, part]) => `${name}:${describeShape(part, describe, name)}`);
  return `{${parts.join(' ')}}`;
}

/** The length by powers of four. */
export function describeLength(length: number): string {
  return length === 0 ? '0' : `4^${Math.ceil(Math.log(length) / Math.log(4))}`;
}

/** The words without names, numbers and times. */
export function describeWording(text: string): string {
  const names = /<[^>]*>|`[^`]*`|\*[^*]*\*|“[^”]*”|\b(?:acme|Storefront|Billing API|web-\d)\b|[\d.:,•]+/g;
  return `${describeLength(text.length)} ${text.slice(0, 3_000).replace(names, '#')}`;
}
