import { createRoute, z } from '@hono/zod-openapi';
import { canSee, permit } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import { json, usualFailures } from '../api/responses.ts';
import { Timestamp, timestampOrNull } from '../api/timestamps.ts';
import type { Project as ProjectRecord } from '../world/project-records.ts';

const Repository = z.strictObject({ scm_type: z.string(), url: z.string(), branch: z.string() });

/** Its shape is not in the specification, so that no more than its names is promised. Spec 4.11. */
const Project = z
  .looseObject({
    name: z.string(),
    permalink: z.string(),
    identifier: z.string(),
    public_key: z.string().nullish(),
    repository: Repository.nullish(),
    repository_url: z.string().nullish(),
    zone: z.string().nullish(),
    last_deployed_at: Timestamp.nullish(),
    auto_deploy_url: z.string().optional().openapi({ description: 'Starts a deployment: keep it secret.' }),
    starred: z.boolean().nullish(),
  })
  .openapi('Project', { description: 'There may be more fields than these.' });

const Projects = z.array(Project);

const listProjects = createRoute({
  method: 'get',
  path: '/projects',
  tags: ['Projects'],
  summary: 'All projects the user may see',
  middleware: [permit('projects')],
  responses: {
    200: json(
      z.union([Projects, z.strictObject({ projects: Projects })]),
      'The projects, in any order; bare or under their name.',
    ),
    ...usualFailures,
  },
});

/** Spec 4.11; the fields are those that clients of such services rely on. */
export function addProjects(app: AccountApp): void {
  app.openapi(listProjects, (c) => {
    const visible = c.env.account.projects.filter((project) => canSee(c.get('user'), project));
    const sorted = visible.toSorted((a, b) => a.name.localeCompare(b.name));
    return c.json(sorted.map(toProject), 200);
  });
}

function toProject(project: ProjectRecord): z.infer<typeof Project> {
  const { repositoryUrl: url, branch } = project;
  return {
    name: project.name,
    permalink: project.permalink,
    identifier: project.identifier,
    public_key: project.publicKey,
    repository: url === null ? null : { scm_type: 'git', url, branch },
    repository_url: url,
    zone: project.zone,
    last_deployed_at: timestampOrNull(project.lastDeployedAt),
    auto_deploy_url: project.autoDeployUrl,
    starred: project.starred,
  };
}
