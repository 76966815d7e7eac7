import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';
import { byLength } from '../support/length.ts';

const root = join(import.meta.dirname, '..', '..');

/** Every regular expression of the product, with its file. */
function listPatterns(): Array<{ path: string; pattern: RegExp }> {
  return globSync('src/**/*.ts', { cwd: root }).flatMap((path) => {
    const program = parseAst(readFileSync(join(root, path), 'utf8'), { lang: 'ts' });
    const patterns: RegExp[] = [];
    JSON.stringify(program, (_, node: unknown) => {
      if (isRegexLiteral(node)) patterns.push(new RegExp(node.regex.pattern, node.regex.flags));
      return node;
    });
    return patterns.map((pattern) => ({ path, pattern }));
  });
}

function isRegexLiteral(node: unknown): node is { regex: { pattern: string; flags: string } } {
  return typeof node === 'object' && node !== null && 'regex' in node;
}

const PARTS = [...'aA0 \t\n/<>|"\'`*_-.,:;!?{([=&@#\0é', 'http://', '<@0|', '<http://a|', 'a ', '0.', '> '];
const ENDS = byLength(['', '!'], ['', '!', '//', '\0P', '\nx']);

/** Texts that repeat a part of what the pattern may match, by the number of repetitions. */
function listHostile({ source }: RegExp): Array<(times: number) => string> {
  const words = source.replace(/\\([^\w])/g, '$1').split(/[()[\]^$?*+{}|\\]+/);
  const starts = new Set(['', words.find((word) => word !== '') ?? '', 'http://']);
  const parts = new Set([...PARTS, ...words]);
  return [...starts].flatMap((start) =>
    [...parts].flatMap((part) => ENDS.map((end) => (times: number) => start + part.repeat(times) + end)),
  );
}

/** CPU time in milliseconds, which other processes do not lengthen. */
function timeMatch(pattern: RegExp, text: string): number {
  const before = process.cpuUsage();
  text.replace(pattern, '');
  return process.cpuUsage(before).user / 1_000;
}

/** Few texts take longer than a moment. Only these are tried at length. */
const SHORT = { times: 3_000, ms: 1 };
/** A linear pattern takes a millisecond, one that begins again at each place a second. */
const LONG = { times: 40_000, ms: 150 };

it('no pattern takes time that grows with the square of the text', () => {
  const patterns = listPatterns();
  expect(patterns.length).toBeGreaterThan(200);
  const slow = patterns.filter(({ pattern }) =>
    listHostile(pattern).some((repeat) =>
      [SHORT, LONG].every(({ times, ms }) => timeMatch(pattern, repeat(times)) > ms),
    ),
  );
  expect(slow.map(({ path, pattern }) => `${path}: ${pattern}`)).toEqual([]);
});
