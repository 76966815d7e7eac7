import { HOUR_MS } from './time/clock.ts';

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

const MARKUP_SIGN = /[&<>*_~`:＊＿｀＞]/;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
// Backticks come one by one, because three in a row would begin a block of code.
const FORMATTING = /[*_~＊＿]+|[`｀]/g;
const BACKTICK = /[`｀]/;
const WORD_ENDS_BEFORE = /[\p{L}\p{N}]$/u;
const WORD_GOES_ON = /^[\p{L}\p{N}]/u;
// The text around it may add the second colon.
const EMOJI_NAME_AHEAD = /:(?=[\p{L}\p{M}\p{N}_＿+＋'-]{1,100}(?::|$))/gu;
const QUOTATION = /^(?=&gt;|＞)/;
const WORD_JOINER = '\u2060';

/** Invisible characters at the beginning of a text that may be more than those shown. */
const MAX_UNCLEAN = 1_000;

/** One line without control and bidi characters, cut at `max` UTF-16 units. An em dash replaces an empty result. */
export function sanitize(foreign: string | number | null | undefined, max = 150): string {
  // Cleaning makes a text shorter. Nobody looks beyond this.
  const text = String(foreign ?? '').slice(0, 4 * max + MAX_UNCLEAN);
  const line = ORDINARY.test(text) ? text : text.replace(SPACES, ' ').replace(INVISIBLE, '').trim();
  return line === '' ? '—' : truncate(line, max);
}

/**
 * Like `sanitize`, and escapes markup, so that Slack shows foreign text letter for letter: it makes no mention, link,
 * emoji, quotation or formatting. Not for the label of a link, which `link` makes.
 */
export function mrkdwn(foreign: string | number | null | undefined, max = 150): string {
  return escapeMarkup(sanitize(foreign, max));
}

/** A foreign identifier as inline code. Code cannot hold a backtick, so a text with one is no code. */
export function code(foreign: string | number | null | undefined, max = 80): string {
  const text = sanitize(foreign, max);
  return BACKTICK.test(text) ? escapeMarkup(text) : `\`${escapeEntities(text)}\``;
}

/** A link. Slack formats its label, so a label with escaped formatting comes before it. @param label mrkdwn */
export function link(url: string, label: string): string {
  return label.includes('<') ? `${label} (<${url}|open>)` : `<${url}|${label}>`;
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

export function isMarkup(part: unknown): part is Markup {
  return typeof part === 'object' && part !== null && 'type' in part && part.type === 'mrkdwn';
}

const TOKEN = /(<[^<>]*>)/;
// Bare domains and e-mail addresses need no mark, because posts and edits use `parse: none`.
const ADDRESS_SIGN = /(?<=[\p{L}\p{N}]):(?=\/\/)|\b(?:mailto|tel|javascript|data):/giu;

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
  return `*${mrkdwn(foreign, max)}*`;
}

/** A time in the reader's own zone, by Slack's date token. Clients that do not know the token show UTC. */
export function dateTime(at: number | string): string {
  return token(at, '{date_short_pretty} at {time}');
}

export function dateOnly(at: number | string): string {
  return token(at, '{date_short_pretty}');
}

