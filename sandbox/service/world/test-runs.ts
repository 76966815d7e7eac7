import { findHostedResource } from './find.ts';
import { createId, stableFraction } from './ids.ts';
import type { Project, Server, TestRun, TestTarget } from './project-records.ts';
import type { Account, World } from './records.ts';

/** How long a run waits for a worker even when one is free. */
const QUEUE_MS = 600;
const REPOSITORY_MS = 900;
const FASTEST_SERVER_MS = 400;
const SLOWEST_SERVER_MS = 1_900;
/** How many servers one worker connects to at once. */
const LANES = 3;

const UNREACHABLE: TestTarget = { status: 'error', message: 'The repository could not be reached.' };

/** Queues a test of a project, or of one of its servers. Spec 4.6. */
export function startTestRun(world: World, account: Account, project: Project, server?: Server): TestRun {
  const run: TestRun = {
    identifier: createId(),
    status: project.runOutcome.words[0] ?? 'running',
    server: server?.identifier,
    createdAt: world.clock.now(),
    completedAt: null,
    results: undefined,
  };
  run.createdAt -= headStart(project, run);
  project.testRuns.set(run.identifier, run);
  const work = () => runOnWorker(world, account, project, run);
  if (account.busyWorkers < account.workers) work();
  else account.waitingRuns.push(work);
  return run;
}

function runOnWorker(world: World, account: Account, project: Project, run: TestRun): void {
  account.busyWorkers += 1;
  const durationMs = durationOf(project, run);
  const { words } = project.runOutcome;
  for (const [index, word] of words.entries()) {
    world.clock.after((durationMs * index) / words.length, () => {
      run.status = word;
    });
  }
  world.clock.after(durationMs, () => {
    account.busyWorkers -= 1;
    endRun(world, account, project, run);
    account.waitingRuns.shift()?.();
  });
}

/** How much longer than it takes a run says that it took: it then began before it was asked for. */
function headStart(project: Project, run: TestRun): number {
  const durationMs = durationOf(project, run);
  return Math.max(0, (project.runOutcome.tookMs ?? durationMs) - durationMs);
}

function targetsOf(project: Project, run: TestRun): Server[] {
  if (run.server === undefined) return project.servers.filter((server) => server.enabled);
  return project.servers.filter((server) => server.identifier === run.server);
}

/** Queue, then the repository, then the servers, a few at a time. */
function durationOf(project: Project, run: TestRun): number {
  if (project.runOutcome.durationMs !== undefined) return project.runOutcome.durationMs;
  const lanes = new Array<number>(LANES).fill(0);
  for (const server of targetsOf(project, run)) {
    lanes.sort((a, b) => a - b);
    lanes[0] = (lanes[0] ?? 0) + serverMs(server);
  }
  const repository = run.server === undefined ? (project.repositoryOutcome.durationMs ?? REPOSITORY_MS) : 0;
  return QUEUE_MS + repository + Math.max(...lanes);
}

function serverMs(server: Server): number {
  const spread = SLOWEST_SERVER_MS - FASTEST_SERVER_MS;
  return server.outcome.durationMs ?? FASTEST_SERVER_MS + spread * stableFraction(server.name);
}

function endRun(world: World, account: Account, project: Project, run: TestRun): void {
  const { status, withResults, results, tookMs } = project.runOutcome;
  run.status = status;
  run.completedAt = tookMs === undefined ? world.clock.now() : run.createdAt + tookMs;
  if (results === 'none' || (status === 'failed' && !withResults)) return;
  const onlyRepository = results === 'repository_unreachable';
  const repository: TestTarget = onlyRepository ? UNREACHABLE : project.repositoryOutcome;
  run.results = {
    repository: run.server === undefined ? resultOf(repository) : undefined,
    servers: targetsOf(project, run).map((server) => ({
      name: server.name,
      identifier: server.identifier,
      ...(onlyRepository ? resultOf({ status: 'ok', message: null }) : serverResult(account, server)),
    })),
  };
}

/** A managed server that does not run cannot be reached, whatever its outcome was set to. */
function serverResult(account: Account, server: Server): TestTarget {
  const status =
    server.website?.status ?? findHostedResource(account, server.hostedResource ?? '')?.status ?? 'active';
  if (status === 'active') return resultOf(server.outcome);
  return { status: 'error', message: `The managed server is ${status}.` };
}

function resultOf({ status, message }: TestTarget): TestTarget {
  if (status === 'ok') return { status, message: null };
  return { status, message: message ?? 'Connection refused' };
}
