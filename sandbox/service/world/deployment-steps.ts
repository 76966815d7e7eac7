import { stableId } from './ids.ts';
import type { Project } from './project-records.ts';
import type { Deployment, FailureCause } from './records.ts';

interface LogEntry {
  id: string;
  message: string;
  /** Output of a command, in several lines. */
  detail: string | null;
  type: 'info' | 'command' | 'error';
}

export interface Step {
  identifier: string;
  kind: string;
  stage: 'preparing' | 'building' | 'transferring' | 'finishing';
  /** Name of the server. */
  server: string | null;
  description: string;
  status: 'completed' | 'failed' | 'pending';
  entries: LogEntry[];
}

interface Plan extends Pick<Step, 'kind' | 'stage' | 'description'> {
  server?: string;
  /** The causes that end the deployment in this step. */
  failsBy: readonly FailureCause[];
  log: ReadonlyArray<[message: string, detail?: string]>;
}

/** The steps of a deployment, as it went: all before the failed one are completed, and none after it begins. */
export function listSteps(project: Project, deployment: Deployment): Step[] {
  const plans = planSteps(project, deployment);
  const { failure } = deployment;
  const failedAt = failure === undefined ? plans.length : findFailed(plans, failure);
  return plans.map((plan, at) => {
    const { kind, stage, description, server = null } = plan;
    const identifier = stableId('step', deployment.identifier, String(at));
    const status = at < failedAt ? 'completed' : at === failedAt ? 'failed' : 'pending';
    const entries =
      status === 'pending' ? [] : writeLog(identifier, plan, at === failedAt ? failure : undefined);
    return { identifier, kind, stage, server, description, status, entries };
  });
}

function findFailed(plans: readonly Plan[], { cause, server }: NonNullable<Deployment['failure']>): number {
  const isMeant = (plan: Plan) => server === undefined || plan.server === undefined || plan.server === server;
  const at = plans.findIndex((plan) => plan.failsBy.includes(cause) && isMeant(plan));
  return at === -1 ? plans.length - 1 : at;
}

function planSteps(
  { repositoryUrl, permalink, servers }: Project,
  { servers: names, branch, endCommit }: Deployment,
): Plan[] {
  const ref = endCommit.ref.slice(0, 7);
  const host = (name: string) => servers.find((server) => server.name === name)?.hostname ?? name;
  return [
    {
      kind: 'repository',
      stage: 'preparing',
      description: `Fetching ${branch} from the repository`,
      failsBy: ['repository'],
      log: [[`Connecting to ${repositoryUrl ?? 'the repository'}`], [`Checked out ${ref}`]],
    },
    {
      kind: 'build_command',
      stage: 'building',
      description: 'Running `npm run build`',
      failsBy: ['build'],
      log: [
        [
          'npm run build',
          `> ${permalink}@1.0.0 build\n> vite build\n\ntransforming (112)\rtransforming (486)`,
        ],
      ],
    },
    ...names.map((server): Plan => {
      return {
        kind: 'transfer_files',
        stage: 'transferring',
        server,
        description: 'Uploading files',
        failsBy: ['host', 'transfer'],
        log: [
          [`Connecting to ${host(server)}`],
          ['Uploading 42 files', 'Uploading 12%\rUploading 56%\rUploading 98%'],
        ],
      };
    }),
    {
      kind: 'check',
      stage: 'finishing',
      description: `Checking https://${permalink}.example.com/health`,
      failsBy: ['check'],
      log: [[`GET https://${permalink}.example.com/health`]],
    },
  ];
}

function writeLog(step: string, { log }: Plan, failure: Deployment['failure']): LogEntry[] {
  const lines: Array<Omit<LogEntry, 'id'>> = log.map(([message, detail = null]) => {
    return { message, detail, type: detail === null ? 'info' : 'command' };
  });
  if (failure !== undefined) {
    const { message, detail } = failure;
    lines.push({ message, detail, type: 'error' });
  }
  return lines.map((line, at) => ({ id: stableId('entry', step, String(at)), ...line }));
}

/** What a log says of each cause, if nothing else is given. */
export const FAILURE_TEXTS: Record<FailureCause, { message: string; detail: string | null }> = {
  repository: { message: 'The repository could not be read: Permission denied (publickey).', detail: null },
  build: {
    message: 'The command ended with status 1',
    detail:
      'npm ERR! Missing script: "build"\nnpm ERR! A complete log of this run can be found in:\nnpm ERR!     /root/.npm/_logs/debug-0.log',
  },
  host: { message: 'Connection refused', detail: null },
  transfer: { message: 'Upload of assets/app.js failed: No space left on device', detail: null },
  check: { message: 'Check failed: 502 Bad Gateway, expected 200', detail: null },
};
