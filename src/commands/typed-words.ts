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

/** Longer than any command. The rest is dropped first. */
const MAX_TYPED = 3_000;

/**
 * At most 3,000 characters with straight quotes, single spaces and no Slack link markup, in linear time.
 * Pure. Idempotent except for escaped entities.
 */
export function cleanCommandText(text: string): string {
  const cleaned = unwrapSlackText(text.slice(0, MAX_TYPED).toWellFormed().replace(MARKS, ''))
    .replace(DOUBLE_QUOTES, '"')
    .replace(APOSTROPHES, "'")
    .replace(SPACES, ' ')
    .replace(DASHES, '$1--')
    .trim()
    .slice(0, MAX_TYPED);
  return bareWords(cleaned);
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
    const { name, value } = flag;
    const next = tokens[at + 1];
    if (value !== undefined) flags[name] = unquote(value);
    else if (switches.includes(name) || next === undefined || next.startsWith('--')) flags[name] = true;
    else {
      flags[name] = unquote(next);
      at += 1;
    }
  }
  return unknown.length === 0 ? { words, flags } : { words, flags, unknown };
}

/** A single quote only opens at a word's start and closes at a word's end; elsewhere it is an apostrophe. */
function splitTokens(text: string): string[] {
  const tokens = text.match(/'[^']+'(?=\s|$)|(?:[^\s"]*"[^"]*"[^\s"]*)+|[^\s]+/g) ?? [];
  return tokens.filter((token) => unquote(token) !== '');
}

function unquote(token: string): string {
  const single = /^'(.*)'$/.exec(token);
  const unformatted = (single?.[1] ?? token).replaceAll('"', '');
  return FORMATTED.exec(unformatted)?.[2] ?? unformatted;
}
