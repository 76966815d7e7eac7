import { createRoute, z } from '@hono/zod-openapi';
import { inProject, permit } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import type { AccountMiddleware } from '../api/env.ts';
import { recordNotFound } from '../api/failure.ts';
import { json, usualFailures } from '../api/responses.ts';
import { Timestamp, timestamp, timestampOrNull } from '../api/timestamps.ts';
import { findServer } from '../world/find.ts';
import type { TestRun as TestRunRecord } from '../world/project-records.ts';
import { startTestRun } from '../world/test-runs.ts';

const Result = z.strictObject({ status: z.enum(['ok', 'error']), message: z.string().nullable() });

const TestRun = z
  .strictObject({
    identifier: z.string(),
    // Text for the handlers: a test may ask for a word that is not described.
    status: z.string().openapi({ enum: ['running', 'completed', 'failed'] }),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
    results: z
      .strictObject({
        repository: Result.optional(),
        servers: z.array(Result.extend({ name: z.string(), identifier: z.string() })),
      })
      .optional(),
  })
  .openapi('TestRun');

const tags = ['Test access'];
const middleware: AccountMiddleware[] = [permit('test_access'), inProject];

/** The specification gives no status. Spec 4.6. */
const queued = {
  200: json(TestRun, 'The run, queued.'),
  201: json(TestRun, 'The run, queued.'),
  ...usualFailures,
} as const;

const testProject = createRoute({
  method: 'post',
  path: '/projects/{project}/test_access',
  tags,
  summary: 'Test the repository and every server of a project',
  middleware,
  request: { params: z.object({ project: z.string() }) },
  responses: queued,
});

const testServer = createRoute({
  method: 'post',
  path: '/projects/{project}/servers/{server}/test_access',
  tags,
  summary: 'Test one server',
  middleware,
  request: { params: z.object({ project: z.string(), server: z.string() }) },
  responses: queued,
});

const showRun = createRoute({
  method: 'get',
  path: '/projects/{project}/test_access/{identifier}',
  tags,
  summary: 'How a run stands; ask every 2 to 3 seconds',
  middleware,
  request: { params: z.object({ project: z.string(), identifier: z.string() }) },
  responses: { 200: json(TestRun, 'The run, with results once it is completed.'), ...usualFailures },
});

/** Spec 4.6. */
export function addTestAccess(app: AccountApp): void {
  app.openapi(testProject, (c) => {
    const run = startTestRun(c.env.world, c.env.account, c.get('project'));
    return c.json(toTestRun(run), 201);
  });
  app.openapi(testServer, (c) => {
    const project = c.get('project');
    const server = findServer(project, c.req.valid('param').server);
    if (server === undefined) throw recordNotFound();
    return c.json(toTestRun(startTestRun(c.env.world, c.env.account, project, server)), 201);
  });
  app.openapi(showRun, (c) => {
    const run = c.get('project').testRuns.get(c.req.valid('param').identifier);
    if (run === undefined) throw recordNotFound();
    return c.json(toTestRun(run), 200);
  });
}

function toTestRun(run: TestRunRecord): z.infer<typeof TestRun> {
  return {
    identifier: run.identifier,
    status: run.status,
    created_at: timestamp(run.createdAt),
    completed_at: timestampOrNull(run.completedAt),
    ...(run.results && { results: toResults(run.results) }),
  };
}

function toResults({ repository, servers }: NonNullable<TestRunRecord['results']>) {
  return { ...(repository && { repository }), servers };
}
