import type { z } from 'zod';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Puts zod's issues in Slack's words: `must be less than 151 characters [json-pointer:/blocks/0/text/text]`. */
export function explain(issues: readonly Issue[], root: string): string[] {
  return issues.flatMap((issue) => explainOne(issue, root));
}

/** A fault with its place, as Slack writes it. */
export function fault(message: string, root: string, path: Path = []): string {
  return `${message} [json-pointer:${[root, ...path.map(String)].join('/')}]`;
}

function explainOne(issue: Issue, root: string): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => fault(`invalid additional property: ${key}`, root, issue.path));
  }
  if (issue.code === 'invalid_union') return explainUnion(issue, root);
  if (issue.input === undefined && issue.code !== 'custom') {
    return [fault(`missing required field: ${String(issue.path.at(-1))}`, root, issue.path.slice(0, -1))];
  }
  return [fault(sentence(issue), root, issue.path)];
}

function explainUnion(issue: Extract<Issue, { code: 'invalid_union' }>, root: string): string[] {
  if (issue.path.at(-1) !== 'type') return [fault('failed to match all allowed schemas', root, issue.path)];
  const block = issue.input;
  const given = typeof block === 'object' && block !== null && 'type' in block ? block.type : undefined;
  if (given === undefined) return [fault('missing required field: type', root, issue.path.slice(0, -1))];
  return [fault(`unsupported type: ${String(given)}`, root, issue.path)];
}

function sentence(issue: Issue): string {
  if (issue.code === 'invalid_type') return `must provide ${article(issue.expected)}`;
  if (issue.code === 'invalid_value') return 'must be a valid enum value';
  if (issue.code === 'too_big') return `must be no more than ${issue.maximum}`;
  if (issue.code === 'too_small' && issue.origin !== 'string') return `must be at least ${issue.minimum}`;
  return issue.message;
}

function article(expected: string): string {
  const noun = expected === 'int' ? 'integer' : expected;
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
