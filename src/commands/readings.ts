import { UserError } from '../core/errors.ts';
import { spellName } from '../core/names.ts';
import { type Command, mayChange } from './command.ts';
import {
  isCommandName,
  isMisspelt,
  type Matched,
  parseArguments,
  routeCommand,
  routeWords,
  splitLine,
} from './command-router.ts';
import { matchPhrase, type Phrase, readPhrase, spellSentence, stripSigns } from './phrases.ts';
import { cleanCommandText, splitTokens } from './typed-words.ts';

/** One way to understand a line: a command line, and its command. */
export interface Reading {
  text: string;
  matched: Matched;
}

/** A sentence that a person typed in place of a command. */
export interface Sentence {
  text: string;
  /** True for a question, which changes nothing. */
  isQuestion: boolean;
}

/** A typed line, with the command that it names, if any. */
export interface CommandLine extends Sentence {
  matched: Matched | undefined;
}

/** Flag at the end of the line that asks for help, as in other command lines. */
const HELP_FLAG = /(?:^| )(?:--help|-h)$/i;

/**
 * Cleans, splits and routes typed text, once for each request. Words are taken as typed if a command takes them so.
 * @param start name of the command of a bare line
 */
export function readCommandLine(
  { commands, start }: { commands: readonly Command[]; start: string },
  typed: string,
): CommandLine {
  const line = cleanCommandText(typed);
  const text = HELP_FLAG.test(line) ? `help ${line.replace(HELP_FLAG, '')}`.trim() : line;
  const sentence = { text, isQuestion: isQuestion(typed) };
  const typedWords = splitLine(commands, text);
  const words = typedWords.words.length === 0 ? [start] : typedWords.words;
  const matched = routeWords(commands, { ...typedWords, words });
  const isTyped = matched === undefined ? isMisspelt(commands, text) : canRun(matched);
  const help = isTyped ? explainCommand(commands, sentence, matched) : undefined;
  if (help !== undefined) return { ...sentence, ...help };
  const isName = matched?.isSynonym !== true;
  if (isTyped && isName) return { ...sentence, matched };
  if (isTyped) return { ...sentence, matched, ...readPhraseFirst(commands, sentence) };
  const [reading] = listReadings(commands, sentence);
  return { ...sentence, matched, ...reading };
}

/** The help of a command that changes something, for a question about it. */
function explainCommand(
  commands: readonly Command[],
  { isQuestion }: Sentence,
  typed: Matched | undefined,
): Reading | undefined {
  if (!isQuestion || typed === undefined || !mayChange(typed.command)) return undefined;
  const text = `help ${typed.command.name}`;
  const matched = routeCommand(commands, text);
  return matched && { text, matched };
}

/**
 * Other ways to read a line, the likeliest first: as a sentence that a command knows, without its small words, and with its
 * words in another order. Pure.
 */
export function listReadings(commands: readonly Command[], sentence: Sentence): Reading[] {
  const { text } = sentence;
  const tokens = splitTokens(text).map(stripSigns).filter(Boolean);
  const plain = dropSmallWords(tokens);
  const request = dropPolite(tokens);
  const phrases = matchPhrases(commands, [tokens, plain, dropLook(tokens), request, dropLook(request)]);
  const others = plain.length === 0 ? [] : [plain.join(' '), ...reorder(commands, plain)];
  const explain = (line: string): string =>
    explainCommand(commands, sentence, routeCommand(commands, line))?.text ?? line;
  return readLines(commands, sentence, [...phrases.map(explain), ...others]);
}

function readLines(
  commands: readonly Command[],
  { text, isQuestion }: Sentence,
  lines: readonly string[],
): Reading[] {
  const cut = new Set<string>();
  const all = lines.flatMap((line) => {
    const plain = dropSmallWords(splitTokens(line));
    const whole = [line, plain.join(' '), dropWords(plain, PRONOUNS)];
    const short = dropWords(plain, UNNAMED);
    if (!whole.includes(short)) cut.add(short);
    return [...whole, short];
  });
  const options = readOptions(text);
  return [...new Set(all)].flatMap((line): Reading[] => {
    const ownOptions = readOptions(line);
    if (line === text || options.some((option) => !ownOptions.includes(option))) return [];
    const matched = routeCommand(commands, line);
    if (matched === undefined || !canRun(matched)) return [];
    // "pause production" may mean one server, so it pauses nothing else.
    const isHarmful = (isQuestion || cut.has(line)) && mayChange(matched.command);
    return isHarmful ? [] : [{ text: line, matched }];
  });
}

