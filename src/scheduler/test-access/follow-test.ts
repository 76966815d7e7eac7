import { z } from 'zod';
import type { Job } from '../../core/job.ts';
import { code } from '../../core/mrkdwn.ts';
import type { AccountClient } from '../../service/client.ts';
import type { ServiceError } from '../../service/errors.ts';
import { getTestAccess, startTestAccess, type TestRun } from '../../service/test-access.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import {
  countTested,
  type News,
  newsOf,
  startedMessage,
  type TestState,
  testRootMessage,
} from '../../views/test-access/test-run.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { Target } from '../../workspace/test-runs.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { explainAndLog } from '../explain.ts';
import { createPolling, STEADY } from '../polling.ts';
import { postOnce, rootOf, type ThreadState } from '../post-once.ts';
import { FOLLOWED_AT_ONCE, type Follower, followToTheEnd } from '../run-follower.ts';
import { closeRun, type RunEnding } from './close-run.ts';

/** A followed test run, as its job keeps it: enough to go on from anywhere after a kill. */
export const FollowedTest = z.object({
  target: Target,
  requestId: z.string(),
  /** Undefined for a workflow. */
  askedBy: z.string().optional(),
  /** Both undefined where it is shown nowhere. */
  channel: z.string().optional(),
  rootTs: z.string().optional(),
  startedAt: z.number(),
  threads: z.boolean(),
  layout: z.enum(['full', 'compact']),
  /** The service's identifier, once the run is started. */
  run: z.string().optional(),
  told: z.array(z.string()),
  telling: z.string().optional(),
});
export type FollowedTest = z.infer<typeof FollowedTest>;

/** How often a running root message shows how far it is, in milliseconds; `chat.update` takes 50 a minute. */
const REFRESH_MS = { first: 10_000, later: 20_000 } as const;
const FIRST_MS = 60_000;

/** Follows a run from its start to its end. DESIGN: "Test access, the main job". */
export async function followTest(workspace: Workspace, job: Job<FollowedTest>): Promise<void> {
  const follower = createFollower(workspace, job, job.data);
  await followToTheEnd(workspace, job.signal, follower);
}

/** After the last failed attempt at a job: the root message must not say "running" for ever. */
export async function testFailed(workspace: Workspace, data: FollowedTest, error: unknown): Promise<void> {
  const state = data;
  const reason = reasonOf(workspace, state, error);
  const shown: TestState = { kind: 'stopped', reason };
  const message = testRootMessage({ ...state, now: workspace.clock.now(), state: shown });
  await closeRun(workspace, state, { status: 'stopped', reason });
  if (isShown(state)) await workspace.slack.update(rootOf(state), message);
}

function isShown(state: FollowedTest): state is FollowedTest & ThreadState {
  return state.channel !== undefined && state.rootTs !== undefined;
}

