import { hash } from 'node:crypto';
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

/** A node of the parser's ESTree. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}
type Print = (node: unknown) => string;
type Change = [operator: string, changed: string, target?: unknown];

const NOTHING = '(undefined as never)';
const PAIRS = ['=== !==', '< <=', '> >=', '&& ||', '+ -'].map((pair) => pair.split(' '));
const SWAPPED = new Map([...PAIRS, ...PAIRS.map((pair) => pair.toReversed())] as Array<[string, string]>);
const LEAVES = new Set(['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement']);
/** Methods that return the same kind of value. */
const STEPS = new Set(['filter', 'replace', 'replaceAll', 'slice', 'toSorted', 'trim']);
/** A line of the log, which nobody but an operator sees. */
const LOG = /^(await )?[\w.?]*log\??\.\w+\(/i;

/** Changes by the type of the node. */
const CHANGES: Readonly<Record<string, (node: Node, print: Print, parent: Node) => Change[]>> = {
  IfStatement({ test, consequent, alternate }, print) {
    const last = [(consequent as Node).body ?? consequent].flat().at(-1) as Node | undefined;
    const canGo = !alternate && LEAVES.has(last?.type ?? '');
    return [...negate(test, print), ...(canGo ? ([['remove early return', ';']] as Change[]) : [])];
  },
  ConditionalExpression: ({ test }, print) => negate(test, print),
  BinaryExpression: swapOperator,
  LogicalExpression: swapOperator,
  UnaryExpression: ({ operator, argument }, print) =>
    operator === '!' ? [['drop negation', `(${print(argument)})`]] : [],
  ExpressionStatement: (node, print) =>
    node.directive || LOG.test(print(node)) ? [] : [['drop statement', ';']],
  AwaitExpression: (_node, _print, parent) =>
    parent.type === 'ExpressionStatement' ? [] : [['drop call', NOTHING]],
  ReturnStatement({ argument }, print) {
    const isSame =
      !argument || (argument as Node).type === 'AwaitExpression' || print(argument) === 'undefined';
    return isSame ? [] : [['return nothing', `return ${NOTHING};`]];
  },
  ArrowFunctionExpression: ({ body }) =>
    (body as Node).type === 'BlockStatement' ? [] : [['return nothing', NOTHING, body]],
  ArrayExpression({ elements }) {
    const all = elements as Node[];
    return all.map((one, at) => [
      'drop element',
      '',
      { start: one.start, end: all[at + 1]?.start ?? one.end },
    ]);
  },
  CallExpression({ callee }, print) {
    const { object, property } = callee as Node;
    return property && STEPS.has(print(property)) ? [['drop step', `(${print(object)})`]] : [];
  },
  Literal({ value }) {
    if (typeof value === 'boolean') return [['flip boolean', String(!value)]];
    return typeof value === 'number' ? [['change number', String(value + 1)]] : [];
  },
};

function negate(test: unknown, print: Print): Change[] {
  return [['negate condition', `!(${print(test)})`, test]];
}

function swapOperator({ operator, left, right }: Node, print: Print): Change[] {
  if (operator === '??') return [['drop fallback', `(${print(left)})`]];
  const other = SWAPPED.get(operator as string);
  // In brackets, because `??` may not be next to `||`.
  return other === undefined ? [] : [['swap operator', `((${print(left)}) ${other} (${print(right)}))`]];
}

/** All mutants of a file. */
export function readMutants(file: string, text: string): Mutant[] {
  const mutants: Mutant[] = [];
  const print: Print = (node) => text.slice((node as Node).start, (node as Node).end);

  function visit(node: Node, parent: Node, where: readonly string[]): void {
    for (const [operator, changed, target = node] of CHANGES[node.type]?.(node, print, parent) ?? []) {
      const { start, end } = target as Node;
      const line = text.slice(0, start).split('\n').length;
      const place = { file, where: where.join('.') || 'module', operator, line, start, end };
      mutants.push({ ...place, original: print(target), changed });
    }
    const name = findName(node);
    const inner = name === undefined ? where : [...where, print(name)];
    for (const child of listChildren(node)) visit(child, node, inner);
  }

  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} does not parse`);
  visit(program as unknown as Node, program as unknown as Node, []);
  return mutants;
}

/** Name of a function, or of a member or constant that holds one. */
function findName({ type, id, key, value, init }: Node): unknown {
  const isHolder = /Function/.test(((value ?? init) as Node | undefined)?.type ?? '');
  return isHolder || type === 'FunctionDeclaration' ? (id ?? key) : undefined;
}

/** Child nodes, without types. */
function listChildren(node: Node): Node[] {
  const values = Object.values(node).flat() as Array<Partial<Node> | null>;
  const nodes = values.filter((value): value is Node => typeof value?.type === 'string');
  return nodes.filter((child) => !child.type.startsWith('TS') || 'expression' in child);
}

/** An order that depends on the seed and the mutants' texts, so that a change elsewhere does not change a sample. */
export function shuffle(mutants: readonly Mutant[], seed: string): Mutant[] {
  const rank = ({ file, where, operator, original }: Mutant) =>
    hash('sha256', [seed, file, where, operator, original.replaceAll(/\s+/g, ' ')].join('|'));
  return mutants.toSorted((a, b) => rank(a).localeCompare(rank(b)));
}
