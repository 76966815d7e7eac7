import type { z } from 'zod';
import { getServer } from './find.ts';
import { createId, createSshKey, createToken, stableId, stableRevision } from './ids.ts';
import {
  NewBuildConfiguration,
  NewIntegration,
  NewProject,
  type NewRunOutcome,
  NewServer,
} from './inputs.ts';
import type { BuildConfiguration, Integration, Project, Server } from './project-records.ts';
import type { Account, World } from './records.ts';
import { slugify } from './slugs.ts';

/** Adds a project with its servers, build configurations and integrations. */
export function addProject(world: World, account: Account, input: z.input<typeof NewProject>): Project {
  const given = NewProject.parse(input);
  const permalink = given.permalink ?? slugify(given.name);
  const project: Project = {
    identifier: given.identifier ?? stableId('project', account.name, permalink),
    permalink,
    name: given.name,
    publicKey: createSshKey(`${account.name}/${permalink}`).publicKey,
    repositoryUrl: repositoryOf(account, permalink, given.repositoryUrl),
    branch: given.branch,
    zone: given.zone,
    lastDeployedAt: null,
    autoDeployUrl: `${world.origin}/${account.name}/hooks/${createToken()}`,
    starred: given.starred,
    servers: [],
    buildConfigurations: [],
    integrations: [],
    testRuns: new Map(),
    repositoryOutcome: { ...given.repositoryOutcome, durationMs: given.repositoryOutcome.durationMs },
    runOutcome: toRunOutcome(given.runOutcome),
    waiting: { commits: [], checkedAt: null, isChecking: false, fault: null },
  };
  account.projects.push(project);
  for (const server of given.servers) addServer(account, project, server);
  for (const configuration of given.buildConfigurations) addBuildConfiguration(project, configuration);
  for (const integration of given.integrations) addIntegration(world, project, integration);
  return project;
}

/** What was left out is decided by the run itself. */
export function toRunOutcome(given: z.output<typeof NewRunOutcome>): Project['runOutcome'] {
  return { ...given, tookMs: given.tookMs, durationMs: given.durationMs };
}

function repositoryOf(account: Account, permalink: string, url: string | null | undefined): string | null {
  if (url !== undefined) return url;
  return `git@code.example.com:${account.name}/${permalink}.git`;
}

/** Adds a server; its identifier is stable unless the project has another of that name. */
export function addServer(account: Account, project: Project, input: z.input<typeof NewServer>): Server {
  const given = NewServer.parse(input);
  const stable = stableId('server', account.name, project.permalink, given.name);
  const isTaken = project.servers.some((server) => server.identifier === stable);
  const { lastRevision, outcome } = given;
  const server: Server = {
    ...given,
    identifier: given.identifier ?? (isTaken ? createId() : stable),
    hostname: given.hostname ?? `${slugify(given.name)}.${account.name}.example.net`,
    hostKey: given.hostKey ?? createSshKey('').publicKey.trim(),
    lastRevision: lastRevision === undefined ? stableRevision(project.permalink, given.name) : lastRevision,
    outcome: { ...outcome, durationMs: outcome.durationMs },
    website: undefined,
    hostedResource: undefined,
  };
  project.servers.push(server);
  return server;
}

export function addBuildConfiguration(
  project: Project,
  input: z.input<typeof NewBuildConfiguration>,
): BuildConfiguration {
  const given = NewBuildConfiguration.parse(input);
  const index = String(project.buildConfigurations.length);
  const names = given.servers ?? project.servers.map((server) => server.name);
  const configuration = {
    ...given,
    identifier: given.identifier ?? stableId('build configuration', project.identifier, index),
    servers: names.map((name) => getServer(project, name).identifier),
  };
  project.buildConfigurations.push(configuration);
  return configuration;
}

export function addIntegration(
  world: World,
  project: Project,
  input: z.input<typeof NewIntegration>,
): Integration {
  const given = NewIntegration.parse(input);
  const now = world.clock.now();
  const identifier = given.identifier ?? createId();
  const integration = { ...given, identifier, createdAt: now, updatedAt: now };
  project.integrations.push(integration);
  return integration;
}
