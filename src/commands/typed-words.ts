import { APOSTROPHES, DASHES as DASH, DOUBLE_QUOTES, unwrapSlackText } from '../core/names.ts';

/** Words after the slash word, without changes made by phones, keyboards and Slack. */
export interface Words {
  words: string[];
  flags: Record<string, string | true>;
  /** Options that no command has; `words` contains them too. */
  unknown?: string[] | undefined;
}

// Invisible characters, copied from other applications.
const MARKS = /(?:(?!\s)\p{Cc}|[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f])+/gu;

const DASHES =
  /(^|\s)(?:[\u2010-\u2015\u2212\ufe58\ufe63\uff0d-]{2}|[\u2010-\u2015\u2212\ufe58\ufe63\uff0d])(?=[a-z])/gi;

const SPACES = /\s+/g;

// A quoted or mentioned command has its slash word.
const SLASH_WORDS = /^(?:\/[\w-]+(?: |$))+/;

/** Characters at the end of a sentence. */
const ENDINGS: ReadonlySet<string> = new Set(' .,;:!?…');

// A word copied out of a message keeps its formatting: `name`, *name* or _name_.
const FORMATTED = /^([`*_])([^`*_]+)\1$/;

// A whole line copied with its quotes or formatting: “test storefront”.
const WRAPPED = /^(["'`*_])((?:(?!\1).)+)\1$/;

/** A channel picked in the composer. Only a command that moves something needs its id. */
const MOVED_TO = /(\bmove(?: \w{1,20}){0,3}) <#([A-Z0-9]+)(?:\|[^<>]*)?>/i;

/** A person with spaces in their name, as Slack's composer gives them, is one word. */
const SPACED_PERSON = /(?<!")(<@[A-Z0-9]{1,30}\|[^<>" ]{0,80} [^<>"]{0,80}>)/g;

/** Longer than any command. The rest is dropped first. */
const MAX_TYPED = 3_000;

/**
 * At most 3,000 characters with straight quotes, single spaces and no Slack link markup, in linear time.
 * Pure. Idempotent except for escaped entities.
 */
export function cleanCommandText(text: string): string {
  const typed = text.slice(0, MAX_TYPED).toWellFormed().replace(MARKS, '');
  const cleaned = unwrapSlackText(typed.replace(MOVED_TO, '$1 $2').replace(SPACED_PERSON, '"$1"'), true)
    .replace(DOUBLE_QUOTES, '"')
    .replace(APOSTROPHES, "'")
    .replace(SPACES, ' ')
    .replace(DASHES, '$1--')
    .trim()
    .slice(0, MAX_TYPED);
  return bareWords(cleaned);
}

/** Like `cleanCommandText`, but keeps the question mark at the end. */
export function cleanTypedText(text: string): string {
  const line = cleanCommandText(text);
  return line !== '' && /\?\s*$/.test(text.slice(-20)) ? `${line}?` : line;
}

/** Strips quotes, formatting, slash word and punctuation around a command. Each may hide another one. */
function bareWords(text: string): string {
  let end = text.length;
  while (end > 0 && ENDINGS.has(text[end - 1] ?? '')) end -= 1;
  const bare = text.slice(0, end).replace(WRAPPED, '$2').trim().replace(SLASH_WORDS, '');
  return bare === text ? bare : bareWords(bare);
}

/** A word as an option, with any dashes in it; undefined for another word. */
function readFlag(token: string): { name: string; value: string | undefined; isLong: boolean } | undefined {
  const plain = token.replace(/^[^"=]*/, (start) => start.replace(DASH, '-'));
  const [, dashes, name, value] = /^(--?)([a-z][a-z-]*)(?:=(.*))?$/i.exec(plain) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), value, isLong: dashes === '--' };
}

/**
 * Splits cleaned text at spaces, keeps quoted parts whole, and takes `--flag value` and `--flag=value` out.
 * @param options known options; any other is a word
 */
export function splitWords(
  text: string,
  switches: readonly string[] = [],
  options?: ReadonlySet<string>,
): Words {
  const tokens = splitTokens(cleanCommandText(text));
  const words: string[] = [];
  const flags: Record<string, string | true> = {};
  const unknown: string[] = [];
  const isOption = ({ name, isLong }: { name: string; isLong: boolean }): boolean =>
    options?.has(name) ?? (isLong || switches.includes(name));
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    const flag = readFlag(token);
    if (flag === undefined || !isOption(flag)) {
      words.push(unquote(token));
      if (flag?.isLong) unknown.push(flag.name);
      continue;
    }
    const following = switches.includes(flag.name) ? [] : tokens.slice(at + 1);
    const { value, length } = readValue(flag, words.length, following);
    flags[flag.name] = value;
    at += length;
  }
  return unknown.length === 0 ? { words, flags } : { words, flags, unknown };
}

const MENTION = 'mention';
/** A person has at most so many names. */
const MAX_NAMES = 4;

/** The value of an option, and how many of the following words it has. @param before number of words before the option */
function readValue(
  { name, value }: { name: string; value: string | undefined },
  before: number,
  [first, ...others]: readonly string[],
): { value: string | true; length: number } {
  if (value !== undefined) return { value: unquote(value), length: 0 };
  if (first === undefined || first.startsWith('--')) return { value: true, length: 0 };
  const length = name === MENTION && before > 1 ? countNameWords([first, ...others]) : 1;
  return { value: [first, ...others].slice(0, length).map(unquote).join(' '), length };
}

/** Number of words of "@Kim Lee". Slack passes on a name as it shows it, if the app does not ask for ids. */
function countNameWords([first = '', ...others]: readonly string[]): number {
  if (!/^@\p{L}/u.test(first)) return 1;
  const end = others.slice(0, MAX_NAMES - 1).findIndex((word) => !/^\p{Lu}/u.test(word));
  return 1 + (end === -1 ? Math.min(others.length, MAX_NAMES - 1) : end);
}

/** A single quote only opens at a word's start and closes at a word's end; elsewhere it is an apostrophe. */
export function splitTokens(text: string): string[] {
  const tokens = text.match(/'[^']+'(?=\s|$)|(?:[^\s"]*"[^"]*"[^\s"]*)+|[^\s]+/g) ?? [];
  return tokens.filter((token) => unquote(token) !== '');
}

function unquote(token: string): string {
  const single = /^'(.*)'$/.exec(token);
  const unformatted = (single?.[1] ?? token).replaceAll('"', '');
  return FORMATTED.exec(unformatted)?.[2] ?? unformatted;
}
