import { createHash } from 'node:crypto';
import { parseSync } from 'rolldown/utils';

/** One change to a source file. */
export interface Mutant {
  file: string;
  /** Names of the functions around it, outermost first. */
  where: string;
  operator: string;
  line: number;
  start: number;
  end: number;
  original: string;
  changed: string;
}

/** A node of the ESTree that rolldown's parser returns. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
};
const SWAPPED_METHODS = new Map([
  ['some', 'every'],
  ['every', 'some'],
]);
/** A line of the log, which nobody but an operator sees. */
const LOG = /^(await )?[\w.?]*log\??\.\w+\(/i;
const LEAVES = new Set(['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement']);
const TYPE_SCRIPT_VALUES = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

/** Same for a mutant whose lines moved. */
export function describePlace({ file, where, operator, original }: Mutant): string {
  return [file, where, operator, original.replaceAll(/\s+/g, ' ')].join('|');
}

/** Mutants in an order that depends on the seed and their keys, so that a change elsewhere does not change the sample. */
export function shuffle(mutants: readonly Mutant[], seed: string): Mutant[] {
  const rank = (mutant: Mutant) =>
    createHash('sha256')
      .update(`${seed}|${describePlace(mutant)}`)
      .digest('hex');
  return mutants
    .map((mutant) => ({ mutant, by: rank(mutant) }))
    .toSorted((a, b) => a.by.localeCompare(b.by))
    .map(({ mutant }) => mutant);
}

/** All mutants of a file, in the order of its text. */
export function readMutants(file: string, text: string): Mutant[] {
  const mutants: Mutant[] = [];
  const print: Print = (node) => text.slice(node?.start, node?.end);

  function visit(node: Node, where: readonly string[], parent: Node): void {
    const add = (operator: string, changed: string, { start, end } = node) => {
      const original = text.slice(start, end);
      const line = text.slice(0, start).split('\n').length;
      const place = where.join('.') || '(module)';
      mutants.push({ file, where: place, operator, line, start, end, original, changed });
    };
    for (const [operator, changed, target] of CHANGES[node.type]?.(node, print, parent) ?? [])
      add(operator, changed, target);
    const name = findName(node, print);
    for (const child of listChildren(node)) visit(child, name === undefined ? where : [...where, name], node);
  }

  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} does not parse`);
  visit(program as unknown as Node, [], program as unknown as Node);
  return mutants;
}

type Change = [operator: string, changed: string, target?: Node];
/** A node by the names of its fields. */
type Fields = Readonly<Record<string, Node>>;
type Print = (node: Node | undefined) => string;

/** Changes by the type of the node. */
const CHANGES: Readonly<Record<string, (node: Node, print: Print, parent: Node) => Change[]>> = {
  IfStatement(node, print) {
    const { test = node, consequent, alternate } = node as unknown as Fields;
    const last = [consequent?.body ?? consequent].flat().at(-1) as Node | undefined;
    const changes: Change[] = [['negate condition', `!(${print(test)})`, test]];
    if (!alternate && LEAVES.has(last?.type ?? '')) changes.push(['remove early return', ';']);
    return changes;
  },
  ConditionalExpression({ test }, print) {
    return [['negate condition', `!(${print(test as Node)})`, test as Node]];
  },
  BinaryExpression: swapOperator,
  LogicalExpression: swapOperator,
  UnaryExpression({ operator, argument }, print) {
    return operator === '!' ? [['drop negation', `(${print(argument as Node)})`]] : [];
  },
  ExpressionStatement(node, print) {
    return node.directive || LOG.test(print(node)) ? [] : [['drop statement', ';']];
  },
  AwaitExpression(_node, _print, parent) {
    return parent.type === 'ExpressionStatement' ? [] : [['drop call', '(undefined as never)']];
  },
  ReturnStatement(node) {
    const argument = node.argument as Node | null;
    if (!argument || argument.type === 'AwaitExpression') return [];
    return [['return nothing', `return ${emptyLike(argument)};`]];
  },
  ArrowFunctionExpression(node) {
    const body = node.body as Node;
    return body.type === 'BlockStatement' ? [] : [['return nothing', `(${emptyLike(body)})`, body]];
  },
  MemberExpression(node, print) {
    const property = node.property as Node;
    const other = node.computed ? undefined : SWAPPED_METHODS.get(print(property));
    return other === undefined ? [] : [['swap operator', other, property]];
  },
  Literal({ value }) {
    if (typeof value === 'boolean') return [['flip boolean', String(!value)]];
    return typeof value === 'number' ? [['change number', String(value + 1)]] : [];
  },
};

function swapOperator({ operator, left, right }: Node, print: Print): Change[] {
  if (operator === '??') return [['drop fallback', `(${print(left as Node)})`]];
  const other = SWAPPED[operator as string];
  // In brackets, because `??` may not be next to `||`.
  return other === undefined
    ? []
    : [['swap operator', `((${print(left as Node)}) ${other} (${print(right as Node)}))`]];
}

/** Empty value of the kind that the expression has. */
function emptyLike({ type, value }: Node): string {
  if (type === 'ArrayExpression') return '([] as never)';
  if (type === 'TemplateLiteral' || typeof value === 'string') return "('' as never)";
  return '(undefined as never)';
}

/** Name of a function, a method or a constant that holds one. */
function findName(node: Node, print: Print): string | undefined {
  const { id, key, value, init } = node as unknown as Record<string, Node | null | undefined>;
  if (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration')
    return id ? print(id) : undefined;
  const holds = value ?? init;
  const isFunction = /Function/.test(holds?.type ?? '');
  const named = id ?? key;
  return isFunction && named ? print(named) : undefined;
}

/** Child nodes without types. */
function listChildren(node: Node): Node[] {
  const values = Object.values(node).flat() as unknown[];
  return values.filter(
    (value): value is Node =>
      typeof value === 'object' &&
      value !== null &&
      'type' in value &&
      typeof value.type === 'string' &&
      (!value.type.startsWith('TS') || TYPE_SCRIPT_VALUES.has(value.type)),
  );
}
