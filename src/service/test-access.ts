import { z } from 'zod';
import { type CallOptions, requestJson } from './call.ts';
import type { AccountClient } from './client.ts';
import { Identifier, NullableText, NullableTimestamp, OptionalText } from './shapes.ts';

const Outcome = z.object({ status: z.string(), message: NullableText });
const ServerOutcome = Outcome.extend({ name: OptionalText, identifier: Identifier.optional() }).transform(
  ({ name, identifier, ...outcome }) => ({ ...outcome, name, identifier: identifier ?? name }),
);

const Results = z.object({
  repository: Outcome.nullish(),
  servers: z
    .array(ServerOutcome)
    .nullish()
    .transform((servers) => servers ?? []),
});

/** API 2.8 (docs/service-api.md). `status` may be any word; `hasEnded` says whether the run goes on. */
export const TestRun = z
  .object({
    identifier: Identifier,
    status: z.string().min(1),
    created_at: NullableTimestamp,
    completed_at: NullableTimestamp,
    results: Results.nullish(),
  })
  .transform(({ results, ...run }) => ({
    ...run,
    results: results ? decided(results, !hasEnded(run)) : undefined,
  }));
export type TestRun = z.infer<typeof TestRun>;

/** A word other than `completed` and `failed` ends a run only together with the time at which it ended. */
export function hasEnded({ status, completed_at }: { status: string; completed_at: string | null }): boolean {
  return status === 'completed' || status === 'failed' || completed_at !== null;
}

/** A test result item. API 3.1. */
type TestStatus = 'ok' | 'error';
export interface TestOutcome {
  status: TestStatus;
  /** Foreign text; null unless the status is `error`, and perhaps then. */
  message: string | null;
}
export interface TestResults {
  /** Absent in a run of one server. */
  repository?: TestOutcome;
  servers: Array<TestOutcome & { name: string; identifier: string }>;
}

/**
 * While a run goes on, items that are not decided yet are left out. At its end an item that is neither `ok` nor `error`
 * counts as an error that says so: without it the run would look better than it is.
 */
function decided(results: z.infer<typeof Results>, isRunning: boolean): TestResults {
  const all = <T extends z.infer<typeof Outcome>>(items: T[]): Array<T & { status: TestStatus }> =>
    isRunning ? items.filter(isDecided) : items.map(decide);
  const [repository] = all(results.repository ? [results.repository] : []);
  return { ...(repository ? { repository } : {}), servers: all(results.servers) };
}

function decide<T extends z.infer<typeof Outcome>>(item: T): T & { status: TestStatus } {
  if (isDecided(item)) return item;
  return { ...item, status: 'error', message: item.message ?? `the service says “${item.status}”` };
}

function isDecided<T extends { status: string }>(item: T): item is T & { status: TestStatus } {
  return item.status === 'ok' || item.status === 'error';
}

/**
 * Queues a test of a project's repository and all its servers, or of one server. API 4.6.
 * `project` is a permalink or identifier. Rejects with a ServiceError.
 */
export function startTestAccess(
  account: AccountClient,
  project: string,
  server?: string,
  options?: CallOptions,
): Promise<TestRun> {
  const path = ['projects', project, ...(server === undefined ? [] : ['servers', server]), 'test_access'];
  // An empty body is not JSON, although the header says that it is.
  const call = { operation: 'startTestAccess', method: 'POST', path, body: {} } as const;
  return requestJson(account, TestRun, call, options);
}

/** The run as it stands; poll it every 2 to 3 seconds until it has ended. API 4.6. */
export function getTestAccess(
  account: AccountClient,
  project: string,
  run: string,
  options?: CallOptions,
): Promise<TestRun> {
  const call = { operation: 'getTestAccess', path: ['projects', project, 'test_access', run] };
  return requestJson(account, TestRun, call, options);
}
