import { createRoute, z } from '@hono/zod-openapi';
import { inProject, permit } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import type { AccountMiddleware } from '../api/env.ts';
import { recordNotFound } from '../api/failure.ts';
import { json, usualFailures } from '../api/responses.ts';
import { Timestamp, timestamp, timestampOrNull } from '../api/timestamps.ts';
import { shorten } from '../world/commits.ts';
import { listSteps, type Step as StepRecord } from '../world/deployment-steps.ts';
import { stableRevision } from '../world/ids.ts';
import type { Commit as CommitRecord, Project } from '../world/project-records.ts';
import type { Account, Deployment as DeploymentRecord } from '../world/records.ts';

const PER_PAGE = 20;
const MAX_PER_PAGE = 100;
/** Entries of one answer about a log. */
const MAX_ENTRIES = 200;
/** Commits of one answer about what waits. */
const MAX_COMMITS = 50;

const commit = { ref: z.string(), author: z.string(), email: z.string(), timestamp: Timestamp };
const messages = { message: z.string(), short_message: z.string() };

const Revision = z.strictObject({ ...commit, ...messages, tags: z.array(z.string()) }).openapi('Revision');

const DeployedServer = z.strictObject({
  identifier: z.string(),
  name: z.string(),
  environment: z.string().nullable(),
  enabled: z.boolean(),
  connection_checked_at: Timestamp.nullable(),
  connection_error_message: z.string().nullable(),
  last_revision: z.string().nullable(),
});

const Step = z
  .strictObject({
    identifier: z.string(),
    step: z.string(),
    stage: z.string(),
    server: z.string().nullable(),
    description: z.string(),
    status: z.string(),
    logs: z.boolean(),
    total_items: z.int().nullable(),
    completed_items: z.int().nullable(),
    updated_at: Timestamp,
  })
  .openapi('DeploymentStep');

const Deployment = z
  .strictObject({
    identifier: z.string(),
    status: z.string(),
    deployer: z.string(),
    branch: z.string(),
    start_revision: Revision.nullable(),
    end_revision: Revision,
    servers: z.array(DeployedServer),
    timestamps: z.strictObject({
      queued_at: Timestamp,
      started_at: Timestamp,
      completed_at: Timestamp,
      duration: z.int(),
    }),
    overview: z.string().nullable(),
    archived: z.boolean().optional(),
    log_summary: z.string().optional(),
    steps: z.array(Step).optional(),
  })
  .openapi('Deployment');

const Deployments = z.strictObject({
  pagination: z.strictObject({
    current_page: z.int(),
    total_pages: z.int(),
    total_records: z.int(),
    offset: z.int(),
  }),
  records: z.array(Deployment),
});

const LogEntry = z
  .strictObject({
    id: z.string(),
    step: z.string(),
    message: z.string(),
    detail: z.string().nullable(),
    type: z.string(),
  })
  .openapi('LogEntry');

const UndeployedChanges = z
  .strictObject({
    count: z.int(),
    truncated: z.boolean(),
    latest_deployed_revision: z.string().nullable(),
    current_revision: z.string().nullable(),
    last_checked_at: Timestamp.nullable(),
    check_in_progress: z.boolean(),
    check_fail_message: z.string().nullable(),
    commits: z.array(z.strictObject({ ...commit, ...messages, url: z.string() })),
  })
  .openapi('UndeployedChanges');

const tags = ['Deployments'];
const middleware: AccountMiddleware[] = [permit('projects'), inProject];
const DEPLOYMENT = '/projects/{project}/deployments/{identifier}';

const listDeployments = createRoute({
  method: 'get',
  path: '/projects/{project}/deployments',
  tags,
  summary: 'The deployments of a project, the latest first',
  middleware,
  request: {
    params: z.object({ project: z.string() }),
    query: z.object({
      page: z.string().optional(),
      per_page: z.string().optional(),
      to: z.string().optional().openapi({ description: 'Identifier of a server.' }),
      currently_running: z.string().optional(),
    }),
  },
  responses: { 200: json(Deployments, 'A page of deployments, without their steps.'), ...usualFailures },
});

const showDeployment = createRoute({
  method: 'get',
  path: DEPLOYMENT,
  tags,
  summary: 'A deployment with its steps',
  middleware,
  request: { params: z.object({ project: z.string(), identifier: z.string() }) },
  responses: { 200: json(Deployment, 'The deployment. An archived one has no steps.'), ...usualFailures },
});

const showLog = createRoute({
  method: 'get',
  path: `${DEPLOYMENT}/steps/{step}/logs`,
  tags,
  summary: 'The latest entries of a step\u2019s log, in order',
  middleware,
  request: {
    params: z.object({ project: z.string(), identifier: z.string(), step: z.string() }),
    query: z.object({
      before: z.string().optional().openapi({ description: 'Entries before the one with this id.' }),
      download: z.string().optional(),
    }),
  },
  responses: { 200: json(z.array(LogEntry), 'The entries.'), ...usualFailures },
});

const showWaiting = createRoute({
  method: 'get',
  path: '/projects/{project}/undeployed_changes',
  tags,
  summary: 'The commits that wait to be deployed',
  middleware,
  request: { params: z.object({ project: z.string() }) },
  responses: { 200: json(UndeployedChanges, 'Their number, and the latest of them.'), ...usualFailures },
});

