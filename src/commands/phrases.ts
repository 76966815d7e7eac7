import { spellName } from '../core/names.ts';

/**
 * Sentences that mean a command, in a command's record: `'who broke *': 'failed $1'` is `activity failed storefront` for
 * "who broke storefront".
 * - `a|b` is one of the words, and `a?` may be left out
 * - `*` takes any words, `+` at least one, `@` a person or group, `(a|b)` one of the words
 * - `$1` has the words that the first of these took
 */
export type Phrases = Readonly<Record<string, string>>;

interface Token {
  kind: 'word' | 'any' | 'some' | 'mention';
  words: ReadonlySet<string>;
  isOptional: boolean;
  isPart: boolean;
}

/** A phrase that was read once. */
export interface Phrase {
  tokens: readonly Token[];
  /** Words after the command's name, with `$1` for the first part. */
  means: string;
}

export function readPhrase(text: string, means: string): Phrase {
  return { tokens: text.split(' ').map(readToken), means };
}

const KINDS: Readonly<Record<string, Token['kind']>> = { '*': 'any', '+': 'some', '@': 'mention' };

function readToken(text: string): Token {
  const kind = KINDS[text] ?? 'word';
  const isOptional = kind === 'word' && text.endsWith('?');
  const isPart = kind !== 'word' || text.startsWith('(');
  const words = text.replace(/[()?]/g, '').split('|');
  return { kind, words: new Set(words), isOptional, isPart };
}

/** Longer sentences match no phrase. */
const MAX_WORDS = 24;

/** A sentence as a phrase. */
interface Match {
  /** The words after the command's name. */
  rest: string;
  /** Number of words that the phrase names. One that names more says more. */
  weight: number;
}

/** Pure. @param words from `spellSentence` @returns undefined if the sentence is not this phrase */
export function matchPhrase({ tokens, means }: Phrase, words: readonly string[]): Match | undefined {
  if (words.length > MAX_WORDS) return undefined;
  const parts = matchTokens({ tokens, words: words.map(spellName), at: 0, from: 0 });
  if (parts === undefined) return undefined;
  const rest = means
    .replace(/\$(\d)/g, (_, nth: string) => {
      const { from, to } = parts[Number(nth) - 1] ?? { from: 0, to: 0 };
      return words.slice(from, to).join(' ');
    })
    .replace(/ +/g, ' ')
    .trim();
  const open = parts.reduce((sum, { from, to, isOpen }) => sum + (isOpen ? to - from : 0), 0);
  return { rest, weight: words.length - open };
}

interface Part {
  from: number;
  to: number;
  /** True if any words may be there. */
  isOpen: boolean;
}

/** The rest of a match: the tokens and words that remain. */
interface Remaining {
  tokens: readonly Token[];
  words: readonly string[];
  at: number;
  from: number;
}

/** The parts that stand for `*`, `+`, `@` and `(a|b)`, in order; undefined if the words do not fit. */
function matchTokens(remaining: Remaining): readonly Part[] | undefined {
  const { tokens, words, at, from } = remaining;
  const token = tokens[at];
  if (token === undefined) return from === words.length ? [] : undefined;
  for (const to of listEnds(token, words, from)) {
    const rest = matchTokens({ tokens, words, at: at + 1, from: to });
    if (rest === undefined) continue;
    return token.isPart ? [{ from, to, isOpen: token.kind !== 'word' }, ...rest] : rest;
  }
  return undefined;
}

/** Indexes at which the words of a token may end. */
function listEnds({ kind, words: own, isOptional }: Token, words: readonly string[], from: number): number[] {
  const word = words[from];
  if (kind === 'word') {
    const isThere = word !== undefined && own.has(word);
    return [...(isThere ? [from + 1] : []), ...(isOptional ? [from] : [])];
  }
  if (kind === 'mention') return word !== undefined && MENTION.test(word) ? [from + 1] : [];
  const first = kind === 'any' ? from : from + 1;
  return Array.from({ length: Math.max(0, words.length - first + 1) }, (_, more) => first + more);
}

const MENTION = /^(?:@|<@|<!)/;

const SHORT = /^(what|who|how|when|where|which|that|there|everything|anything|something|nothing)'?s$/;
/** "marta's deployments" */
const OWNER = /['’]s$/;
const SHORTENED: Readonly<Record<string, string>> = {
  "i'm": 'i am',
  im: 'i am',
  "i've": 'i have',
  ive: 'i have',
  "i'll": 'i will',
  ill: 'i will',
  "we're": 'we are',
  "we've": 'we have',
  "it's": 'it is',
  "isn't": 'is not',
  "doesn't": 'does not',
  "didn't": 'did not',
  "don't": 'do not',
  dont: 'do not',
  "let's": 'let us',
  "how'd": 'how did',
};

/** Splits a sentence into words, without the signs around them and with the words that people shorten. */
export function spellSentence(tokens: readonly string[]): string[] {
  return tokens.flatMap((token) => {
    const word = stripSigns(token);
    const spelled = word.toLowerCase();
    const whole = Object.hasOwn(SHORTENED, spelled) ? SHORTENED[spelled] : spelled.replace(SHORT, '$1 is');
    return whole === undefined || whole === spelled ? word.replace(OWNER, '') : whole.split(' ');
  });
}

const SIGNS: ReadonlySet<string> = new Set(',;:!?.…');

/** Removes signs at the end of a word. A bare sign becomes empty. */
export function stripSigns(word: string): string {
  let end = word.length;
  while (end > 0 && SIGNS.has(word[end - 1] ?? '')) end -= 1;
  return word.slice(0, end);
}