/** A time, with its day if it is more than 12 hours before the other one. */
export function timeBefore(at: number, later: number): string {
  return later - at > 12 * HOUR_MS ? dateTime(at) : timeOnly(at);
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

/** The link that `link` writes after a label. */
const OPEN = / \(<[^<>|]*\|open>\)/g;

/** Turns mrkdwn into plain text, for fields without markup. */
export function unmarked(text: string): string {
  const plain = withoutFormatting(text).replace(/<(?:[^<>|]*\|)?([^<>]*)>/g, '$1');
  return unescapeMarkup(plain.replaceAll(WORD_JOINER, ''));
}

/**
 * Removes formatting from mrkdwn, for the `text` of a message, which phones show and screen readers read. Mentions and
 * times stay, because Slack shows them as words.
 */
export function withoutFormatting(text: string): string {
  return text
    .replace(OPEN, '')
    .split(TOKEN)
    .map((part, at) =>
      at % 2 === 1
        ? part.replace(/^<[^@!#|>][^|>]*\|(.*)>$/s, (_, label: string) => label.replaceAll('*', ''))
        : part.split(INLINE_CODE).map(withoutSigns).join(''),
    )
    .join('');
}

const INLINE_CODE = /(`[^`]*`)/;

/** @param at odd for code */
function withoutSigns(part: string, at: number): string {
  return at % 2 === 1
    ? part.slice(1, -1).replace(FORMATTING, escapeFormatting)
    : part.replaceAll('*', '').replace(/(?<![\p{L}\p{N}_])_([^_]+)_(?![\p{L}\p{N}_])/gu, '$1');
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

/** Like `truncate`, for mrkdwn: never cuts within `<…>` or an entity. */
export function truncateMarkup(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = truncate(text, max).slice(0, -ELLIPSIS.length);
  return start.replace(/<[^<>]*$|&[a-z]{0,3}$/, '') + ELLIPSIS;
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

/**
 * Joins whole lines of escaped mrkdwn, up to `max` characters, with "and N more" for the rest.
 * @param others number of lines that are left out before
 */
export function joinLinesWithin(lines: readonly string[], max: number, noun = 'more', others = 0): string {
  let used = 0;
  const head: string[] = [];
  for (const line of lines) {
    const reserve = 24;
    if (used + line.length + 1 > max - reserve) break;
    head.push(line);
    used += line.length + 1;
  }
  const omitted = lines.length - head.length + others;
  if (omitted > 0) head.push(`_and ${omitted} ${noun}_`);
  return head.join('\n');
}

/** "a, b, and 3 more": the first `max` texts. @param noun name of the others */
export function listFirst(texts: readonly string[], max: number, noun = 'more'): string {
  const omitted = texts.length - max;
  return [...texts.slice(0, max), ...(omitted > 0 ? [`and ${omitted} ${noun}`] : [])].join(', ');
}

/** "a, b and c" */
export function joinNames(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names);
}

/** "web-1, web-2 and 4 others" */
export function joinFirst(names: readonly string[], max = 3): string {
  const others = names.length - max + 1;
  return joinNames(names.length > max ? [...names.slice(0, max - 1), `${others} others`] : names);
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
  return withoutStop(`${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`);
}

/** Ends a text with a full stop, if it has no end. */
export function toSentence(text: string): string {
  return /[.!?…:]$/.test(text) ? text : `${text}.`;
}

export function withoutStop(text: string): string {
  return text.replace(/\.$/, '');
}

const SIGNS: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

export function unescapeMarkup(text: string): string {
  return text.replace(/&(?:amp|lt|gt);/g, (entity) => SIGNS[entity] ?? entity);
}

/** Escapes `&`, `<` and `>` alone, for text that nobody sees, and for code. */
export function escapeEntities(text: string): string {
  return text.replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? sign);
}

/** Escapes whatever Slack would read in a text with markup. */
export function escapeMarkup(text: string): string {
  // Most texts have no such sign.
  if (!MARKUP_SIGN.test(text)) return text;
  return escapeEntities(text)
    .replace(EMOJI_NAME_AHEAD, `:${WORD_JOINER}`)
    .replace(FORMATTING, escapeFormatting)
    .replace(QUOTATION, WORD_JOINER);
}

/**
 * Slack has no escape for these signs. It shows the fallback of a date without a valid format as it is, and copies the
 * same letters. Slack leaves underscores within a word alone.
 */
function escapeFormatting(signs: string, at: number, text: string): string {
  const end = at + signs.length;
  const isInWord =
    WORD_ENDS_BEFORE.test(text.slice(Math.max(0, at - 2), at)) && WORD_GOES_ON.test(text.slice(end, end + 2));
  return isInWord && /^_+$/.test(signs) ? signs : `<!date^00000000^{_}|${signs}>`;
}
