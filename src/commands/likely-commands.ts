import { distance } from 'fastest-levenshtein';
import { NameIndex } from '../core/names.ts';
import type { Project } from '../service/projects.ts';
import { type Command, mayChange } from './command.ts';
import { isDurable, listSynonyms, type Matched, mistakes, routeCommand } from './command-router.ts';
import { canRun, isQuestion } from './readings.ts';
import { cleanCommandText, splitWords } from './typed-words.ts';

/** A likely command line. */
export interface Likely {
  text: string;
  /** True if it changes something, so that it is stored first. */
  isDurable: boolean;
}

const MOST = 3;
const MAX_WORDS = 12;
const MAX_LETTERS = 24;
/** Suggested if the words match nothing, in this order. */
const USUAL = ['test', 'activity', 'help'];
/** Many sentences and summaries have such short words. */
const SHORTEST_WORD = 3;

/**
 * The three most likely command lines of a sentence: first its own, then commands with a word of it in their name, synonym or
 * summary.
 * @param commands the commands that the person may run
 * @param projects if the sentence names one, commands are offered with it
 */
export function findLikelyCommands(
  commands: readonly Command[],
  sentence: string,
  projects: NameIndex<Project> = new NameIndex(),
): Likely[] {
  const text = cleanCommandText(sentence);
  const words = splitWords(text.replace(TIMES, '')).words.slice(0, MAX_WORDS).map(comparable);
  const isAsked = isQuestion(sentence);
  const isOffered = (command: Command): boolean =>
    !mayChange(command) || (!isAsked && command.name.split(' ').every((part) => words.includes(part)));
  const ranked = commands
    .filter(isOffered)
    .map((command) => ({ name: command.name, score: rateCommand(command, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ name }) => name);
  const usual = USUAL.filter((name) => commands.some((command) => command.name === name));
  const lines = findLines(isAsked ? commands.filter((command) => !mayChange(command)) : commands, text);
  const [project = projects.findMisspelt(words.at(-1) ?? '')] = projects.findIn(sentence);
  const complete = (line: string): string =>
    project === undefined ? line : withProject(commands, line, project);
  return [...new Set([...lines, ...ranked, ...usual].map(complete))].slice(0, MOST).map((text) => {
    const matched = routeCommand(commands, text);
    return { text, isDurable: matched !== undefined && isDurable(matched) };
  });
}

const FILLERS: ReadonlySet<string> = new Set('a an for of on our please pls thanks the'.split(' '));
/** "last week" is a time, and no command. */
const TIMES = /\b(?:last|past) (?:\d+ )?(?:days?|nights?|weeks?|months?|years?|time)\b/gi;
/** A longer rest makes a sentence more than a command. */
const MAX_REST = 3;

/** Finds the first command in a sentence, with a typing mistake corrected: the rest of the sentence, and the command alone. */
function findLines(commands: readonly Command[], text: string): string[] {
  const words = text.split(' ').filter((word) => !FILLERS.has(comparable(word)));
  for (const [at, word] of words.slice(0, MAX_WORDS).entries()) {
    const rest = words.slice(at + 1);
    const line = [correctWord(commands, word), ...rest].join(' ');
    const matched = routeCommand(commands, line);
    if (matched === undefined) continue;
    if (at > 0 && isRarelyMeant(matched, word, rest)) continue;
    // "run test": the second word is a command itself.
    if (matched.isSynonym && commands.some(({ name }) => name === rest[0])) continue;
    const { name } = matched.command;
    const isWhole = at === 0 || rest.length < MAX_REST;
    return isWhole && canRun(matched) ? [line, name] : [name];
  }
  return [];
}

/** True for a short word, a synonym or a time: within a sentence they are rarely meant as a command. */
function isRarelyMeant({ isSynonym }: Matched, word: string, rest: readonly string[]): boolean {
  const isTime = [word, ...rest].join(' ').search(TIMES) === 0;
  return isSynonym || word.length <= SHORTEST_WORD || isTime;
}

/** The only command's name, else another word for one, that differs from a word by one typing mistake, else the word. */
function correctWord(commands: readonly Command[], word: string): string {
  const spelling = comparable(word);
  if (spelling.length <= SHORTEST_WORD || routeCommand(commands, spelling) !== undefined) return word;
  const names = new Set(commands.map(({ name }) => name.split(' ')[0] ?? name));
  const synonyms = new Set(
    commands.flatMap(listSynonyms).flatMap(([typed]) => (typed.includes(' ') ? [] : typed)),
  );
  const isNear = (name: string): boolean => mistakes(spelling, name) <= 1;
  const byName = [...names].filter(isNear);
  const [near, other] = byName.length > 0 ? byName : [...synonyms].filter(isNear);
  return near === undefined || other !== undefined ? word : near;
}

/** Adds the project to a command's name, if the command takes one as its first word. */
function withProject(commands: readonly Command[], line: string, { permalink }: Project): string {
  const takesOne = commands.find(({ name }) => name === line)?.positionals[0] === 'project';
  return takesOne ? `${line} ${permalink}` : line;
}

/** Rates how well the words fit: the whole name best, then one word of it or a synonym, then a word of its summary. */
function rateCommand(command: Command, words: readonly string[]): number {
  const { name, summary } = command;
  const names = name.split(' ');
  const isAmongWords = (part: string): boolean => words.some((word) => isLike(word, part));
  const synonyms = listSynonyms(command);
  const inName = names.filter(isAmongWords).length;
  // "deployments" is another word for the activity, and only like `deploy`.
  const isSynonym = synonyms.some(([typed]) => words.includes(typed));
  const isNearSynonym = synonyms.some(([typed]) => typed.split(' ').every(isAmongWords));
  const summarised = summary.toLowerCase().split(/[^\p{L}]+/u);
  const inSummary = words.filter((word) => word.length > SHORTEST_WORD && summarised.includes(word)).length;
  const byWords = (inName === names.length ? 4 : 0) + inName / names.length + inSummary / 4;
  return byWords + (isSynonym ? 6 : isNearSynonym ? 3 : 0);
}

/** Equal, or different by a typing mistake or an ending. */
function isLike(word: string, commandWord: string): boolean {
  if (word === commandWord) return true;
  if (word.length <= SHORTEST_WORD || commandWord.length <= SHORTEST_WORD) return false;
  if (word.startsWith(commandWord) || commandWord.startsWith(word)) return true;
  // "last" is not "list".
  return commandWord.length > SHORTEST_WORD + 1 && distance(word, commandWord) <= 1;
}

function comparable(word: string): string {
  return word
    .toLowerCase()
    .replace(/[^\p{L}\p{N}-]/gu, '')
    .slice(0, MAX_LETTERS);
}
