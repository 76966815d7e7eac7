import { createRoute, z } from '@hono/zod-openapi';
import { isIn, type Period, periodOf, RANGES, readRange } from '../activity/periods.ts';
import { statisticsOf } from '../activity/statistics.ts';
import { canSee, permit } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import { json, usualFailures } from '../api/responses.ts';
import { Timestamp, timestamp } from '../api/timestamps.ts';
import type { Project } from '../world/project-records.ts';
import type { Account, ActivityEvent as EventRecord } from '../world/records.ts';

/** Spec 8. */
const MAX_EVENTS = 100;

const ActivityEvent = z
  .strictObject({
    event: z.string(),
    properties: z.record(z.string(), z.unknown()),
    project: z.strictObject({ name: z.string(), permalink: z.string(), identifier: z.string() }),
    user: z.string(),
    created_at: Timestamp,
  })
  .openapi('ActivityEvent');

const ActivityStatistics = z
  .strictObject({
    total_deployments: z.int(),
    total_deployments_delta: z.int(),
    success_rate: z.number().nullable(),
    success_rate_delta: z.number().nullable(),
    avg_duration: z.string(),
    active_servers: z.int(),
  })
  .openapi('ActivityStatistics');

const Events = z.array(ActivityEvent);

const showActivity = createRoute({
  method: 'get',
  path: '/activity',
  tags: ['Activity'],
  summary: 'What happened lately, and how deployments went',
  middleware: [permit('activity')],
  request: {
    query: z.object({
      range: z
        .string()
        .optional()
        .openapi({ description: `One of ${RANGES.join(', ')}; anything else means last_7_days.` }),
      include: z.string().optional().openapi({ description: 'stats adds the statistics.' }),
    }),
  },
  responses: {
    200: json(
      z.union([Events, z.strictObject({ events: Events, stats: ActivityStatistics })]),
      'The latest 100 events of the range, newest first; in an object where statistics were asked for.',
    ),
    ...usualFailures,
  },
});

/** Spec 4.9. */
export function addActivity(app: AccountApp): void {
  app.openapi(showActivity, (c) => {
    const { account, world } = c.env;
    const { range, include = '' } = c.req.valid('query');
    const period = periodOf(readRange(range), world.clock.now(), account.zone);
    const projects = account.projects.filter((project) => canSee(c.get('user'), project));
    const events = listEvents(account, projects, period);
    if (!include.split(',').includes('stats')) return c.json(events, 200);
    return c.json({ events, stats: toStatistics(account, projects, period) }, 200);
  });
}

function listEvents(account: Account, projects: Project[], period: Period): z.infer<typeof Events> {
  return account.events
    .filter(({ createdAt }) => isIn(period, createdAt))
    .reverse()
    .toSorted((a, b) => b.createdAt - a.createdAt)
    .flatMap((event) => toEvent(event, projects))
    .slice(0, MAX_EVENTS);
}

/** Nothing for an event of a project that the user may not see. */
function toEvent(event: EventRecord, projects: Project[]): z.infer<typeof Events> {
  const project = projects.find(({ identifier }) => identifier === event.project);
  if (project === undefined) return [];
  const { name, permalink, identifier } = project;
  return [
    {
      event: event.event,
      properties: event.properties,
      project: { name, permalink, identifier },
      user: event.user,
      created_at: timestamp(event.createdAt),
    },
  ];
}

function toStatistics(
  account: Account,
  projects: Project[],
  period: Period,
): z.infer<typeof ActivityStatistics> {
  const visible = new Set(projects.map(({ identifier }) => identifier));
  const deployments = account.deployments.filter(({ project }) => visible.has(project));
  const statistics = statisticsOf(deployments, period);
  return {
    total_deployments: statistics.totalDeployments,
    total_deployments_delta: statistics.totalDelta,
    success_rate: statistics.successRate,
    success_rate_delta: statistics.successRateDelta,
    avg_duration: statistics.averageDuration,
    active_servers: projects.flatMap(({ servers }) => servers).filter(({ enabled }) => enabled).length,
  };
}
