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
import { firstReply, listNews } from '../../views/test-access/test-thread.ts';
import { createPolls, Follower, type Following, type PollLoop, pollUntil } from '../follow.ts';
import type { RunEnding } from '../workflows/end-steps.ts';
import { closeRun, drawRoot } from './close-run.ts';

type FollowingTest = Following<Run, TestState>;
interface Polling {
  following: FollowingTest;
  polls: PollLoop;
  last: LastRead;
}

async function followRun(following: FollowingTest): Promise<void> {
  const { workspace } = following;
  const polls = createPolls(following, (trouble) =>
    following.showRunning({ kind: 'running', trouble }, true),
  );
  const polling = { following, polls, last: {} };
  const begun = await startRun(polling);
  await following.replyFirst({ kind: 'starting' });
  const { run } = following.state;
  const ended =
    begun ??
    (run === undefined
      ? undefined
      : await pollUntil(workspace, polls, (recovered) => poll(polling, run, recovered)));
  if (ended === undefined) return giveUp(following);
  await saveStanding(following, ended);
  await nameServer(following, ended);
  // The target is free before the buttons appear.
  await close(following, { run: ended });
  await following.showEnd(
    { kind: 'ended', run: ended },
    listNews({ ...following.state, pages: workspace.pages }, ended, following.state.layout),
  );
}

/** Ends a run that takes longer than Deckhand follows it. */
async function giveUp(following: FollowingTest): Promise<void> {
  const { workspace, state } = following;
  const minutes = workspace.config.FOLLOW_TIMEOUT_MINUTES;
  const reason = `The test did not end within the ${minutes} minutes that Deckhand follows one.`;
  await close(following, { status: 'lost', reason });
  await following.showEnd({ kind: 'lost', run: state.run });
}

/**
 * Starts the run. Repeats the request only if the service was too busy to start it.
 * @returns the run with all its results, if it has ended already
 */
async function startRun({ following, polls }: Polling): Promise<TestRun | undefined> {
  const { workspace, state } = following;
  if (state.run !== undefined) return undefined;
  // A second start costs only time, so nobody needs to confirm it.
  if (following.isRepeat) countPossibleDuplicate(workspace, 'run', logFields(state));
  const isSafe: PollLoop['mayPass'] = ({ kind, certainlyNotDone }) => kind === 'busy' && certainlyNotDone;
  const run = await pollUntil(workspace, { ...polls, startsNow: true, mayPass: isSafe }, () =>
    requestStart(following),
  );
  if (run === undefined) return undefined;
  await saveStanding(following, run, { run: run.identifier });
  if (hasEnded(run)) return run.results && run;
  if (run.status !== 'running') await following.showRunning({ kind: 'running', results: run.results }, true);
  return undefined;
}

async function requestStart(following: FollowingTest): Promise<TestRun> {
  const { workspace, state } = following;
  const { project, server } = state.target;
  const part = server === undefined ? '' : `server ${code(server.identifier)} in `;
  const account = await workspace.accounts.resolveForPoll(findPoller(state), state.target.account);
  // The job's signal does not end it: a request that is cut off may have started a run.
  const ask = (client: AccountClient) => startTestAccess(client, projectId(project), server?.identifier);
  const what = `${part}project ${code(project.permalink)}`;
  try {
    return await workspace.accounts.use(account, ask, { what, list: 'projects' });
  } catch (error) {
    // The root message then says so.
    if (error instanceof AccountFailure && !error.cause.certainlyNotDone)
      await following.save({ mayRun: true });
    throw error;
  }
}

/** Returns the run once it has ended; undefined while it runs. */
async function poll(
  { following, last }: Polling,
  run: string,
  recovered: boolean,
): Promise<TestRun | undefined> {
  const { workspace, signal } = following;
  const { target, layout } = following.state;
  const { project } = target;
  const account = await workspace.accounts.resolveForPoll(findPoller(following.state), target.account);
  const ask = (client: AccountClient) =>
    getTestAccess(client, projectId(project), run, { signal, retries: 0 }, last);
  const what = `such test run in project ${code(project.permalink)}`;
  const testRun = await workspace.accounts.use(account, ask, { what, list: 'projects' });
  if (hasEnded(testRun)) return testRun;
  const isNews = await saveStanding(following, testRun);
  await following.showRunning({ kind: 'running', results: testRun.results }, isNews || recovered);
  await following.reply(listNews({ ...following.state, pages: workspace.pages }, testRun, layout));
  return undefined;
}

/**
 * @param identity saved in the same write, even if the run has no news
 * @returns true if the service reports a new status or start
 */
async function saveStanding(
  following: FollowingTest,
  run: TestRun,
  identity: Pick<Run, 'run'> = {},
): Promise<boolean> {
  const { workspace, state } = following;
  const serviceStatus = hasEnded(run) ? state.serviceStatus : run.status;
  const { createdAt = state.createdAt } = readRunTimes(run);
  const isNews = serviceStatus !== state.serviceStatus || createdAt !== state.createdAt;
  if (isNews || identity.run !== undefined) await following.save({ ...identity, serviceStatus, createdAt });
  if (isNews) await workspace.home.refresh();
  return isNews;
}

/** Names a server that a person gave by its identifier because the service could not list servers. */
async function nameServer(following: FollowingTest, { results }: TestRun): Promise<void> {
  const { target } = following.state;
  const { server } = target;
  const tested = results?.servers.find(({ identifier }) => identifier === server?.identifier);
  if (server === undefined || tested === undefined || tested.name === server.name) return;
  await following.save({ target: { ...target, server: { ...server, name: tested.name } } });
}

/** The person whose key polls the run. */
function findPoller({ requestedBy, resumedBy: user = requestedBy }: Run): { user: string | undefined } {
  return { user };
}

async function close({ workspace, state }: FollowingTest, ending: RunEnding): Promise<void> {
  await closeRun(workspace, state, ending);
  const { status } = 'run' in ending ? ending.run : ending;
  workspace.log.info({ event: 'follow_ended', ...logFields(state), status }, 'Following of a test ended');
}

function logFields({ target, run }: Run): Record<string, unknown> {
  return { account: target.account, project: target.project.permalink, run };
}

export const FOLLOW_TEST = new Follower<Run, TestState>({
  queue: 'follow-test',
  documents: openRuns,
  draw: drawRoot,
  drawFirst: ({ clock }, run, state) =>
    firstReply({ ...run, usualMs: usualDuration(run), now: clock.now(), state }),
  fields: logFields,
  follow: followRun,
  onStop: closeRun,
});
