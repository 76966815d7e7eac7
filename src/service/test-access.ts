import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { Call, CallOptions } from './call.ts';
import type { AccountClient } from './client.ts';
import { Identifier, NullableText, NullableTimestamp, OptionalText } from './shapes.ts';

const Outcome = z.object({ status: z.string(), message: NullableText });
const ServerOutcome = Outcome.extend({ name: OptionalText, identifier: Identifier });

const Results = z.object({
  repository: Outcome.nullish(),
  servers: z
    .array(ServerOutcome)
    .nullish()
    .transform((servers) => servers ?? []),
});

/** Spec 2.8, with `pending` read as `running`. */
export const TestRun = z
  .object({
    identifier: Identifier,
    status: z.enum(['running', 'pending', 'completed', 'failed']),
    created_at: NullableTimestamp,
    completed_at: NullableTimestamp,
    results: Results.nullish(),
  })
  .transform(({ results, ...run }, context) => {
    const status = run.status === 'pending' ? 'running' : run.status;
    return { ...run, status, results: results ? decided(results, status === 'running', context) : undefined };
  });
export type TestRun = z.infer<typeof TestRun>;

/** A test result item (spec 3.1). */
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
 * Results early in a run may hold items that are not decided yet, which are left out. At its end every item
 * must be decided: leaving one out would say that all is well.
 */
function decided(
  results: z.infer<typeof Results>,
  isRunning: boolean,
  context: z.RefinementCtx,
): TestResults {
  const servers = results.servers.filter(isDecided);
  const repository = results.repository && isDecided(results.repository) ? results.repository : undefined;
  const isWhole = servers.length === results.servers.length && (!results.repository || repository);
  if (!isWhole && !isRunning) context.addIssue('a result is neither ok nor error');
  return { ...(repository ? { repository } : {}), servers };
}

function isDecided<T extends { status: string }>(item: T): item is T & { status: TestStatus } {
  return item.status === 'ok' || item.status === 'error';
}

/**
 * Queues a test of a project's repository and all its servers, or of one server. Spec 4.6.
 * `project` is a permalink or identifier. Rejects with a ServiceError.
 */
export function startTestAccess(
  account: AccountClient,
  project: string,
  server?: string,
  options?: CallOptions,
): Promise<TestRun> {
  const path = ['projects', project, ...(server === undefined ? [] : ['servers', server]), 'test_access'];
  return account.send(testCall('startTestAccess', 'POST', path), options);
}

/** The run as it stands; poll it every 2 to 3 seconds while it is `running`. Spec 4.6. */
export function getTestAccess(
  account: AccountClient,
  project: string,
  run: string,
  options?: CallOptions,
): Promise<TestRun> {
  return account.send(testCall('getTestAccess', 'GET', ['projects', project, 'test_access', run]), options);
}

function testCall(operation: string, method: 'GET' | 'POST', path: string[]): Call<TestRun> {
  // An empty body is no JSON, although the header says that it is.
  const body = method === 'POST' ? { body: {} } : {};
  return { operation, method, path, scope: 'record', ...body, read: jsonOf(TestRun) };
}
