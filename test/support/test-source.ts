/**
 * The part of a test file that proves something: the call or the row of a table that a title stands in, with the table
 * that drives it and what it names of its own file. Titles alone prove nothing, so that they are left out of
 * calls; a row is its title.
 */
export function proofOf(source: string, title: string): string {
  const at = source.indexOf(title);
  const pairs = pairBrackets(source);
  const open = [...pairs].findLast(([from, to]) => from < at && at < to && source[from] !== '{')?.[0];
  if (open === undefined) return '';
  const own = source.slice(open, pairs.get(open));
  const isTitle = source[open] === '(' && source.slice(open + 1, at).trim().length === 1;
  const block = driverOf(source, pairs, open) + (isTitle ? own.replace(title, '') : own);
  return withDeclarations(source, block);
}

/** The table of `it.each(table)('title', …)`. */
function driverOf(source: string, pairs: Map<number, number>, open: number): string {
  const before = source.slice(0, open).trimEnd().length;
  const driver = [...pairs].find(([, to]) => to === before);
  return driver === undefined ? '' : source.slice(driver[0], driver[1]);
}

const DECLARED = /^(?:export )?(?:const|(?:async )?function) (\w+)\b[\s\S]*?(?:;\n|\n\}\n)(?=\n|\S)/gm;

/** With the constants and the helpers of the same file that the block names itself. */
function withDeclarations(source: string, block: string): string {
  const names = new Set(block.match(/\b\w+\b/g));
  const declared = [...source.matchAll(DECLARED)].filter(([, name = '']) => names.has(name));
  return [block, ...declared.map(([text]) => text)].join('\n');
}

/** What is no code: comments, strings, and regular expressions after what cannot end a value. */
const SKIPPED =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`|(?<=(?:[(,=:[!&|?{};]|\breturn)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g;

const CLOSING: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/** Where each bracket of the code ends, one past its closing half, in the order of their beginnings. */
function pairBrackets(source: string): Map<number, number> {
  const code = source.replace(SKIPPED, (text) => ' '.repeat(text.length));
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: bracket, index } of code.matchAll(/[()[\]{}]/g)) {
    const opening = CLOSING[bracket];
    if (opening === undefined) {
      open.push(index);
      pairs.set(index, source.length);
      continue;
    }
    const from = open.pop();
    if (from === undefined || code[from] !== opening) throw new Error(`brackets do not match at ${index}`);
    pairs.set(from, index + 1);
  }
  return pairs;
}