/** Not in the specification: what such services describe beyond it. */
export function addDeployments(app: AccountApp): void {
  app.openapi(listDeployments, (c) => {
    const { to, currently_running: running, ...query } = c.req.valid('query');
    const page = readCount(query.page, 1);
    const project = c.get('project');
    const name = project.servers.find(({ identifier }) => identifier === to)?.name;
    const isListed = ({ servers }: DeploymentRecord) => to === undefined || servers.includes(name ?? '');
    const all = running === 'true' ? [] : sortLatest(c.env.account, project).filter(isListed);
    const size = Math.min(readCount(query.per_page, PER_PAGE), MAX_PER_PAGE);
    const pages = Math.max(1, Math.ceil(all.length / size));
    const offset = (page - 1) * size;
    const pagination = { current_page: page, total_pages: pages, total_records: all.length, offset };
    const records = all.slice(offset, offset + size).map((one) => toDeployment(project, one));
    return c.json({ pagination, records }, 200);
  });
  app.openapi(showDeployment, (c) => {
    const project = c.get('project');
    const deployment = findDeployment(c.env.account, project, c.req.valid('param').identifier);
    const whole = toDeployment(project, deployment);
    if (deployment.archived) return c.json(whole, 200);
    return c.json(
      { ...whole, steps: listSteps(project, deployment).map((step) => toStep(step, deployment)) },
      200,
    );
  });
  app.openapi(showLog, (c) => {
    const { identifier, step: wanted } = c.req.valid('param');
    const project = c.get('project');
    const deployment = findDeployment(c.env.account, project, identifier);
    const steps = deployment.archived ? [] : listSteps(project, deployment);
    const step = steps.find((one) => one.identifier === wanted);
    if (step === undefined) throw recordNotFound();
    const at = step.entries.findIndex(({ id }) => id === c.req.valid('query').before);
    const entries = step.entries.slice(0, at === -1 ? undefined : at).slice(-MAX_ENTRIES);
    return c.json(
      entries.map((entry) => ({ ...entry, step: wanted })),
      200,
    );
  });
  app.openapi(showWaiting, (c) => c.json(toWaiting(c.get('project')), 200));
}

function readCount(text: string | undefined, otherwise: number): number {
  const count = Number(text);
  return Number.isInteger(count) && count > 0 ? count : otherwise;
}

function sortLatest({ deployments }: Account, { identifier }: Project): DeploymentRecord[] {
  const own = deployments.filter(({ project }) => project === identifier);
  return own.toReversed().toSorted((a, b) => b.endedAt - a.endedAt);
}

function findDeployment(account: Account, project: Project, identifier: string): DeploymentRecord {
  const deployment = account.deployments.find(
    (one) => one.project === project.identifier && one.identifier === identifier,
  );
  if (deployment === undefined) throw recordNotFound();
  return deployment;
}

function toDeployment(project: Project, deployment: DeploymentRecord): z.infer<typeof Deployment> {
  const { identifier, succeeded, deployer, branch, startCommit, endCommit, endedAt, durationMs } = deployment;
  const startedAt = endedAt - durationMs;
  const archived = { archived: true, log_summary: deployment.failure?.message ?? 'Completed.' };
  return {
    identifier,
    status: succeeded ? 'completed' : 'failed',
    deployer,
    branch,
    start_revision: startCommit ? toRevision(startCommit) : null,
    end_revision: toRevision(endCommit),
    servers: project.servers.filter(({ name }) => deployment.servers.includes(name)).map(toServer),
    timestamps: {
      queued_at: timestamp(startedAt),
      started_at: timestamp(startedAt),
      completed_at: timestamp(endedAt),
      duration: Math.round(durationMs / 1_000),
    },
    overview: null,
    ...(deployment.archived ? archived : {}),
  };
}

function toRevision(record: CommitRecord): z.infer<typeof Revision> {
  return { ...toCommit(record), tags: [] };
}

function toCommit({ ref, author, email, message, at }: CommitRecord) {
  return { ref, author, email, timestamp: timestamp(at), message, short_message: shorten(message) };
}

function toServer(server: Project['servers'][number]): z.infer<typeof DeployedServer> {
  const { identifier, name, enabled, lastRevision, outcome } = server;
  return {
    identifier,
    name,
    environment: null,
    enabled,
    connection_checked_at: null,
    connection_error_message: outcome.message,
    last_revision: lastRevision,
  };
}

function toStep({ kind, entries, ...step }: StepRecord, { endedAt }: DeploymentRecord): z.infer<typeof Step> {
  const { identifier, stage, server, description, status } = step;
  const items = { total_items: null, completed_items: null };
  const logs = entries.length > 0;
  return {
    identifier,
    step: kind,
    stage,
    server,
    description,
    status,
    logs,
    ...items,
    updated_at: timestamp(endedAt),
  };
}

function toWaiting({ permalink, servers, waiting }: Project): z.infer<typeof UndeployedChanges> {
  const { commits, checkedAt, isChecking, fault } = waiting;
  const deployed = servers[0]?.lastRevision ?? null;
  return {
    count: commits.length,
    truncated: commits.length > MAX_COMMITS,
    latest_deployed_revision: deployed,
    current_revision: commits.at(-1)?.ref ?? deployed ?? stableRevision(permalink),
    last_checked_at: timestampOrNull(checkedAt),
    check_in_progress: isChecking,
    check_fail_message: fault,
    commits: commits
      .toReversed()
      .slice(0, MAX_COMMITS)
      .map((one) => ({
        ...toCommit(one),
        url: `https://code.example.com/${permalink}/commit/${one.ref}`,
      })),
  };
}
