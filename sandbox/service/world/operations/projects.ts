import { z } from 'zod';
import { addCommits } from '../commits.ts';
import { recordDeployment, recordEvent } from '../deployments.ts';
import { found, getAccount, getProject, getServer } from '../find.ts';
import {
  NewBuildConfiguration,
  NewCommit,
  NewDeployment,
  NewEvent,
  NewIntegration,
  NewOutcome,
  NewProject,
  NewRunOutcome,
  NewServer,
} from '../inputs.ts';
import { notifyIntegrations } from '../notifications.ts';
import { addBuildConfiguration, addIntegration, addProject, addServer, toRunOutcome } from '../projects.ts';
import { operation } from './operation.ts';

const account = z.string();
const InProject = z.strictObject({ account, project: z.string() });

const SetOutcome = NewOutcome.extend({
  account,
  project: z.string(),
  /** Identifier or name; the repository's outcome is meant when left out. */
  server: z.string().optional(),
});

const SetRunOutcome = NewRunOutcome.extend(InProject.shape);

/** Projects, what is in them, and how their tests and deployments end. */
export const projectOperations = {
  addProject: operation(NewProject.extend({ account }), (world, { account: name, ...project }) =>
    addProject(world, getAccount(world, name), project),
  ),
  addServer: operation(NewServer.extend(InProject.shape), (world, { account: name, project, ...server }) => {
    const owner = getAccount(world, name);
    return addServer(owner, getProject(owner, project), server);
  }),
  addBuildConfiguration: operation(
    NewBuildConfiguration.extend(InProject.shape),
    (world, { account: name, project, ...configuration }) =>
      addBuildConfiguration(getProject(getAccount(world, name), project), configuration),
  ),
  addIntegration: operation(
    NewIntegration.extend(InProject.shape),
    (world, { account: name, project, ...integration }) =>
      addIntegration(world, getProject(getAccount(world, name), project), integration),
  ),
  /** Makes an OAuth integration active, or in need of authorising again. */
  setIntegrationActive: operation(
    InProject.extend({ integration: z.string(), active: z.boolean() }),
    (world, { account: name, project, integration: identifier, active }) => {
      const { integrations } = getProject(getAccount(world, name), project);
      const integration = integrations.find((candidate) => candidate.identifier === identifier);
      return Object.assign(found(integration, 'integration', identifier), { active });
    },
  ),
  /** How checks of this server (or of the repository) end from now on, also in runs under way. */
  setOutcome: operation(SetOutcome, (world, { account: name, project, server, ...outcome }) => {
    const owner = getProject(getAccount(world, name), project);
    const given = { ...outcome, durationMs: outcome.durationMs };
    if (server === undefined) owner.repositoryOutcome = given;
    else getServer(owner, server).outcome = given;
  }),
  /** How whole runs of this project end from now on, also those under way; their words begin with the next. */
  setRunOutcome: operation(SetRunOutcome, (world, { account: name, project, ...outcome }) => {
    getProject(getAccount(world, name), project).runOutcome = toRunOutcome(outcome);
  }),
  /** Its integrations are told, as they are of events. */
  addDeployment: operation(NewDeployment.extend({ account }), (world, { account: name, ...input }) => {
    const owner = getAccount(world, name);
    const deployment = recordDeployment(world, owner, input);
    const event = owner.events.at(-1);
    if (event !== undefined) notifyIntegrations(world, owner, event);
    return deployment;
  }),
  /** Many that ended alike, one before the other, the last of them at `endedAt`. */
  addDeployments: operation(
    NewDeployment.extend({
      account,
      count: z.number().int().positive(),
      everyMs: z.number().min(0).default(60_000),
    }),
    (world, { account: name, count, everyMs, ...deployment }) => {
      const last = deployment.endedAt ?? world.clock.now();
      for (let left = count - 1; left >= 0; left -= 1) {
        recordDeployment(world, getAccount(world, name), { ...deployment, endedAt: last - left * everyMs });
      }
    },
  ),
  /** Commits that wait to be deployed, one before the other; the last is the latest. */
  addCommits: operation(
    NewCommit.extend({
      ...InProject.shape,
      count: z.number().int().positive().default(1),
      everyMs: z.number().min(0).optional(),
    }),
    (world, { account: name, project, ...commits }) => {
      const owner = getAccount(world, name);
      addCommits(owner, getProject(owner, project), { ...commits, now: world.clock.now() });
    },
  ),
  /** How the service looks for commits that wait: it still looks, or it could not look. */
  setWaiting: operation(
    InProject.extend({ isChecking: z.boolean().default(false), fault: z.string().nullable().default(null) }),
    (world, { account: name, project, ...state }) => {
      Object.assign(getProject(getAccount(world, name), project).waiting, state);
    },
  ),
  addEvent: operation(NewEvent.extend({ account }), (world, { account: name, ...input }) => {
    const owner = getAccount(world, name);
    const event = recordEvent(world, owner, input);
    notifyIntegrations(world, owner, event);
    return event;
  }),
};
