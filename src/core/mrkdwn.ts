import type { Message } from './message.ts';

/**
 * Cleans foreign text (from the service, people, files) for Slack. `mrkdwn` is for places with markup,
 * `sanitize` for the rest. Views pass each foreign text through one of them.
 */

const ELLIPSIS = '…';

// Control characters, halves of characters, tags, and marks that change or hide the text direction.
const INVISIBLE =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
// Most texts match this, and need no cleaning.
const ORDINARY = /^[!-~]+(?: [!-~]+)*$/;
const SPACES = /[\t\n\r\v\f\u0085\u2028\u2029 ]+/g;

const MARKUP_SIGN = /[&<>]/;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Invisible characters at the beginning of a text that may be more than those shown. */
const MAX_UNCLEAN = 1_000;

/** One line without control and bidi characters, cut at `max` UTF-16 units. An em dash replaces an empty result. */
export function sanitize(foreign: string | number | null | undefined, max = 150): string {
  // Cleaning makes a text shorter. Nobody looks beyond this.
  const text = String(foreign ?? '').slice(0, 4 * max + MAX_UNCLEAN);
  const line = ORDINARY.test(text) ? text : text.replace(SPACES, ' ').replace(INVISIBLE, '').trim();
  return line === '' ? '—' : truncate(line, max);
}

/** Like `sanitize`, and escapes markup, so that foreign text makes no mention, link or channel call. */
export function mrkdwn(foreign: string | number | null | undefined, max = 150): string {
  return escapeMarkup(sanitize(foreign, max));
}

/** A foreign identifier as inline code. Its own backticks cannot end the code. */
export function code(foreign: string | number | null | undefined, max = 80): string {
  return `\`${mrkdwn(foreign, max).replaceAll('`', 'ˋ')}\``;
}

/** Slack's text object with markup, in the form that Deckhand sends. */
export interface Markup {
  type: 'mrkdwn';
  text: string;
  verbatim: true;
}

/**
 * The only text object with markup that Deckhand sends. It is `verbatim`, so Slack makes no links, mentions
 * or channels from plain words. Only Deckhand's own `<…>` is live.
 * @param text mrkdwn; its foreign parts must be escaped
 */
export function mrkdwnText(text: string): Markup {
  return { type: 'mrkdwn', text, verbatim: true };
}

const TOKEN = /(<[^<>]*>)/;
// Bare domains and e-mail addresses need no mark, because posts and edits use `parse: none`.
const ADDRESS_SIGN = /(?<=[\p{L}\p{N}]):(?=\/\/)|\b(?:mailto|tel|javascript|data):/giu;
const WORD_JOINER = '\u2060';

/**
 * For the plain `text` of a message, which has no `verbatim`. An invisible mark in each address stops Slack
 * from linking it. Deckhand's own `<…>` stays.
 */
export function withoutLiveAddresses(text: string): string {
  return text
    .split(TOKEN)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(ADDRESS_SIGN, (sign) => sign + WORD_JOINER)))
    .join('');
}

export function bold(foreign: string | number | null | undefined, max = 80): string {
  return `*${mrkdwn(foreign, max).replaceAll('*', '∗')}*`;
}

/** A time in the reader's own zone, by Slack's date token. Clients that do not know the token show UTC. */
export function dateTime(at: number | string): string {
  return token(at, '{date_short_pretty} at {time}');
}

export function dateOnly(at: number | string): string {
  return token(at, '{date_short_pretty}');
}

export function timeOnly(at: number | string): string {
  return token(at, '{time}');
}

function token(at: number | string, format: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '—';
  const [day, time = ''] = date.toISOString().split('T');
  return `<!date^${Math.floor(date.getTime() / 1000)}^${format}|${day} ${time.slice(0, 5)} UTC>`;
}

/** "1 min 20 s". @param ms a duration in milliseconds */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** Turns mrkdwn into plain text, for fields without markup. */
export function unmarked(text: string): string {
  return unescapeMarkup(text.replace(/<(?:[^<|>]*\|)?([^<>]*)>/g, '$1').replace(/`([^`]*)`|[`*]/g, '$1'));
}

/** Cuts a text to at most `max` UTF-16 units, but never within a code point. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = 0;
  for (const point of text) {
    if (end + point.length > max - 1) break;
    end += point.length;
  }
  return text.slice(0, end) + ELLIPSIS;
}

/** The first code points of a text. */
export function takeStart(text: string, characters: number): string {
  let length = 0;
  let remaining = characters;
  for (const point of text) {
    if (remaining === 0) break;
    length += point.length;
    remaining -= 1;
  }
  return text.slice(0, length);
}

/** Joins whole lines of escaped mrkdwn, up to `max` characters, with "and N more" for the rest. */
export function joinLinesWithin(lines: readonly string[], max: number, noun = 'more'): string {
  let used = 0;
  const head: string[] = [];
  for (const line of lines) {
    const reserve = 24;
    if (used + line.length + 1 > max - reserve) break;
    head.push(line);
    used += line.length + 1;
  }
  const omitted = lines.length - head.length;
  if (omitted > 0) head.push(`_and ${omitted} ${noun}_`);
  return head.join('\n');
}

/** "a, b, and 3 more": the first `max` texts. @param noun name of the others */
export function listFirst(texts: readonly string[], max: number, noun = 'more'): string {
  const omitted = texts.length - max;
  return [...texts.slice(0, max), ...(omitted > 0 ? [`and ${omitted} ${noun}`] : [])].join(', ');
}

/** "Deploy completed" */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : plural}`;
}

/** Turns a sentence into a clause for use in another sentence. */
export function toClause(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}

const SIGNS: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

export function unescapeMarkup(text: string): string {
  return text.replace(/&(?:amp|lt|gt);/g, (entity) => SIGNS[entity] ?? entity);
}

export function escapeMarkup(text: string): string {
  // Most texts have no such sign.
  return MARKUP_SIGN.test(text) ? text.replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? sign) : text;
}

/** `chat.update` rejects longer texts. */
const MAX_TEXT = 4000;

/**
 * Prepares a message for Slack, so that no address in its `text` becomes a link. `response_url` has no option
 * for that.
 */
export function disableAutolinks({ text, blocks }: Message): Message {
  return { text: truncate(withoutLiveAddresses(text), MAX_TEXT), blocks };
}
