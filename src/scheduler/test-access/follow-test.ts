import { z } from 'zod';
import { type ServiceError, UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { STEADY } from '../../core/retry.ts';
import { countUnanswered } from '../../observability/metrics.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { type Run, Target, withDuration } from '../../records/test-runs.ts';
import type { AccountClient } from '../../service/client.ts';
import {
  getTestAccess,
  hasEnded,
  type LastRead,
  startTestAccess,
  type TestRun,
} from '../../service/projects.ts';
import {
  countTested,
  outcomeOf,
  type TestState,
  testRootMessage,
  timesOf,
} from '../../views/test-access/test-run.ts';
import { newsOf, progressMessage } from '../../views/test-access/test-thread.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { FollowedState } from '../followed-thread.ts';
import { defineFollowJob, type Following, type Polling, pollWhileFollowed } from '../run-follower.ts';
import { endStepsOfRun, type RunEnding } from '../workflows/end-steps.ts';

/** A followed test run, as its job keeps it: enough to go on from anywhere after a kill. */
export const FollowedTest = FollowedState.extend({
  target: Target,
  requestId: z.string(),
  layout: z.enum(['full', 'compact']),
  /** Set before the service is asked: if the process dies from then on, the run may be started twice. */
  asked: z.boolean().optional(),
  /** What may be there twice. */
  maybeTwice: z.array(z.enum(['root', 'run'])).optional(),
  /** The service's identifier, once the run is started. */
  run: z.string().optional(),
  /** The service's word while the run goes on, which may be any. */
  serviceStatus: z.string().optional(),
  /** When it was created at the service, milliseconds since the epoch. */
  createdAt: z.number().optional(),
  /** How long earlier runs of the target took, in milliseconds. */
  usualMs: z.number().optional(),
});
export type FollowedTest = z.infer<typeof FollowedTest>;

type FollowingTest = Following<FollowedTest, TestState> & { polling: Polling; last: LastRead };

async function follow(started: Following<FollowedTest, TestState>): Promise<void> {
  const { workspace, thread } = started;
  const polling = pollWhileFollowed(started, thread.state.target.account, (trouble) =>
    thread.show({ kind: 'running', trouble }),
  );
  const following = { ...started, polling, last: {} };
  const run = await start(following);
  const ended =
    typeof run === 'string'
      ? await polling.until((recovered, answered) => poll(following, run, recovered, answered))
      : run;
  if (ended === undefined) {
    const minutes = workspace.config.FOLLOW_TIMEOUT_MINUTES;
    const reason = `The test did not end within the ${minutes} minutes that Deckhand follows one.`;
    await close(following, { status: 'lost', reason });
    return thread.show({ kind: 'lost', run: thread.state.run });
  }
  await saveStanding(following, ended);
  await nameServer(following, ended);
  // The target is free before the buttons appear; the root comes first, since it is what the channel sees.
  await close(following, { run: ended });
  await thread.show({ kind: 'ended', run: ended });
  await thread.post(newsOf(thread.state.target, ended, thread.state.layout));
}

/**
 * Starts the run. Only a service too busy to have started it is asked again.
 * @returns the service's identifier of the run, or the run itself where the answer has all its results
 */
async function start(following: FollowingTest): Promise<string | TestRun> {
  const { thread, polling } = following;
  if (thread.state.run === undefined && thread.state.asked === true) await noteStartedTwice(following);
  const isFinal = (cause: ServiceError) => cause.kind !== 'busy' || !cause.certainlyNotDone;
  let ended: TestRun | undefined;
  for (let state = STEADY; thread.state.run === undefined; ) {
    try {
      await thread.save({ asked: true });
      const run = await requestStart(following);
      const isNews = await saveStanding(following, run, { run: run.identifier });
      if (hasEnded(run)) ended = run.results && run;
      // The root message says so already, until the service has another word for it.
      else if (isNews && run.status !== 'running') await thread.show({ kind: 'running' });
    } catch (error) {
      await noteNotStarted(following, error);
      state = await polling.slowDown(error, state, isFinal);
      if (!(await polling.wait(state))) throw error;
    }
  }
  await thread.postProgress({ kind: 'starting' });
  return ended ?? thread.state.run;
}

/** After any failure but a refusal, the root message says that the service may have begun. */
async function noteNotStarted({ thread }: FollowingTest, error: unknown): Promise<void> {
  const isRefusal =
    error instanceof AccountFailure ? error.cause.certainlyNotDone : error instanceof UserError;
  if (isRefusal) await thread.save({ asked: false });
}

async function requestStart({ workspace, thread }: FollowingTest): Promise<TestRun> {
  const { project, server } = thread.state.target;
  const part = server === undefined ? '' : `server ${code(server.identifier)} in `;
  const account = await workspace.accounts.resolve(askerOf(thread.state), thread.state.target.account);
  // Not ended by the job's signal: a request cut off in the middle may have started a run unseen.
  const ask = (client: AccountClient) => startTestAccess(client, project.permalink, server?.identifier);
  const what = `${part}project ${code(project.permalink)}`;
  return workspace.accounts.use(account, ask, { what, list: 'projects' });
}

/** Starting it again costs nothing but time, so it is not asked for by hand. */
async function noteStartedTwice({ workspace, thread }: FollowingTest): Promise<void> {
  const { maybeTwice = [] } = thread.state;
  countUnanswered(workspace, { operation: 'startTestAccess', ...logFields(thread.state) });
  await thread.save({ asked: false, maybeTwice: [...new Set([...maybeTwice, 'run' as const])] });
  await thread.show({ kind: 'running' });
}

/** The run as it ended; undefined while it is running. */
async function poll(
  following: FollowingTest,
  run: string,
  recovered: boolean,
  answered: () => void,
): Promise<TestRun | undefined> {
  const { workspace, thread, signal, last } = following;
  const { target, layout } = thread.state;
  const { permalink } = target.project;
  const account = await workspace.accounts.resolveForPoll(askerOf(thread.state), target.account);
  const ask = (client: AccountClient) => getTestAccess(client, permalink, run, { signal, retries: 0 }, last);
  const what = `such test run in project ${code(permalink)}`;
  const seen = await workspace.accounts.use(account, ask, { what, list: 'projects' });
  answered();
  if (hasEnded(seen)) return seen;
  const isNews = await saveStanding(following, seen);
  const shown = { kind: 'running', tested: countTested(seen.results) } as const;
  await (isNews || recovered ? thread.show(shown) : thread.refresh(shown));
  await thread.post(newsOf(target, seen, layout));
  return undefined;
}

/**
 * @param known is saved in the same write, and without news of the run too
 * @returns true where the service says something else of the run than before
 */
async function saveStanding(
  { workspace, thread }: FollowingTest,
  run: TestRun,
  known: Pick<FollowedTest, 'run'> = {},
): Promise<boolean> {
  const { state } = thread;
  const serviceStatus = hasEnded(run) ? state.serviceStatus : run.status;
  const { createdAt = state.createdAt } = timesOf(run);
  const isNews = serviceStatus !== state.serviceStatus || createdAt !== state.createdAt;
  if (isNews || known.run !== undefined) await thread.save({ ...known, serviceStatus, createdAt });
  if (!isNews) return false;
  await workspace.runs.change(state, { serviceStatus, createdAt });
  return true;
}

/** A server that was asked for where none could be listed is known by its identifier; its results have its name. */
async function nameServer({ thread }: FollowingTest, { results }: TestRun): Promise<void> {
  const { target } = thread.state;
  const { server } = target;
  const tested = results?.servers.find(({ identifier }) => identifier === server?.identifier);
  if (server === undefined || tested === undefined || tested.name === server.name) return;
  await thread.save({ target: { ...target, server: { ...server, name: tested.name } } });
}

/** With whose key the service is asked. */
function askerOf({ askedBy, resumedBy: user = askedBy }: FollowedTest): { user: string | undefined } {
  return { user };
}

async function close({ workspace, thread }: FollowingTest, ending: RunEnding): Promise<void> {
  await closeRun(workspace, thread.state, ending);
  const { status } = 'run' in ending ? ending.run : ending;
  workspace.log.info({ event: 'follow_ended', ...logFields(thread.state), status }, 'following a test ended');
}

/** Records how a run ended: its target is free again, and the workflows that wait for it go on. */
export async function closeRun(
  workspace: Workspace,
  run: Pick<Run, 'target' | 'requestId' | 'progressTs'>,
  ending: RunEnding,
): Promise<void> {
  const { target, progressTs } = run;
  const endedAt = workspace.clock.now();
  const closed = await workspace.runs.change(run, (current) => ({
    target,
    ...(progressTs === undefined ? {} : { progressTs }),
    ...changeOf(ending),
    ...('run' in ending ? withDuration(current, timesOf(ending.run), endedAt) : {}),
    endedAt,
  }));
  if (closed?.steps !== undefined) await endStepsOfRun(workspace, closed, closed.steps, ending);
}

function changeOf(ending: RunEnding): Partial<Run> {
  if ('status' in ending) return { status: ending.status };
  const status = ending.run.status === 'failed' ? 'failed' : 'completed';
  return { status, ...outcomeOf(ending.run), ...timesOf(ending.run) };
}

function logFields({ target, run }: FollowedTest): Record<string, unknown> {
  return { account: target.account, project: target.project.permalink, run };
}

/** Follows a run from its start to its end. */
export const FOLLOW_TEST = defineFollowJob<FollowedTest, TestState>({
  queue: 'follow-test',
  schema: FollowedTest,
  draw: (followed, now, state) => testRootMessage({ ...followed, now, state }),
  drawProgress: (followed, now, state) => progressMessage({ ...followed, now, state }),
  fields: logFields,
  follow,
  onStop: closeRun,
});
