import { AccountFailure } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import { countPossibleDuplicate } from '../../observability/metrics.ts';
import { openRuns, type Run, usualDuration } from '../../records/test-runs.ts';
import type { AccountClient } from '../../service/client.ts';
import {
  getTestAccess,
  hasEnded,
  type LastRead,
  readRunTimes,
  startTestAccess,
  type TestRun,
} from '../../service/projects.ts';
import type { TestState } from '../../views/test-access/test-run.ts';
import { listNews, progressMessage } from '../../views/test-access/test-thread.ts';
import { createPolls, Follower, type Following, type PollLoop, pollUntil } from '../follow.ts';
import type { RunEnding } from '../workflows/end-steps.ts';
import { closeRun, drawRoot } from './close-run.ts';

type FollowingRun = Following<Run, TestState> & { polls: PollLoop; last: LastRead };

async function followRun(started: Following<Run, TestState>): Promise<void> {
  const { workspace, thread } = started;
  const polls = createPolls(started, (trouble) => thread.showRunning({ kind: 'running', trouble }, true));
  const following = { ...started, polls, last: {} };
  const begun = await startRun(following);
  await thread.postProgress({ kind: 'starting' });
  const { run } = thread.state;
  const ended =
    begun ??
    (run === undefined
      ? undefined
      : await pollUntil(workspace, polls, (recovered) => poll(following, run, recovered)));
  if (ended === undefined) return giveUp(following);
  await saveStanding(following, ended);
  await nameServer(following, ended);
  // The target is free before the buttons appear. The root message comes first, because the channel sees it.
  await close(following, { run: ended });
  const end = { kind: 'ended', run: ended } as const;
  await thread.showEnd(end);
  await thread.post(listNews(thread.state.target, ended, thread.state.layout));
  await thread.endProgress(end);
}

/** Ends a run that takes longer than Deckhand follows it. */
async function giveUp(following: FollowingRun): Promise<void> {
  const { workspace, thread } = following;
  const minutes = workspace.config.FOLLOW_TIMEOUT_MINUTES;
  const reason = `The test did not end within the ${minutes} minutes that Deckhand follows one.`;
  await close(following, { status: 'lost', reason });
  const end = { kind: 'lost', run: thread.state.run } as const;
  await thread.showEnd(end);
  await thread.endProgress(end);
}

/**
 * Starts the run. Repeats the request only if the service was too busy to start it.
 * @returns the run with all its results, if it has ended already
 */
async function startRun(following: FollowingRun): Promise<TestRun | undefined> {
  const { workspace, thread, polls } = following;
  if (thread.state.run !== undefined) return undefined;
  // A second start costs only time, so nobody needs to confirm it.
  if (following.possibleDuplicate) countPossibleDuplicate(workspace, 'run', logFields(thread.state));
  const isSafe: PollLoop['mayPass'] = ({ kind, certainlyNotDone }) => kind === 'busy' && certainlyNotDone;
  const run = await pollUntil(workspace, { ...polls, startsNow: true, mayPass: isSafe }, () =>
    requestStart(following),
  );
  if (run === undefined) return undefined;
  await saveStanding(following, run, { run: run.identifier });
  if (hasEnded(run)) return run.results && run;
  if (run.status !== 'running') await thread.showRunning({ kind: 'running', results: run.results }, true);
  return undefined;
}

async function requestStart({ workspace, thread }: FollowingRun): Promise<TestRun> {
  const { project, server } = thread.state.target;
  const part = server === undefined ? '' : `server ${code(server.identifier)} in `;
  const account = await workspace.accounts.resolveForPoll(
    findPoller(thread.state),
    thread.state.target.account,
  );
  // The job's signal does not end it: a request that is cut off may have started a run.
  const ask = (client: AccountClient) => startTestAccess(client, projectId(project), server?.identifier);
  const what = `${part}project ${code(project.permalink)}`;
  try {
    return await workspace.accounts.use(account, ask, { what, list: 'projects' });
  } catch (error) {
    // The root message then says so.
    if (error instanceof AccountFailure && !error.cause.certainlyNotDone) await thread.save({ mayRun: true });
    throw error;
  }
}

/** Returns the run once it has ended; undefined while it runs. */
async function poll(following: FollowingRun, run: string, recovered: boolean): Promise<TestRun | undefined> {
  const { workspace, thread, signal, last } = following;
  const { target, layout } = thread.state;
  const { project } = target;
  const account = await workspace.accounts.resolveForPoll(findPoller(thread.state), target.account);
  const ask = (client: AccountClient) =>
    getTestAccess(client, projectId(project), run, { signal, retries: 0 }, last);
  const what = `such test run in project ${code(project.permalink)}`;
  const testRun = await workspace.accounts.use(account, ask, { what, list: 'projects' });
  if (hasEnded(testRun)) return testRun;
  const isNews = await saveStanding(following, testRun);
  await thread.showRunning({ kind: 'running', results: testRun.results }, isNews || recovered);
  await thread.post(listNews(target, testRun, layout));
  return undefined;
}

/**
 * @param identity saved in the same write, even if the run has no news
 * @returns true if the service reports a new status or start
 */
async function saveStanding(
  { workspace, thread }: FollowingRun,
  run: TestRun,
  identity: Pick<Run, 'run'> = {},
): Promise<boolean> {
  const { state } = thread;
  const serviceStatus = hasEnded(run) ? state.serviceStatus : run.status;
  const { createdAt = state.createdAt } = readRunTimes(run);
  const isNews = serviceStatus !== state.serviceStatus || createdAt !== state.createdAt;
  if (isNews || identity.run !== undefined) await thread.save({ ...identity, serviceStatus, createdAt });
  if (isNews) await workspace.home.refresh();
  return isNews;
}

/** Names a server that a person gave by its identifier because the service could not list servers. */
async function nameServer({ thread }: FollowingRun, { results }: TestRun): Promise<void> {
  const { target } = thread.state;
  const { server } = target;
  const tested = results?.servers.find(({ identifier }) => identifier === server?.identifier);
  if (server === undefined || tested === undefined || tested.name === server.name) return;
  await thread.save({ target: { ...target, server: { ...server, name: tested.name } } });
}

/** The person whose key polls the run. */
function findPoller({ requestedBy, resumedBy: user = requestedBy }: Run): { user: string | undefined } {
  return { user };
}

async function close({ workspace, thread }: FollowingRun, ending: RunEnding): Promise<void> {
  await closeRun(workspace, thread.state, ending);
  const { status } = 'run' in ending ? ending.run : ending;
  workspace.log.info(
    { event: 'follow_ended', ...logFields(thread.state), status },
    'Following of a test ended',
  );
}

function logFields({ target, run }: Run): Record<string, unknown> {
  return { account: target.account, project: target.project.permalink, run };
}

export const FOLLOW_TEST = new Follower<Run, TestState>({
  queue: 'follow-test',
  documents: openRuns,
  draw: drawRoot,
  drawProgress: ({ clock }, run, state) =>
    progressMessage({ ...run, usualMs: usualDuration(run), now: clock.now(), state }),
  fields: logFields,
  follow: followRun,
  onStop: closeRun,
});
