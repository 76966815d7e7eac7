import { distance } from 'fastest-levenshtein';
import { forEachInTurns } from './concurrency.ts';
import { unescapeMarkup } from './mrkdwn.ts';

/**
 * Compares names that people type. Keyboards, phones and Slack change the spelling, so both sides of every
 * comparison pass through `nameKey`.
 */

/** Maximum compared length of a name, in UTF-16 units. NFKC can turn one character into eighteen. */
const MAX_COMPARED = 200;

const PLAIN = /^[ -~]*$/;
const SPACES = /\s+/g;
export const DOUBLE_QUOTES = /[\u201c-\u201f\u00ab\u00bb\u2033\uff02]/g;
export const APOSTROPHES = /[\u2018-\u201b\u2032\u2039\u203a\u00b4\u02bc\uff07]/g;
export const DASHES = /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g;

/** Marks that nobody sees, such as those with which `core/mrkdwn.ts` shows a name letter for letter. */
const HIDDEN = /[\u00ad\u200b\u2060]/g;

/** `<https://a.example|label>`, `<mailto:a@b.example|label>`, `<#C1|general>`, `<@U1|ann>` */
const SLACK_LINK = /<((?:https?:\/\/|mailto:|tel:)[^|<>\s]+|[#@][A-Z0-9]+)(?:\|([^<>]*))?>/g;

/**
 * The typed text, without Slack's links and escapes. A link becomes its label, which the person typed. A
 * project's address stays, because it says more.
 * @param keepsPeople true to leave people as they are, with their id
 */
export function unwrapSlackText(text: string, keepsPeople = false): string {
  const unlinked = text
    .replace(HIDDEN, '')
    .replace(SLACK_LINK, (whole: string, address: string, label: string | undefined) => {
      if (keepsPeople && address.startsWith('@')) return whole;
      if (/\/projects\/[^/]/.test(address)) return address;
      return label || address.replace(/^(?:mailto|tel):/, '');
    });
  return unescapeMarkup(unlinked);
}

/** Normalises a name: letter case, width, composed letters, quotes, dashes and spaces. */
export function spellName(name: string): string {
  const start = name.slice(0, MAX_COMPARED);
  const text = PLAIN.test(start) ? start : foldLetters(start);
  return text.toLowerCase().replace(SPACES, ' ').trim();
}

function foldLetters(text: string): string {
  return (
    text
      .replace(HIDDEN, '')
      .replace(DOUBLE_QUOTES, '"')
      .replace(APOSTROPHES, "'")
      .replace(DASHES, '-')
      .normalize('NFKC')
      .slice(0, MAX_COMPARED)
      .toLowerCase()
      // The upper case of ß is SS, and that of ı is I.
      .toUpperCase()
      .toLowerCase()
      // The lower case of İ is an i and a combining dot.
      .replaceAll('i\u0307', 'i')
  );
}

const EMOJI_SIGN = '\u263a';
const MAY_HAVE_EMOJI = /[\p{Extended_Pictographic}\p{Regional_Indicator}:]|\u20e3/u;
/** Emoji, or Slack's names of them. Several in a row count as one. */
const EMOJI =
  /(?:(?:[\p{Extended_Pictographic}\p{Regional_Indicator}]|[0-9#*]\ufe0f?\u20e3|:[a-z0-9_+-]+:)(?:[\p{Emoji_Modifier}\u{e0020}-\u{e007f}\s]|\ufe0e|\ufe0f|\u200d)*)+/gu;
const SIGNS = /[^\p{L}\p{M}\p{N}\s\u263a]+|\ufe0e|\ufe0f/gu;

/**
 * Key for comparing names: letters and digits, and one sign for any emoji. A name without letters and digits
 * keeps its spelling.
 */
export function nameKey(name: string): string {
  const start = unwrapSlackText(name.slice(0, 2 * MAX_COMPARED)).slice(0, MAX_COMPARED);
  const marked = MAY_HAVE_EMOJI.test(start) ? start.replace(EMOJI, ` ${EMOJI_SIGN} `) : start;
  const spelled = spellName(marked);
  return spelled.replace(SIGNS, '').replace(SPACES, ' ').trim() || spelled;
}

/** Marks of Latin, Greek and Cyrillic letters. Vowels of other scripts are marks too, and stay. */
const ACCENTS = /[\u0300-\u036f]/g;
/** Letters that Unicode does not decompose, as people type them without their keyboard. */
const SINGLE_LETTERS: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
};

/** A normalised name without accents: `łódź` becomes `lodz`. Two people may differ by an accent, so use it to search only. */
export function plainLetters(spelling: string): string {
  if (PLAIN.test(spelling)) return spelling;
  const bare = spelling.normalize('NFKD').replace(ACCENTS, '').normalize('NFC');
  return Array.from(bare, (letter) => SINGLE_LETTERS[letter] ?? letter).join('');
}

/** The names of a project or a server. */
export interface Named {
  name: string;
  identifier?: string | undefined;
  permalink?: string | undefined;
}

function listNames({ name, permalink = '', identifier = '' }: Named): string[] {
  return [name, permalink, identifier].filter((one) => one !== '');
}

/** Searches a list by name. It computes each key once, so a search is fast in a long list too. */
export class NameIndex<T extends Named> {
  readonly #bySpelling = new Map<string, Set<T>>();
  readonly #byKey = new Map<string, Set<T>>();
  /** Keys without accents, of names that have some. */
  readonly #byPlainKey = new Map<string, Set<T>>();

  constructor(items: Iterable<T> = []) {
    for (const item of items) this.add(item);
  }

  add(item: T): void {
    for (const name of listNames(item)) {
      addTo(this.#bySpelling, spellName(name), item);
      const key = nameKey(name);
      const plain = plainLetters(key);
      addTo(this.#byKey, key, item);
      if (plain !== key) addTo(this.#byPlainKey, plain, item);
    }
  }

  /** Items with this name. If some match exactly, returns only those; accents count if they tell names apart. Composers turn `:)` into an emoji. */
  find(word: string): T[] {
    const key = nameKey(word);
    const plainKey = key.replaceAll(EMOJI_SIGN, ' ').replace(SPACES, ' ').trim();
    const fitting =
      this.#bySpelling.get(spellName(word)) ?? this.#byKey.get(key) ?? this.#byKey.get(plainKey);
    return [...(fitting ?? this.#findWithoutAccents(key))];
  }

  #findWithoutAccents(key: string): Set<T> {
    const plain = plainLetters(key);
    return new Set([...(this.#byKey.get(plain) ?? []), ...(this.#byPlainKey.get(plain) ?? [])]);
  }

  /** Items with the text in a name. Those whose name begins with it come first. */
  search(text: string): T[] {
    const beginning = new Set<T>();
    const others = new Set<T>();
    const key = nameKey(text);
    const plain = plainLetters(key);
    const maps = [
      { names: this.#bySpelling, spelling: spellName(text) },
      { names: this.#byKey, spelling: key },
      ...(plain === key ? [] : [{ names: this.#byKey, spelling: plain }]),
      { names: this.#byPlainKey, spelling: plain },
    ];
    for (const { names, spelling } of maps)
      for (const [name, items] of names) {
        if (!name.includes(spelling)) continue;
        const fitting = name.startsWith(spelling) ? beginning : others;
        for (const item of items) fitting.add(item);
      }
    return [...new Set([...beginning, ...others])];
  }

  /** An item whose name differs from a word by at most two letters; undefined for a short word. */
  findMisspelt(word: string): T | undefined {
    const key = nameKey(word).slice(0, MAX_MISSPELT);
    if (key.length < MIN_MISSPELT) return undefined;
    for (const [name, [item]] of this.#byKey) if (distance(name, key) <= 2) return item;
    return undefined;
  }

  /** Items that a text mentions, in the text's order. A longer name hides shorter names within it. */
  findIn(text: string): T[] {
    const words = text.slice(0, MAX_READ).split(WORD_ENDS).filter(Boolean);
    const keys = words.map(nameKey);
    const mentioned = new Set<T>();
    for (let at = 0; at < words.length; ) {
      const length = this.#lengthAt(keys, at);
      if (length > 0)
        for (const item of this.find(words.slice(at, at + length).join(' '))) mentioned.add(item);
      at += Math.max(1, length);
    }
    return [...mentioned];
  }

  /** Number of words of the longest name at this place; 0 for no name. */
  #lengthAt(keys: readonly string[], at: number): number {
    let longest = 0;
    let name = '';
    for (let length = 1; length <= MAX_WORDS && name.length <= MAX_COMPARED; length += 1) {
      name = `${name} ${keys[at + length - 1] ?? ''}`.trim();
      if (name.length > 1 && this.#hasKey(name)) longest = length;
    }
    return Math.min(longest, keys.length - at);
  }

  #hasKey(key: string): boolean {
    return this.#byKey.has(key) || this.#findWithoutAccents(key).size > 0;
  }
}

/** Lengths of a word that may be a misspelt name. */
const MIN_MISSPELT = 5;
const MAX_MISSPELT = 40;

/** Maximum searched length of a text, in UTF-16 units. */
const MAX_READ = 3_000;
/** Maximum number of words in a searched name. */
const MAX_WORDS = 10;
const WORD_ENDS = /[\s<>|"/]+/;

const INDEXES = new WeakMap<readonly Named[], Promise<NameIndex<Named>>>();

/** The index of a list, made once. Lets other work run while it indexes a long list. */
export function indexNames<T extends Named>(items: readonly T[]): Promise<NameIndex<T>> {
  const existing = INDEXES.get(items);
  // Each entry is stored under its own list, so the type fits.
  if (existing !== undefined) return existing as Promise<NameIndex<T>>;
  const index = makeIndex(items);
  INDEXES.set(items, index);
  return index;
}

async function makeIndex<T extends Named>(items: readonly T[]): Promise<NameIndex<T>> {
  const index = new NameIndex<T>();
  await forEachInTurns(items, (item) => index.add(item));
  return index;
}

function addTo<T>(map: Map<string, Set<T>>, key: string, item: T): void {
  if (key === '') return;
  const others = map.get(key);
  if (others === undefined) map.set(key, new Set([item]));
  else others.add(item);
}

export function isNamed(item: Named, word: string): boolean {
  return new NameIndex([item]).find(word).length > 0;
}

/** Maximum length of a pattern, in UTF-16 units. */
export const MAX_PATTERN = 100;

/** True if a word is a pattern: its stars stand for any text, as in `shop-*`. */
export function isPattern(word: string): boolean {
  return word.includes('*');
}

/** Compares whole names. Each part between stars is searched once, so that the work is linear. Pure. */
export function matchesPattern(pattern: string, item: Named): boolean {
  const [first = '', ...rest] = spellName(pattern.slice(0, MAX_PATTERN)).split('*');
  const last = rest.pop();
  return listNames(item)
    .map(spellName)
    .some((name) => {
      if (last === undefined) return name === first;
      if (!name.startsWith(first) || !name.endsWith(last)) return false;
      let at = first.length;
      for (const part of rest) {
        const start = name.indexOf(part, at);
        if (start === -1) return false;
        at = start + part.length;
      }
      return at <= name.length - last.length;
    });
}

/**
 * The item with this permalink or identifier, else the only item with this name. Undefined if none or several
 * match.
 */
export function pickNamed<T extends Named>(fitting: readonly T[], word: string): T | undefined {
  const spelled = spellName(word);
  const byKey = fitting.find(({ permalink = '', identifier = '' }) =>
    [permalink, identifier].some((key) => spellName(key) === spelled),
  );
  return byKey ?? (fitting.length === 1 ? fitting[0] : undefined);
}