function createFollower(workspace: Workspace, job: Job<FollowedTest>, initial: FollowedTest): Follower {
  let state = initial;
  let shownAt = 0;
  const { target } = state;
  const { clock, config, log } = workspace;
  const polling = createPolling(workspace, {
    signal: job.signal,
    // Counted by each process anew: the clock of the one before may have been another.
    deadline: clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000,
    onTrouble: (trouble) => show({ kind: 'running', trouble }),
  });

  async function save(next: FollowedTest): Promise<void> {
    state = next;
    await job.save(next);
  }

  async function show(shown: TestState): Promise<void> {
    shownAt = clock.now();
    if (!isShown(state)) return;
    const message = testRootMessage({ ...state, now: clock.now(), state: shown });
    await workspace.slack.update(rootOf(state), message, job.signal);
  }

  async function tell(news: readonly News[]): Promise<void> {
    if (!state.threads) return;
    for (const item of news) if (isShown(state)) await postOnce(workspace, state, item, save, job.signal);
  }

  async function settle(ending: RunEnding): Promise<void> {
    await closeRun(workspace, state, ending);
    const { status } = 'run' in ending ? ending.run : ending;
    log.info({ event: 'follow_ended', ...logFields(state), status }, 'following ended');
  }

  async function stopBecause(error: unknown): Promise<void> {
    const reason = reasonOf(workspace, state, error);
    await settle({ status: 'stopped', reason });
    await show({ kind: 'stopped', reason });
  }

  function isRefreshDue(): boolean {
    const { first, later } = REFRESH_MS;
    return clock.now() - shownAt >= (clock.now() - state.startedAt < FIRST_MS ? first : later);
  }

  function call<T>(sought: string, work: (client: AccountClient) => Promise<T>): Promise<T> {
    return workspace.accounts
      .resolve(target.account, undefined)
      .then((account) => workspace.accounts.use(account, work, { what: sought, list: 'projects' }));
  }

  /** Starts the run. Only a service too busy to have started it is asked again. */
  async function start(): Promise<string | undefined> {
    for (let pace = STEADY; state.run === undefined; ) {
      try {
        const { project, server } = target;
        const sought = server === undefined ? '' : `server ${code(server.identifier)} in `;
        const run = await call(`${sought}project ${code(project.permalink)}`, (client) =>
          // Not ended by the job's signal: a request cut off in the middle may have started a run nobody follows.
          startTestAccess(client, project.permalink, server?.identifier),
        );
        await save({ ...state, run: run.identifier });
        await show({ kind: 'running' });
      } catch (error) {
        const isFinal = (cause: ServiceError) => cause.kind !== 'busy' || !cause.certainlyNotDone;
        pace = await polling.slowDown(error, pace, isFinal);
        if (!(await polling.wait(pace))) throw error;
      }
    }
    await tell([{ key: 'started', message: startedMessage(target) }]);
    return state.run;
  }

  /** The run as it ended; undefined while it goes on. */
  async function look(run: string, recovered: boolean): Promise<TestRun | undefined> {
    const options = { signal: job.signal, retries: 0 };
    const { permalink } = target.project;
    const seen = await call(`such test run in project ${code(permalink)}`, (client) =>
      getTestAccess(client, permalink, run, options),
    );
    if (seen.status !== 'running') return seen;
    const tested = countTested(seen.results);
    if (recovered || isRefreshDue()) await show({ kind: 'running', tested });
    await tell(newsOf(target, seen, state.layout));
    return undefined;
  }

  async function follow(): Promise<void> {
    const run = (await start()) ?? '';
    const ended = await polling.until((recovered) => look(run, recovered));
    if (ended === undefined) {
      const reason = `The test did not end in the ${config.FOLLOW_TIMEOUT_MINUTES} minutes that I follow one.`;
      await settle({ status: 'lost', reason });
      return show({ kind: 'lost', run });
    }
    // The target is free before the buttons appear; the root comes first, since it is what the channel sees.
    await settle({ run: ended });
    await show({ kind: 'ended', run: ended });
    await tell(newsOf(target, ended, state.layout));
  }

  async function abandon(reason: string): Promise<void> {
    const words = 'The message that showed the test is gone, so I stopped following it.';
    await closeRun(workspace, state, { status: 'lost', reason: words });
    log.warn({ event: 'follow_abandoned', ...logFields(state), reason }, 'the message of a test run is gone');
  }

  return { follow, stopBecause, abandon };
}

/** Why it was stopped, for the root message and the log. */
function reasonOf({ config, clock, log }: Workspace, state: FollowedTest, error: unknown): string {
  const at = { word: config.SLACK_COMMAND, now: clock.now() };
  return failureWords(explainAndLog(error, at, log, { job: FOLLOW_TEST, ...logFields(state) }));
}

function logFields(state: FollowedTest): Record<string, unknown> {
  const { target, run } = state;
  return { account: target.account, project: target.project.permalink, run };
}

export const FOLLOW_TEST = defineJob({
  queue: 'follow-test',
  schema: FollowedTest,
  options: { concurrency: FOLLOWED_AT_ONCE, attempts: 5, backoffMs: 1000, resumable: true },
  run: followTest,
  onDeadLetter: testFailed,
});
