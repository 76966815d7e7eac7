/** Fields by section, each as `type`, `type!` where it is required and `type?` where it may be null. */
export type SpecTables = Record<string, Record<string, string>>;

/** Headings of first columns that name fields. */
const OF_FIELDS = new Set(['Field', 'Body field', 'Parameter', 'hook_type']);

/** Notes that begin with fields, rather than name some as an example. */
const NESTED = /^(?:Omitted[^.]*\. )?(?:Fields |Items: )?`/;

interface Reading {
  section: string;
  /** What the text before a table says that it is about. */
  part: string;
  columns: string[];
}

/**
 * The tables of fields in a specification in Markdown, and its lists of fields in bullets. A section with more tables
 * than one names them by what the line before says: `2.5 static_hosting`.
 */
export function readTables(markdown: string): SpecTables {
  const tables: SpecTables = {};
  const at: Reading = { section: '', part: '', columns: [] };
  for (const line of markdown.split('\n')) {
    if (line.startsWith('|')) readRow(tables, at, cellsOf(line));
    else readText(tables, at, line);
  }
  return tables;
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

function readText(tables: SpecTables, at: Reading, line: string): void {
  at.columns = [];
  const heading = /^#+ (?:(\d+(?:\.\d+)*)\.? )?(.*)$/.exec(line);
  if (heading !== null) {
    const [, number, words = ''] = heading;
    at.section = number ?? at.section;
    at.part = number === undefined ? (words.split(':')[0] ?? '').toLowerCase() : '';
    return;
  }
  const about = /^(?:For `(\w+)` a|(Server entry|Allowed `hook_type` values))/.exec(line);
  if (about !== null) at.part = about[1] ?? (about[2] === 'Server entry' ? 'server' : 'types');
  const common = /^Common fields shown: (.*)$/.exec(line)?.[1];
  if (common !== undefined) tables[at.section] = Object.fromEntries(nestedIn(common));
  const bullet = /^- (\w+): (`.*)$/.exec(line);
  const [, name = '', fields = ''] = bullet ?? [];
  if (bullet !== null && fields.includes('(')) {
    tables[`${at.section} ${name.toLowerCase()}`] = Object.fromEntries(nestedIn(fields));
  }
}

function readRow(tables: SpecTables, at: Reading, cells: string[]): void {
  if (cells.every((cell) => /^-+$/.test(cell))) return;
  if (at.columns.length === 0) {
    at.columns = cells;
    return;
  }
  const [first = ''] = at.columns;
  const isTypes = first === 'hook_type';
  if (!OF_FIELDS.has(first) || !(isTypes || at.columns.includes('Type'))) return;
  const key = `${at.section} ${at.part}`.trim();
  const [name = ''] = cells;
  const read = isTypes ? { [name]: propertiesIn(cells.at(-1) ?? '') } : readField(at.columns, cells);
  tables[key] = { ...tables[key], ...read };
}

/** A field, and those that its notes say are inside it. */
function readField(columns: string[], cells: string[]): Record<string, string> {
  const cell = (column: string) => cells[columns.indexOf(column)] ?? '';
  const [name = ''] = cells;
  const mark = cell('Required') === 'yes' ? '!' : '';
  const holds = /^(?:object|array)/.test(cell('Type')) && NESTED.test(cell('Notes'));
  const nested = holds ? nestedIn(cell('Notes')).map(([inner, type]) => [`${name}.${inner}`, type]) : [];
  return { [name]: typeOf(cell('Type')) + mark, ...Object.fromEntries(nested) };
}

/** `string or null (…)` is `string?`. */
function typeOf(cell: string): string {
  const [type = ''] = cell.split(' (');
  return type.replace(' or null', '?');
}

/** Fields in running text: `name` (type), `other` (type). A type that is not given is text. */
function nestedIn(text: string): [name: string, type: string][] {
  return [...text.matchAll(/`(\w+)`(?: \(([^)]*)\))?/g)].map(([, name = '', note = '']) => {
    const type = /^(string|integer|number|boolean|timestamp)\b/.exec(note)?.[1] ?? 'string';
    return [name, note.includes('null') ? `${type}?` : type];
  });
}

/** The names of an integration type's properties; `!` marks those that are required. */
function propertiesIn(cell: string): string {
  if (cell === 'none shown') return '';
  const named = cell.replace(/\(([^)]*)\)/g, (_, note: string) => (note.startsWith('required') ? '!' : ''));
  return [...named.matchAll(/\b([a-z]+(?:_[a-z]+)*)\b ?(!?)/g)]
    .filter(([, word = '']) => !['plus', 'or'].includes(word))
    .map(([, word = '', mark = '']) => word + mark)
    .join(' ');
}
