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
import { faultOf } from '../commands/schedules/cadence-words.ts';
import { isObject } from '../core/json.ts';
import { truncate } from '../core/mrkdwn.ts';
import { feedPlace, isSameSubject, type TimedSchedule } from '../records/schedules.ts';
import { MAX_IN_CHANNEL, MAX_IN_WORKSPACE } from '../scheduler/schedules/lifecycle.ts';
import { isAccountName } from '../service/addresses.ts';
import { Configuration } from './configuration.ts';
import { DataError } from './program.ts';

export type Path = readonly PropertyKey[];

/** A document of a file, and how to say where in the file something is. */
export interface Read {
  configuration: Configuration;
  /** `line 12: channels.C1.zone` of the path, or of the deepest part of it that the file has. */
  placeOf(path: Path): string;
}

/** More is never needed, and is parsed for minutes. */
const MAX_BYTES = 20_000_000;
const MAX_NAME = 80;
/** A path in the file; the deepest field that there is has five parts. */
const MAX_DEPTH = 20;
const TOO_DEEP = 'This is nested too deeply.';

/** @throws DataError with every fault of the file, each with its line */
export function readConfigurations(bytes: Uint8Array): Read[] {
  const counter = new LineCounter();
  const faults: string[] = [];
  // Our own check of names that are there twice: that of the library compares each with all before it.
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
  throw new DataError(faults.length === 0 ? ['line 1: The file is empty.'] : faults);
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > MAX_BYTES) throw new DataError([`The file is larger than ${MAX_BYTES / 1e6} MB.`]);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const before = new TextDecoder().decode(bytes).split('\uFFFD', 1)[0] ?? '';
    throw new DataError([`line ${before.split('\n').length}: The file is not in UTF-8.`]);
  }
}

function readDocument(document: Document.Parsed, counter: LineCounter, faults: string[]): Read[] {
  const lineAt = (offset = 0): string => `line ${counter.linePos(offset).line}`;
  const broken = findBroken(document);
  faults.push(...broken.map(([offset, message]) => `${lineAt(offset)}: ${message}`));
  if (broken.length > 0) return [];
  const findOffset = createFinder(document);
  const placeOf = (path: Path): string =>
    [lineAt(findOffset(path)), path.map(printName).join('.')].filter(Boolean).join(': ');
  const given: unknown = document.toJS();
  const unknown = unknownIn(given, SHAPE);
  faults.push(...unknown.map((path) => `${placeOf(path)}: There is no such field.`));
  const { data, error } = Configuration.safeParse(given);
  const parents = new Set(unknown.map((path) => JSON.stringify(path.slice(0, -1))));
  for (const issue of error?.issues ?? []) {
    const { path } = issue;
    const { message } = (issue.code === 'invalid_key' && issue.issues[0]) || issue;
    // Beside a misspelt field, it is the one that seems to be missing.
    const isMisspelt = parents.has(JSON.stringify(path.slice(0, -1))) && valueAt(given, path) === undefined;
    if (!isMisspelt) faults.push(`${placeOf(path)}: ${message}`);
  }
  return data === undefined ? [] : [{ configuration: data, placeOf }];
}

/** Keeps a name on its line, and the line short. */
function printName(name: PropertyKey): string {
  return truncate(String(name).replace(/[\n\t]/g, ' '), MAX_NAME);
}

type Broken = [offset: number | undefined, message: string];

/** Faults of the YAML itself, and what a file of ours never has: aliases could expand without end. */
function findBroken(document: Document.Parsed): Broken[] {
  const errors = [...document.errors, ...document.warnings];
  const tooDeep: Broken[] = errors
    .filter(({ code }) => code === 'RESOURCE_EXHAUSTION')
    .map(({ pos }) => [pos[0], TOO_DEEP]);
  // Whatever follows is an outcome of it.
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

/** A schema as far as it says which fields there are. */
interface FieldShape {
  properties?: Record<string, FieldShape>;
  additionalProperties?: FieldShape | boolean;
  oneOf?: FieldShape[];
  const?: unknown;
}

const SHAPE = z.toJSONSchema(Configuration, { io: 'input', unrepresentable: 'any' }) as FieldShape;

/** Fields that the schema does not have, whatever else is wrong with the file. */
function unknownIn(given: unknown, shape: FieldShape, path: Path = []): Path[] {
  if (!isObject(given)) return [];
  const { properties, additionalProperties } = chooseShape(shape, given);
  if (properties === undefined && additionalProperties === undefined) return [];
  return Object.keys(given).flatMap((key) => {
    const isKnown = properties !== undefined && Object.hasOwn(properties, key);
    // The schema's check of records passes over this name.
    const others = key === '__proto__' ? undefined : additionalProperties;
    const field = isKnown ? properties[key] : others;
    return typeof field === 'object' ? unknownIn(given[key], field, [...path, key]) : [[...path, key]];
  });
}

/** One of several shapes, by its `kind`; if that is missing, whatever any of them has. */
function chooseShape({ oneOf, ...shape }: FieldShape, given: Record<string, unknown>): FieldShape {
  if (oneOf === undefined) return shape;
  const chosen = oneOf.find(({ properties: { kind } = {} }) => kind?.const === given.kind);
  return chosen ?? { properties: Object.assign({}, ...oneOf.map(({ properties }) => properties)) };
}

function valueAt(given: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, name) => {
    if (Array.isArray(value)) return value[Number(name)];
    return isObject(value) && Object.hasOwn(value, name) ? value[String(name)] : undefined;
  }, given);
}

