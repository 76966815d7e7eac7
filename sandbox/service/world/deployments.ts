import type { z } from 'zod';
import { makeCommit } from './commits.ts';
import { FAILURE_TEXTS } from './deployment-steps.ts';
import { getProject, getServer } from './find.ts';
import { createId, stableRevision } from './ids.ts';
import { NewDeployment, NewEvent } from './inputs.ts';
import type { Project } from './project-records.ts';
import type { Account, ActivityEvent, Deployment, World } from './records.ts';

const DAY_MS = 86_400_000;

/** Records a deployment that has ended, and its event. Blocked until an e-mail is verified. Spec 5.1. */
export function recordDeployment(
  world: World,
  account: Account,
  input: z.input<typeof NewDeployment>,
): Deployment {
  const given = NewDeployment.parse(input);
  if (!account.users.some((user) => user.verified)) {
    throw new Error(`deployments of "${account.name}" are blocked until an e-mail is verified`);
  }
  const project = getProject(account, given.project);
  const endedAt = given.endedAt ?? world.clock.now();
  const names = given.servers ?? project.servers.map((server) => server.name);
  const endRef = given.endRef ?? stableRevision(project.permalink, String(endedAt));
  const deployed = project.servers.find((server) => names.includes(server.name))?.lastRevision;
  const deployment: Deployment = {
    identifier: createId(),
    project: project.identifier,
    succeeded: given.succeeded,
    endedAt,
    durationMs: given.durationMs,
    deployer: given.user,
    branch: given.branch ?? project.branch,
    startCommit: deployed ? makeCommit(account, { ref: deployed, at: endedAt - DAY_MS }) : undefined,
    endCommit: makeCommit(account, { ...given.commit, ref: endRef, at: endedAt - given.durationMs }),
    servers: names,
    failure: given.succeeded ? undefined : findFailure(project, names, given.failure),
    archived: given.archived,
  };
  account.deployments.push(deployment);
  if (given.succeeded) markDeployed(project, names, endRef, deployment);
  recordEvent(world, account, {
    event: given.succeeded ? 'deploy_completed' : 'deploy_failed',
    project: given.project,
    properties: { end_ref: endRef, servers: names },
    user: given.user,
    createdAt: endedAt,
  });
  return deployment;
}

/** Without a given cause, the deployment meets what a test of the project meets now. */
function findFailure(
  { repositoryOutcome, servers }: Project,
  names: readonly string[],
  given: z.output<typeof NewDeployment>['failure'],
): NonNullable<Deployment['failure']> {
  const refusing = servers.find(({ name, outcome }) => names.includes(name) && outcome.status === 'error');
  const isUnread = repositoryOutcome.status === 'error';
  const cause = given?.cause ?? (isUnread ? 'repository' : refusing ? 'host' : 'transfer');
  const text = FAILURE_TEXTS[cause];
  const tested = { repository: repositoryOutcome.message, host: refusing?.outcome.message }[cause as string];
  return {
    cause,
    server: given?.server ?? (cause === 'host' ? refusing?.name : undefined),
    message: given?.message ?? tested ?? text.message,
    detail: given?.detail === undefined ? text.detail : given.detail,
  };
}

function markDeployed(project: Project, names: string[], revision: string, deployment: Deployment): void {
  if (deployment.endedAt < (project.lastDeployedAt ?? 0)) return;
  project.lastDeployedAt = deployment.endedAt;
  project.waiting.commits = project.waiting.commits.filter(({ at }) => at > deployment.endedAt);
  for (const name of names) {
    const server = getServer(project, name);
    server.lastRevision = revision;
    if (server.website !== undefined) server.website.activeDeployment = deployment.identifier;
  }
}

/** Records an event of any type in the account's feed. */
export function recordEvent(world: World, account: Account, input: z.input<typeof NewEvent>): ActivityEvent {
  const given = NewEvent.parse(input);
  const event = {
    ...given,
    project: getProject(account, given.project).identifier,
    createdAt: given.createdAt ?? world.clock.now(),
  };
  account.events.push(event);
  return event;
}
