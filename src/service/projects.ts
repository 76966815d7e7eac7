import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { projectId } from '../core/project-ref.ts';
import {
  type CallOptions,
  type ListOptions,
  type Reader,
  readJson,
  readRows,
  requestJson,
  requestRows,
  type SkippedRows,
} from './call.ts';
import type { AccountClient } from './client.ts';
import {
  Flag,
  Identifier,
  listAt,
  listUnder,
  NullableText,
  NullableTimestamp,
  OptionalIdentifier,
  OptionalText,
  readStatus,
  StatedTimestamp,
} from './fields.ts';

/**
 * API 4.11 shows no shape. The whole record holds an address that starts deployments, so Deckhand reads only
 * these fields.
 */
export const Project = z
  .object({
    name: OptionalText,
    permalink: OptionalIdentifier,
    identifier: OptionalIdentifier,
    /** Null: never. */
    last_deployed_at: StatedTimestamp,
    starred: Flag,
  })
  .transform(({ name, permalink, identifier, last_deployed_at, starred }, context) => {
    const key = permalink ?? identifier;
    if (key === undefined) {
      context.addIssue('neither permalink nor identifier');
      return z.NEVER;
    }
    const stable = identifier === undefined ? {} : { identifier };
    return { name: name || key, permalink: key, ...stable, last_deployed_at, starred };
  });
export type Project = z.infer<typeof Project>;

/** Lists each project once, starred ones first, otherwise in the service’s order. API 4.11 (docs/service-api.md). */
export async function listProjects(account: AccountClient, options?: ListOptions): Promise<Project[]> {
  const call = { operation: 'listProjects', path: ['projects.json'] };
  const projects = await requestRows(account, listUnder('projects'), Project, call, options);
  const unique = new Map(projects.map((project) => [projectId(project), project]));
  return [...unique.values()].toSorted((one, other) => Number(other.starred) - Number(one.starred));
}

/** Words that services use for `ok`. */
const WENT_WELL: ReadonlySet<string> = new Set(
  'ok okay success successful succeeded pass passed reachable connected'.split(' '),
);

const Outcome = z.object({
  status: z
    .string()
    .transform((word) => (WENT_WELL.has(word.trim().toLowerCase()) ? 'ok' : readStatus(word))),
  message: NullableText,
});
const ServerOutcome = Outcome.extend({
  name: OptionalText,
  identifier: OptionalIdentifier,
}).transform(({ name, identifier = name, ...outcome }) => ({
  ...outcome,
  name: name || identifier,
  identifier,
}));

/** API 2.8 (docs/service-api.md). `readRun` reads the results item by item. */
const Answer = z.object({
  identifier: Identifier,
  status: z.string().min(1).transform(readStatus),
  created_at: NullableTimestamp,
  completed_at: NullableTimestamp,
  results: z.unknown().optional(),
});

/** `status` may be any word. `hasEnded` tells if the run has ended. */
export interface TestRun extends Omit<z.infer<typeof Answer>, 'results'> {
  results: TestResults | undefined;
}

/** A run with another status than `completed` and `failed` has ended only if it has an end time. */
export function hasEnded({ status, completed_at }: { status: string; completed_at: string | null }): boolean {
  return status === 'completed' || status === 'failed' || completed_at !== null;
}

/** A test result item. API 3.1. */
type TestStatus = 'ok' | 'error';
export interface TestOutcome {
  status: TestStatus;
  /** Foreign text. Often null, and always null for `ok`. */
  message: string | null;
}
export interface TestResults {
  /** Absent in a run of one server. */
  repository?: TestOutcome;
  servers: Array<TestOutcome & { name: string; identifier: string }>;
  /** Unreadable items of an ended run. Absent if there are none. */
  skipped?: readonly SkippedRows[];
}

function readRun(
  endpoint: Pick<AccountClient, 'reportSkipped'>,
  { results, ...run }: z.infer<typeof Answer>,
  operation: string,
): TestRun {
  if (!isObject(results)) return { ...run, results: undefined };
  // An incomplete item of a running test may be complete at the next poll.
  const isRunning = !hasEnded(run);
  const reader = isRunning ? { reportSkipped: () => undefined } : endpoint;
  const skipped: SkippedRows[] = [];
  const read = <T extends z.infer<typeof Outcome>>(schema: z.ZodType<T>, items: unknown) =>
    decideAll(readRows(reader, schema, readItems(items), operation, { skipped }), isRunning);
  const [repository] = read(Outcome, results.repository);
  const servers = read(ServerOutcome, results.servers);
  const readable = { ...(repository === undefined ? {} : { repository }), servers };
  const isComplete = isRunning || skipped.length === 0;
  return { ...run, results: isComplete ? readable : { ...readable, skipped } };
}

/** Lists the items, or one bare item. */
function readItems(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  const list = isObject(value) ? listAt(value, 'servers') : value;
  return Array.isArray(list) ? list : [value];
}