/** "--account" of "--account=acme". No reading ignores one that was typed. */
function readOptions(line: string): string[] {
  return splitTokens(line).flatMap((token) => /^--[a-z-]+/i.exec(token)?.[0] ?? []);
}

/** A sentence that begins with another word for a command, and that a command knows better. */
function readPhraseFirst(commands: readonly Command[], sentence: Sentence): Reading | undefined {
  const tokens = splitTokens(sentence.text).map(stripSigns).filter(Boolean);
  return readLines(commands, sentence, matchPhrases(commands, [tokens, dropSmallWords(tokens)], SURE))[0];
}

/** A phrase that names so many words says more than another word for a command does. */
const SURE = 2;

/** True if the command takes the words. Names in them may be unknown. */
export function canRun({ command, rest }: Matched): boolean {
  try {
    parseArguments(command, rest);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

const QUESTIONS: ReadonlySet<string> = new Set(
  'what whats who whos when why where how hows which whose is are was were does did has have am any anything anyone anybody should'.split(
    ' ',
  ),
);
const POLITE = /\b(?:please|pls)\b/i;
/** "Can you test storefront?" asks for it, and "can I pause it?" asks whether. */
const REQUESTS: ReadonlySet<string> = new Set('can could would will please pls'.split(' '));
const ASKERS: ReadonlySet<string> = new Set(['anybody', 'anyone', 'i', 'members', 'one', 'we']);

/** @param typed as it came, with its question mark */
export function isQuestion(typed: string): boolean {
  const [first = '', second = ''] = spellSentence(splitTokens(typed.slice(0, 200)).slice(0, 2)).map(
    spellName,
  );
  if (QUESTIONS.has(first)) return true;
  const isRequest = (REQUESTS.has(first) && !ASKERS.has(second)) || POLITE.test(typed);
  return /\?[\s"'”’)]{0,5}$/.test(typed.slice(-10)) && !isRequest;
}

const SMALL: ReadonlySet<string> = new Set(
  `of the a an our my me us please pls plz kindly for on in from by with about at to now just also currently right here
  hey hi hello ok okay so well deckhand bot can could would will you i we want wanna like need lets let try some mind kindly`
    .split(/\s+/)
    .filter(Boolean),
);

/** True for a word that says nothing, such as "please". */
export function isSmallWord(word: string): boolean {
  return SMALL.has(spellName(word));
}

const WORDS_FOR_IT = ['it', 'that', 'this', 'yet'];
const PRONOUNS: ReadonlySet<string> = new Set(WORDS_FOR_IT);
/** Words for what a channel follows. They are left out if nothing is called so. */
const UNNAMED: ReadonlySet<string> = new Set([
  ...WORDS_FOR_IT,
  ...'site website app prod production page build deploy deployment release'.split(' '),
]);

function dropWords(words: readonly string[], dropped: ReadonlySet<string>): string {
  return words.filter((word) => !dropped.has(spellName(word))).join(' ');
}

/** Leaves out words that say nothing, but not the values of options. */
function dropSmallWords(tokens: readonly string[]): string[] {
  return tokens.filter((token, at) => tokens[at - 1]?.startsWith('--') || !SMALL.has(spellName(token)));
}

/** Leaves out "could you please" and "I want to" at the beginning. */
function dropPolite(tokens: readonly string[]): readonly string[] {
  const begin = tokens.findIndex((token) => !SMALL.has(spellName(token)));
  return begin === -1 ? [] : tokens.slice(begin);
}

const LOOKS: ReadonlySet<string> = new Set(
  'show list get give see view display print open fetch find tell read send check describe inspect'.split(
    ' ',
  ),
);
/** Leaves out "show me" before a question, as in "show me who is on it". */
function dropLook([look = '', ...words]: readonly string[]): readonly string[] {
  const rest = ['me', 'us'].includes(spellName(words[0] ?? '')) ? words.slice(1) : words;
  return LOOKS.has(spellName(look)) && QUESTIONS.has(spellName(rest[0] ?? '')) ? rest : [];
}

/** A longer line is a sentence, whose last word is no command. */
const MAX_REORDERED = 5;
/** "show the projects", "add a server", "storefront activity" */
function reorder(commands: readonly Command[], words: readonly string[]): string[] {
  const [first = '', second = '', ...rest] = words;
  const nouns = singulars(second);
  const isLook = LOOKS.has(spellName(first));
  const isSentence = words.length > MAX_REORDERED || QUESTIONS.has(spellName(first));
  const lengths = isSentence ? [] : [2, 1].filter((length) => length < words.length);
  const swapped = nouns.map((noun): Named => [[noun, first], rest]);
  const looked = isLook ? nouns.map((noun): Named => [[noun], rest]) : [];
  // "the storefront watch" is a thing, and asks for no new one.
  const last = lengths
    .map((length): Named => [words.slice(-length), words.slice(0, -length)])
    .filter(([name]) => !makesNew(commands, name.join(' ')));
  return [...swapped, ...looked, ...last]
    .filter(([name]) => isCommandName(commands, name.join(' ')))
    .map(([name, others]) => [...name, ...others].join(' '));
}

/** True if a name alone, such as `watch`, means a command that changes something. */
function makesNew(commands: readonly Command[], name: string): boolean {
  const matched = routeCommand(commands, name);
  return matched !== undefined && mayChange(matched.command);
}

/** A command's name, and the words after it. */
type Named = readonly [name: readonly string[], rest: readonly string[]];

/** The word, and without the ending of several. */
function singulars(word: string): string[] {
  if (word === '') return [];
  return [
    word,
    ...(/s$/i.test(word) ? [word.slice(0, -1)] : []),
    ...(/es$/i.test(word) ? [word.slice(0, -2)] : []),
  ];
}

const INDEXES = new WeakMap<readonly Command[], ReadonlyArray<{ command: Command; phrase: Phrase }>>();

function indexPhrases(commands: readonly Command[]) {
  const cached = INDEXES.get(commands);
  if (cached !== undefined) return cached;
  const index = commands.flatMap((command) =>
    Object.entries(command.phrases ?? {}).map(([text, means]) => ({
      command,
      phrase: readPhrase(text, means),
    })),
  );
  INDEXES.set(commands, index);
  return index;
}

/**
 * Command lines of the phrases that a sentence is, that which names most words first.
 * @param forms the sentence, with and without small words
 */
function matchPhrases(
  commands: readonly Command[],
  forms: ReadonlyArray<readonly string[]>,
  minWeight = 0,
): string[] {
  return forms
    .map((tokens) => spellSentence(tokens).filter(Boolean))
    .flatMap((words) =>
      indexPhrases(commands).flatMap(({ command, phrase }) => {
        const match = matchPhrase(phrase, words);
        if (match === undefined || match.weight < minWeight) return [];
        return { line: `${command.name} ${match.rest}`.trim(), weight: match.weight };
      }),
    )
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ line }) => line);
}

/** A longer line is a sentence about more than one thing. */
const MAX_NAMED = 6;

/** The command line for words that only name a project or a server; undefined for a sentence. */
export function nameThings({ text }: Pick<Sentence, 'text'>): string | undefined {
  const plain = dropSmallWords(splitTokens(text).map(stripSigns).filter(Boolean));
  const names = LOOKS.has(spellName(plain[0] ?? '')) ? plain.slice(1) : plain;
  const things = names.filter((word) => !QUESTIONS.has(spellName(word)));
  return things.length === 0 || things.length > MAX_NAMED ? undefined : `last ${things.join(' ')}`;
}