/** Finds where the last name of a path is that the document has. */
function createFinder({ contents }: Document.Parsed): (path: Path) => number | undefined {
  type Found = { key: unknown; value: unknown };
  const cached = new Map<unknown, Map<string, Found>>();
  function namesOf(node: unknown): Map<string, Found> {
    const names = cached.get(node) ?? new Map<string, Found>();
    if (cached.has(node)) return names;
    if (isMap(node)) for (const { key, value } of node.items) names.set(String(key), { key, value });
    if (isSeq(node))
      for (const [at, item] of node.items.entries()) names.set(String(at), { key: item, value: item });
    cached.set(node, names);
    return names;
  }
  return (path) => {
    let node: unknown = contents;
    let offset = contents?.range[0];
    for (const step of path) {
      const { key, value } = namesOf(node).get(String(step)) ?? {};
      offset = (isNode(key) ? key.range?.[0] : undefined) ?? offset;
      node = value;
    }
    return offset;
  };
}

type Timed = Pick<TimedSchedule, 'cadence' | 'zone'>;

/** What a schema cannot see: names that mean nothing, and what there may not be. */
export type Fault = [path: readonly PropertyKey[], message: string | false | undefined];

/** Those without a message are none. @param connected the accounts, by name */
export function faultsOf(wanted: Configuration, today: Configuration, connected: readonly string[]): Fault[] {
  const { roles, channels = {}, digests = {}, guards = {}, watches = {}, notices = {} } = wanted;
  const accounts = new Set([...connected, ...placesIn(today).map(({ entry }) => entry.account)]);
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
    ...cadenceFaults('digest', digests),
    ...cadenceFaults('guard', guards),
    ...twinFaults(watches),
    ...Object.entries(notices).map(([id, entry]): Fault => {
      const right = feedPlace(entry);
      return [['notices', id], id !== right && `Its name has to be ${right}.`];
    }),
    // Where no account is connected yet, schedules wait for theirs.
    ...placesIn(wanted).map(({ path, entry: { account } }): Fault => {
      const isThere = connected.length === 0 ? isAccountName(account ?? 'any') : accounts.has(account);
      return [[...path, 'account'], account !== undefined && !isThere && `There is no account ${account}.`];
    }),
    ...roomFaults({ ...today, ...wanted }),
  ];
}

function cadenceFaults(noun: TimedSchedule['kind'], section: Readonly<Record<string, Timed>>): Fault[] {
  return Object.entries(section).map(([id, { cadence, zone }]) => [
    [`${noun}s`, id, 'cadence'],
    faultOf(noun, cadence, zone, 0),
  ]);
}

function commandFault(name: string): string | false {
  return !allCommands().some((command) => command.name === name) && `There is no command ${name}.`;
}

/** A channel has one watch of a project and server. */
function twinFaults(watches: NonNullable<Configuration['watches']>): Fault[] {
  const groups = Map.groupBy(Object.entries(watches), ([, { channel, account }]) => `${channel} ${account}`);
  return [...groups.values()].flatMap((group) => {
    // More are too many in any case.
    const compared = group.slice(0, MAX_IN_CHANNEL + 1).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return compared.map(([id, watch], at): Fault => {
      const [twin] = compared.slice(0, at).find(([, other]) => isSameSubject(watch, other)) ?? [];
      return [['watches', id], twin !== undefined && `It is the same watch as ${twin}.`];
    });
  });
}

/** Whatever may name an account. */
function placesIn({ channels = {}, digests = {}, guards = {}, watches = {}, notices = {} }: Configuration) {
  return Object.entries({ channels, digests, guards, watches, notices }).flatMap(([key, section]) =>
    Object.entries<{ channel?: string; account?: string | undefined }>(section).map(([id, entry]) => ({
      path: [key, id],
      entry,
    })),
  );
}

function roomFaults(after: Configuration): Fault[] {
  const channels = placesIn(after).flatMap(({ entry: { channel } }) => channel ?? []);
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
