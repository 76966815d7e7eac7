import { type Document, isMap, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import { isObject } from '../core/json.ts';
import { DataError } from '../program.ts';
import { Configuration } from './configuration.ts';

export type Path = readonly PropertyKey[];

/** A document of a file, with what says where in the file something stands. */
export interface Read {
  configuration: Configuration;
  /** `line 12: channels.C1.zone`, of that, or of what it would stand in. */
  placeOf(path: Path): string;
}

/** @throws DataError with every fault of the file, each with its line */
export function readConfigurations(text: string): Read[] {
  const counter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: counter, prettyErrors: false });
  const faults: string[] = [];
  const read = [...documents].flatMap((document) => readDocument(document, counter, faults));
  if (faults.length === 0 && read.length > 0) return read;
  throw new DataError(faults.length === 0 ? ['The file is empty.'] : faults);
}

function readDocument(document: Document.Parsed, counter: LineCounter, faults: string[]): Read[] {
  const lineAt = (offset: number): string => `line ${counter.linePos(offset).line}`;
  const placeOf = (path: Path): string => `${lineAt(offsetOf(document, path))}: ${path.join('.')}`;
  const broken = [...document.errors, ...document.warnings];
  faults.push(...broken.map(({ pos, message }) => `${lineAt(pos[0])}: ${message}`));
  if (broken.length > 0) return [];
  const given: unknown = document.toJS();
  const { data, error } = Configuration.safeParse(given);
  faults.push(...(error?.issues ?? []).map(({ path, message }) => `${placeOf(path)}: ${message}`));
  if (data === undefined) return [];
  faults.push(...unknownIn(given, data).map((path) => `${placeOf(path)}: There is no such field.`));
  return [{ configuration: data, placeOf }];
}

/** The fields that the schema has left out. */
function unknownIn(given: unknown, read: unknown, path: Path = []): Path[] {
  if (!isObject(given)) return [];
  const known: Record<string, unknown> = isObject(read) ? read : {};
  return Object.keys(given).flatMap((key) =>
    key in known ? unknownIn(given[key], known[key], [...path, key]) : [[...path, key]],
  );
}

/** Where the last name of the path stands that is there. */
function offsetOf({ contents }: Document.Parsed, path: Path): number {
  let node: unknown = contents;
  let offset = contents?.range[0] ?? 0;
  for (const step of path) {
    const pair = isMap<{ range?: number[] }>(node)
      ? node.items.find(({ key }) => String(key) === String(step))
      : undefined;
    const item = isSeq<{ range?: number[] }>(node) ? node.items[Number(step)] : undefined;
    offset = (pair?.key ?? item)?.range?.[0] ?? offset;
    node = pair?.value ?? item;
  }
  return offset;
}