/**
 * Leaves out undecided items of a running test. After the end, an item that is neither `ok` nor `error`
 * counts as an error that quotes its status. Without it, the run would look better than it is.
 */
function decideAll<T extends z.infer<typeof Outcome>>(
  items: T[],
  isRunning: boolean,
): Array<T & { status: TestStatus }> {
  return isRunning ? items.filter(isDecided) : items.map(decide);
}

function decide<T extends z.infer<typeof Outcome>>(item: T): T & { status: TestStatus } {
  if (isDecided(item)) return item;
  return { ...item, status: 'error', message: item.message ?? `the service says “${item.status}”` };
}

function isDecided<T extends { status: string }>(item: T): item is T & { status: TestStatus } {
  return item.status === 'ok' || item.status === 'error';
}

/**
 * Starts a test of a project's repository and all its servers, or of one server. API 4.6. Rejects with a ServiceError.
 * @param project a permalink or identifier
 */
export async function startTestAccess(
  account: AccountClient,
  project: string,
  server?: string,
): Promise<TestRun> {
  const path = ['projects', project, ...(server === undefined ? [] : ['servers', server]), 'test_access'];
  const operation = 'startTestAccess';
  const call = { operation, method: 'POST', path } as const;
  return readRun(account, await requestJson(account, Answer, call), operation);
}

/** The last answer about a polled run. */
export interface LastRead {
  /** The body, a character for each byte. */
  text?: string;
  run?: TestRun;
}

/** Longer answers are not remembered, because there may be thousands of runs. */
const MAX_REMEMBERED_BYTES = 16 * 1024;

const readAnswer = readJson(Answer);

/**
 * Reads a run. Poll it every 2 to 3 seconds until it has ended. API 4.6.
 * @param last the last answer about this run: saves reading the same answer again
 */
export async function getTestAccess(
  account: AccountClient,
  project: string,
  run: string,
  options?: CallOptions,
  last: LastRead = {},
): Promise<TestRun> {
  const read: Reader<TestRun> = (answer, operation) => {
    const isShort = answer.body.length <= MAX_REMEMBERED_BYTES;
    const text = isShort ? answer.body.toString('latin1') : undefined;
    if (last.run !== undefined && text !== undefined && last.text === text) return last.run;
    const latest = readRun(account, readAnswer(answer, operation), operation);
    if (text !== undefined) Object.assign(last, { text, run: latest });
    return latest;
  };
  const path = ['projects', project, 'test_access', run];
  return account.send({ operation: 'getTestAccess', method: 'GET', scope: 'account', path, read }, options);
}

/** One thing that a run tests: the repository, or a server. */
export interface Item {
  key: string;
  /** Foreign text. */
  title: string;
  /** Undefined until the service decides it. */
  status: TestStatus | undefined;
  /** The reason of the failure, from the service. */
  message: string | null;
  /** Set for a server. */
  identifier?: string;
}

/**
 * Items of a run: those with a result, and during the run those that it waits for.
 * @param waiting true during the run
 */
export function listItems(
  target: { server?: { name: string } | undefined },
  results: TestResults | undefined,
  waiting = false,
): Item[] {
  const { repository, servers = [] } = results ?? {};
  const undecided = { status: undefined, message: null };
  const items: Item[] = servers.map(({ identifier, name: title, status, message }) => {
    return { key: `server:${identifier}`, title, status, message, identifier };
  });
  if (target.server !== undefined && items.length === 0 && waiting)
    items.push({ ...undecided, key: 'server', title: target.server.name });
  const isTested = repository !== undefined || (waiting && target.server === undefined);
  return isTested
    ? [{ ...(repository ?? undecided), key: 'repository', title: 'Repository' }, ...items]
    : items;
}

export function isFailing({ status }: Pick<Item, 'status'>): boolean {
  return status === 'error';
}

/** The stored outcome of an ended run, with all that its message shows. */
export interface RunOutcome {
  serviceStatus?: string | undefined;
  repository?: TestStatus | undefined;
  reachable?: number | undefined;
  total?: number | undefined;
  /** Identifiers of servers. */
  unreachable?: string[] | undefined;
  /** Number of results that could not be read. */
  unread?: number | undefined;
}

export function summarizeRun({ status, results }: Pick<TestRun, 'status' | 'results'>): RunOutcome {
  const servers = results?.servers ?? [];
  return {
    serviceStatus: status,
    repository: results?.repository?.status,
    reachable: servers.filter((server) => server.status === 'ok').length,
    total: servers.length,
    unreachable: servers.filter(({ status }) => status !== 'ok').map(({ identifier }) => identifier),
    unread: results?.skipped?.reduce((sum, rows) => sum + rows.count, 0),
  };
}

/** The service's times, milliseconds since the epoch; undefined if it gives none. */
export function readRunTimes({ created_at, completed_at }: Pick<TestRun, 'created_at' | 'completed_at'>) {
  const parse = (text: string | null) => (text === null ? undefined : Date.parse(text));
  return { createdAt: parse(created_at), completedAt: parse(completed_at) };
}
