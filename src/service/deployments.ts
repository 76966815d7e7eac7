import { z } from 'zod';
import { type CallOptions, readRows, requestJson } from './call.ts';
import type { AccountClient } from './client.ts';
import {
  Identifier,
  listUnder,
  NullableText,
  NullableTimestamp,
  Numeric,
  OptionalIdentifier,
  OptionalText,
  orElse,
  takeFirst,
  YesOrNo,
} from './fields.ts';

/** Operations beyond the API's outline (docs/service-api.md, 11). Call them with `workspace.offered`. */

const Revision = z.object({
  ref: OptionalText,
  author: OptionalText,
  message: OptionalText,
  short_message: OptionalText,
});
export interface Revision extends z.infer<typeof Revision> {}

/** Enough for the servers of one deployment. */
const MAX_SERVERS = 1_000;

const Servers = z.preprocess(
  (servers) => takeFirst(servers, MAX_SERVERS),
  z.array(
    z
      .object({ identifier: OptionalIdentifier, name: OptionalText })
      .catch({ identifier: undefined, name: '' }),
  ),
);

const Deployment = z.object({
  identifier: Identifier,
  /** Any word. */
  status: OptionalText,
  deployer: OptionalText,
  end_revision: orElse(Revision, undefined),
  servers: Servers.catch([]),
  timestamps: orElse(z.object({ completed_at: NullableTimestamp }), { completed_at: null }),
});
export interface Deployment extends z.infer<typeof Deployment> {}

const Step = z.object({
  identifier: Identifier,
  /** Its kind. */
  step: OptionalText,
  /** The part of the deployment. */
  stage: OptionalText,
  /** Name of a server. */
  server: NullableText,
  /** Description for people. */
  description: OptionalText,
  /** Any word. */
  status: OptionalText,
  /** False if it has no log. */
  logs: orElse(YesOrNo, true),
});
export interface Step extends z.infer<typeof Step> {}

const MAX_STEPS = 1_000;

const LogEntry = z.object({
  id: OptionalIdentifier,
  message: OptionalText,
  /** Output of a command, in several lines. */
  detail: OptionalText,
  /** Any word; it tells an error from the rest. */
  type: OptionalText,
});
export interface LogEntry extends z.infer<typeof LogEntry> {}

/** Maximum number of read entries of a log. */
export const MAX_ENTRIES = 200;

/** Number of deployments on the page that is read. */
const PER_PAGE = '30';

/** The latest deployments of a project, without their steps. @param project a permalink or identifier */
export async function listDeployments(
  client: AccountClient,
  project: string,
  options?: CallOptions,
): Promise<Deployment[]> {
  const operation = 'listDeployments';
  const path = ['projects', project, 'deployments'];
  const call = { operation, path, query: { per_page: PER_PAGE } };
  const { rows } = await requestJson(client, listUnder('deployments'), call, options);
  return readRows(client, Deployment, rows, operation);
}

/** A deployment and its steps, in order. An archived one has none. */
export async function getDeployment(
  client: AccountClient,
  project: string,
  deployment: string,
  options?: CallOptions,
): Promise<Deployment & { steps: Step[] }> {
  const operation = 'getDeployment';
  const schema = Deployment.extend({
    steps: z.preprocess((steps) => takeFirst(steps, MAX_STEPS), z.array(z.unknown())).catch([]),
  });
  const call = { operation, path: ['projects', project, 'deployments', deployment] };
  const answer = await requestJson(client, schema, call, options);
  return { ...answer, steps: readRows(client, Step, answer.steps, operation) };
}

/**
 * The latest entries of a step's log, in order, at most `MAX_ENTRIES`.
 * @param before id of an entry; only entries before it are read
 */
export async function readStepLog(
  client: AccountClient,
  { project, deployment, step }: { project: string; deployment: string; step: string },
  { before, ...options }: CallOptions & { before?: string | undefined } = {},
): Promise<LogEntry[]> {
  const operation = 'readStepLog';
  const path = ['projects', project, 'deployments', deployment, 'steps', step, 'logs'];
  const call = { operation, path, ...(before === undefined ? {} : { query: { before } }) };
  const { rows } = await requestJson(client, listUnder('logs'), call, options);
  return readRows(client, LogEntry, rows.slice(-MAX_ENTRIES), operation);
}

/** Maximum number of read commits. */
const MAX_COMMITS = 1_000;

const UndeployedChanges = z.object({
  count: orElse(Numeric, 0),
  /** True if more commits wait than the service counts. */
  truncated: orElse(YesOrNo, false),
  check_in_progress: orElse(YesOrNo, false),
  commits: z.preprocess((commits) => takeFirst(commits, MAX_COMMITS), z.array(z.unknown())).catch([]),
});

const WaitingCommit = Revision.extend({ timestamp: NullableTimestamp, url: OptionalText });
interface WaitingCommit extends z.infer<typeof WaitingCommit> {}

/** Commits that are not deployed yet. */
export interface UndeployedChanges {
  count: number;
  /** True if there are more. */
  isMore: boolean;
  /** True if the service still looks. */
  isLooking: boolean;
  /** In the service's order; maybe not all. */
  commits: readonly WaitingCommit[];
}

/** The commits of a project that wait to be deployed. @param project a permalink or identifier */
export async function getUndeployedChanges(
  client: AccountClient,
  project: string,
  options?: CallOptions,
): Promise<UndeployedChanges> {
  const operation = 'getUndeployedChanges';
  const call = { operation, path: ['projects', project, 'undeployed_changes'] };
  const answer = await requestJson(client, UndeployedChanges, call, options);
  const { count, truncated: isMore, check_in_progress: isLooking, commits: rows } = answer;
  return { count, isMore, isLooking, commits: readRows(client, WaitingCommit, rows, operation) };
}
