import type { z } from 'zod';
import { getProject, getServer } from './find.ts';
import { createId, stableRevision } from './ids.ts';
import { NewDeployment, NewEvent } from './inputs.ts';
import type { Project } from './project-records.ts';
import type { Account, ActivityEvent, Deployment, World } from './records.ts';

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
  const deployment = {
    identifier: createId(),
    project: project.identifier,
    succeeded: given.succeeded,
    endedAt,
    durationMs: given.durationMs,
  };
  account.deployments.push(deployment);
  const names = given.servers ?? project.servers.map((server) => server.name);
  const endRef = given.endRef ?? stableRevision(project.permalink, String(endedAt));
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

function markDeployed(project: Project, names: string[], revision: string, deployment: Deployment): void {
  if (deployment.endedAt < (project.lastDeployedAt ?? 0)) return;
  project.lastDeployedAt = deployment.endedAt;
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
