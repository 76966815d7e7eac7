import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseAllDocuments,
  visit,
} from 'yaml';
import { z } from 'zod';
import { allCommands } from '../commands/registry.ts';
import { isObject } from '../core/json.ts';
import { truncate } from '../core/mrkdwn.ts';
import { MAX_IN_CHANNEL, MAX_IN_WORKSPACE } from '../scheduler/schedules/pause-schedule.ts';
import { isAccountName } from '../service/addresses.ts';
import { Configuration, PLACED_SECTIONS } from './configuration.ts';
import { dataError } from './program.ts';
import { type Fault, SECTIONS } from './sections.ts';

export type Path = readonly PropertyKey[];

/** A document of a file. */
export interface Read {
  configuration: Configuration;
  /** Says where a path is: `line 12: channels.C1.zone`. A path that the file lacks has the line of its deepest known part. */
  placeOf(path: Path): string;
}

/** Parsing a larger file takes minutes. */
const MAX_BYTES = 20_000_000;
const MAX_NAME = 80;
/** The deepest field of a configuration has a path of five parts. */
const MAX_DEPTH = 20;
const TOO_DEEP = 'This is nested too deeply.';

/** @throws ProgramError with every fault of the file, each with its line */
export function readConfigurations(bytes: Uint8Array): Read[] {
  const counter = new LineCounter();
  const faults: string[] = [];
  // `findBadNames` looks for names that occur twice: the library compares each with all before it.
  const options = { lineCounter: counter, prettyErrors: false, uniqueKeys: false };
  const documents = parseAllDocuments(decode(bytes), options);
  const read = [...documents].flatMap((document) => readDocument(document, counter, faults));
  const workspaces = new Set<string>();
  for (const { configuration, placeOf } of read) {
    const { workspace } = configuration;
    if (workspaces.has(workspace)) faults.push(`${placeOf(['workspace'])}: ${workspace} is already above.`);
    workspaces.add(workspace);
  }
  if (faults.length === 0 && read.length > 0) return read;
  throw dataError(...(faults.length === 0 ? ['line 1: The file is empty.'] : faults));
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > MAX_BYTES) throw dataError(`The file is larger than ${MAX_BYTES / 1e6} MB.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const before = new TextDecoder().decode(bytes).split('\uFFFD', 1)[0] ?? '';
    throw dataError(`line ${before.split('\n').length}: The file is not in UTF-8.`);
  }
}

function readDocument(document: Document.Parsed, counter: LineCounter, faults: string[]): Read[] {
  const lineAt = (offset = 0): string => `line ${counter.linePos(offset).line}`;
  const broken = findBroken(document);
  faults.push(...broken.map(([offset, message]) => `${lineAt(offset)}: ${message}`));
  if (broken.length > 0) return [];
  const offsets = indexOffsets(document.contents);
  const placeOf = (path: Path): string =>
    [lineAt(findOffset(offsets, path)), path.map(printName).join('.')].filter(Boolean).join(': ');
  const value: unknown = document.toJS();
  const unknown = findUnknown(value, SHAPE);
  faults.push(...unknown.map((path) => `${placeOf(path)}: There is no such field.`));
  const { data, error } = Configuration.safeParse(value);
  const misspelt = new Set(unknown.map((path) => pathKey(path.slice(0, -1))));
  for (const issue of error?.issues ?? []) {
    const { path } = issue;
    const { message } = (issue.code === 'invalid_key' && issue.issues[0]) || issue;
    // A field that is missing beside an unknown one was probably misspelt.
    const isMisspelt = misspelt.has(pathKey(path.slice(0, -1))) && !offsets.has(pathKey(path));
    if (!isMisspelt) faults.push(`${placeOf(path)}: ${message}`);
  }
  return data === undefined ? [] : [{ configuration: data, placeOf }];
}

/** Keeps a name on one short line. */
function printName(name: PropertyKey): string {
  return truncate(String(name).replace(/[\n\t]/g, ' '), MAX_NAME);
}

type Broken = [offset: number | undefined, message: string];

/** Finds faults of the YAML itself, and aliases and tags, which `export` never prints: aliases could expand without end. */
function findBroken(document: Document.Parsed): Broken[] {
  const errors = [...document.errors, ...document.warnings];
  const tooDeep: Broken[] = errors
    .filter(({ code }) => code === 'RESOURCE_EXHAUSTION')
    .map(({ pos }) => [pos[0], TOO_DEEP]);
  // Other errors follow from this one.
  if (tooDeep.length > 0) return tooDeep.slice(0, 1);
  if (errors.length > 0) return errors.map(({ pos, message }) => [pos[0], message]);
  const broken: Broken[] = [];
  visit(document, (_, node, path) => {
    if (path.length > 2 * MAX_DEPTH) return visit.SKIP;
    const range = isNode(node) ? node.range : undefined;
    if (path.length === 2 * MAX_DEPTH) broken.push([range?.[0], TOO_DEEP]);
    if (isMap(node)) broken.push(...findBadNames(node.items));
    if (isAlias(node) || (isNode(node) && (node.anchor ?? node.tag) !== undefined))
      broken.push([range?.[0], 'Aliases (*), anchors (&) and tags (!) are not allowed.']);
    return undefined;
  });
  return broken;
}

function findBadNames(pairs: readonly Pair[]): Broken[] {
  const names = new Set<string>();
  return pairs.flatMap(({ key }): Broken[] => {
    const offset = isNode(key) ? key.range?.[0] : undefined;
    if (isAlias(key)) return [];
    if (!isScalar(key)) return [[offset, 'A name has to be a word.']];
    const name = String(key.value);
    if (names.has(name)) return [[offset, 'Map keys must be unique.']];
    names.add(name);
    return [];
  });
}

/** The part of a JSON schema that says which fields there are. */
interface FieldShape {
  properties?: Record<string, FieldShape>;
  additionalProperties?: FieldShape | boolean;
  oneOf?: FieldShape[];
  const?: unknown;
}

const SHAPE = z.toJSONSchema(Configuration, { io: 'input', unrepresentable: 'any' }) as FieldShape;

/** Finds fields that the schema does not have, whatever else is wrong with the file. */
function findUnknown(value: unknown, shape: FieldShape, path: Path = []): Path[] {
  if (!isObject(value)) return [];
  const { properties, additionalProperties } = chooseShape(shape, value);
  if (properties === undefined && additionalProperties === undefined) return [];
  return Object.keys(value).flatMap((key) => {
    const isKnown = properties !== undefined && Object.hasOwn(properties, key);
    // Records of zod ignore this name.
    const others = key === '__proto__' ? undefined : additionalProperties;
    const field = isKnown ? properties[key] : others;
    return typeof field === 'object' ? findUnknown(value[key], field, [...path, key]) : [[...path, key]];
  });
}

/** Chooses one of several shapes by its `kind`. Without a `kind`, allows the fields of all of them. */
function chooseShape({ oneOf, ...shape }: FieldShape, value: Record<string, unknown>): FieldShape {
  if (oneOf === undefined) return shape;
  const chosen = oneOf.find(({ properties: { kind } = {} }) => kind?.const === value.kind);
  return chosen ?? { properties: Object.assign({}, ...oneOf.map(({ properties }) => properties)) };
}

/** Offsets in the file of names, and of items of lists, by `pathKey`. */
type Offsets = Map<string, number | undefined>;

function pathKey(path: Path): string {
  return JSON.stringify(path.map(String));
}

function indexOffsets(node: unknown, path: Path = [], offsets: Offsets = new Map()): Offsets {
  if (path.length === 0) offsets.set(pathKey(path), isNode(node) ? node.range?.[0] : undefined);
  const entries: Array<[name: PropertyKey, key: unknown, value: unknown]> = [];
  if (isMap(node)) for (const { key, value } of node.items) entries.push([String(key), key, value]);
  if (isSeq(node)) for (const [at, item] of node.items.entries()) entries.push([at, item, item]);
  for (const [name, key, value] of entries) {
    const inner = [...path, name];
    offsets.set(pathKey(inner), isNode(key) ? key.range?.[0] : undefined);
    indexOffsets(value, inner, offsets);
  }
  return offsets;
}

function findOffset(offsets: Offsets, path: Path): number | undefined {
  const offset = offsets.get(pathKey(path));
  return offset === undefined && path.length > 0 ? findOffset(offsets, path.slice(0, -1)) : offset;
}

/** @param connected names of the connected accounts */
export function findContentFaults(
  requested: Configuration,
  today: Configuration,
  connected: readonly string[],
): Fault[] {
  const { roles, channels = {} } = requested;
  const accounts = new Set([...connected, ...listPlaces(today).map(({ entry }) => entry.account)]);
  const hasAdmin = roles === undefined || roles.admin.length + (roles.groups?.admin.length ?? 0) > 0;
  return [
    [['roles', 'admin'], !hasAdmin && 'Name somebody, or nobody could ever set the roles.'],
    ...Object.entries(channels).flatMap(([id, { commands }]): Fault[] => [
      [
        ['channels', id, 'commands'],
        commands?.length === 0 && 'Name the commands, or leave this out to allow all.',
      ],
      ...(commands ?? []).map((name, at): Fault => [['channels', id, 'commands', at], commandFault(name)]),
    ]),
    ...SECTIONS.flatMap(({ name, findFaults }) => {
      const faults = findFaults?.(Object.entries(requested[name] ?? {})) ?? [];
      return faults.map(([path, message]): Fault => [[name, ...path], message]);
    }),
    // Until an account is connected, schedules wait for theirs.
    ...listPlaces(requested).map(({ path, entry: { account } }): Fault => {
      const isThere = connected.length === 0 ? isAccountName(account ?? 'any') : accounts.has(account);
      return [[...path, 'account'], account !== undefined && !isThere && `There is no account ${account}.`];
    }),
    ...roomFaults({ ...today, ...requested }),
  ];
}

function commandFault(name: string): string | false {
  return !allCommands().some((command) => command.name === name) && `There is no command ${name}.`;
}

/** Lists the entries that may name an account. */
function listPlaces(configuration: Configuration) {
  return PLACED_SECTIONS.flatMap((name) =>
    Object.entries<{ channel?: string; account?: string | undefined }>(configuration[name] ?? {}).map(
      ([id, entry]) => ({ path: [name, id], entry }),
    ),
  );
}

function roomFaults(after: Configuration): Fault[] {
  const channels = listPlaces(after).flatMap(({ entry: { channel } }) => channel ?? []);
  const crowded = [...Map.groupBy(channels, (channel) => channel)].find(
    ([, all]) => all.length > MAX_IN_CHANNEL,
  );
  return [
    [
      ['workspace'],
      crowded &&
        `${crowded[0]} would have ${crowded[1].length} schedules, and ${MAX_IN_CHANNEL} is the most.`,
    ],
    [['workspace'], channels.length > MAX_IN_WORKSPACE && `${MAX_IN_WORKSPACE} schedules are the most.`],
  ];
}
