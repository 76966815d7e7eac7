import { z } from 'zod';
import type { Deckhand } from '../deckhand.ts';
import type { Job, JobData } from '../engine/engine.ts';
import { explainAndLog } from '../failures.ts';
import { type Run, Target } from '../runs.ts';
import type { AccountClient } from '../service/client.ts';
import type { ServiceError } from '../service/errors.ts';
import { getTestAccess, startTestAccess, type TestRun } from '../service/test-access.ts';
import { failureWords } from '../views/failures.ts';
import {
  countReachable,
  type News,
  newsOf,
  startedMessage,
  type TestState,
  testRootMessage,
} from '../views/test-run.ts';
import { code } from '../views/text.ts';
import { type Follower, followToTheEnd } from './ending.ts';
import { createPolling, STEADY } from './polling.ts';
import { rootOf, tellOnce } from './thread.ts';

export const FOLLOW_TEST = 'follow-test';

/** A followed test run, as its job keeps it: enough to go on from anywhere after a kill. */
export const FollowedTest = z.object({
  workspace: z.string(),
  target: Target,
  requestId: z.string(),
  askedBy: z.string(),
  channel: z.string(),
  rootTs: z.string(),
  startedAt: z.number(),
  /** From when the time limit counts; later than `startedAt` after "check again". */
  followedSince: z.number(),
  threads: z.boolean(),
  layout: z.enum(['full', 'compact']),
  /** The service's identifier, once the run is started. */
  run: z.string().optional(),
  told: z.array(z.string()),
  telling: z.string().optional(),
});
export type FollowedTest = z.infer<typeof FollowedTest>;

/** How often a running root message shows how long it has been, in milliseconds; `chat.update` takes 50 a minute. */
const REFRESH_MS = 20_000;

/** Follows a run from its start to its end. DESIGN: "Test access, the main job". */
export async function followTest(deckhand: Deckhand, job: Job<JobData>): Promise<void> {
  const follower = createFollower(deckhand, job, FollowedTest.parse(job.data));
  await followToTheEnd(deckhand, job.signal, follower);
}

/** After the last failed attempt at a job: the root message must not say "running" for ever. */
export async function buryTest(deckhand: Deckhand, data: JobData, error: unknown): Promise<void> {
  const state = FollowedTest.parse(data);
  const shown: TestState = { kind: 'stopped', reason: reasonOf(deckhand, state, error) };
  const message = testRootMessage({ ...state, now: deckhand.clock.now(), state: shown });
  await deckhand.runs.change(state.workspace, state, {
    status: 'stopped',
    endedAt: deckhand.clock.now(),
  });
  await deckhand.slack.update(state.workspace, rootOf(state), message);
}

function createFollower(deckhand: Deckhand, job: Job<JobData>, initial: FollowedTest): Follower {
  let state = initial;
  let shownAt = 0;
  const { workspace, target } = state;
  const { clock, config, log } = deckhand;
  const polling = createPolling(deckhand, {
    signal: job.signal,
    deadline: state.followedSince + config.FOLLOW_TIMEOUT_MINUTES * 60_000,
    onTrouble: (trouble) => show({ kind: 'running', trouble }),
  });

  async function save(next: FollowedTest): Promise<void> {
    state = next;
    await job.save(next);
  }

  async function show(shown: TestState): Promise<void> {
    shownAt = clock.now();
    const message = testRootMessage({ ...state, now: clock.now(), state: shown });
    await deckhand.slack.update(workspace, rootOf(state), message, job.signal);
  }

  async function tell(news: readonly News[]): Promise<void> {
    if (!state.threads) return;
    for (const item of news) await tellOnce(deckhand, workspace, state, item, save, job.signal);
  }

  async function settle(result: Pick<Run, 'status' | 'reachable' | 'total'>): Promise<void> {
    await deckhand.runs.change(workspace, state, { ...result, endedAt: clock.now() });
    log.info({ event: 'follow_ended', ...logFields(state), status: result.status }, 'following ended');
  }

  async function stopBecause(error: unknown): Promise<void> {
    const reason = reasonOf(deckhand, state, error);
    await settle({ status: 'stopped' });
    await show({ kind: 'stopped', reason });
  }

  function call<T>(sought: string, work: (client: AccountClient) => Promise<T>): Promise<T> {
    return deckhand.accounts
      .resolve(workspace, target.account, undefined)
      .then((account) => deckhand.accounts.use(workspace, account, work, { what: sought, list: 'projects' }));
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
    if (recovered || clock.now() - shownAt >= REFRESH_MS) await show({ kind: 'running' });
    await tell(newsOf(target, seen, state.layout));
    return undefined;
  }

  async function follow(): Promise<void> {
    const run = (await start()) ?? '';
    const ended = await polling.until((recovered) => look(run, recovered));
    if (ended === undefined) {
      await settle({ status: 'lost' });
      return show({ kind: 'lost', run });
    }
    const status = ended.status === 'failed' ? 'failed' : 'completed';
    // The target is free before the buttons appear; the root comes first, since it is what the channel sees.
    await settle({ status, ...countReachable(ended.results) });
    await show({ kind: 'ended', run: ended });
    await tell(newsOf(target, ended, state.layout));
  }

  async function abandon(reason: string): Promise<void> {
    await deckhand.runs.change(workspace, state, { status: 'lost', endedAt: clock.now() });
    log.warn({ event: 'follow_abandoned', ...logFields(state), reason }, 'the message of a test run is gone');
  }

  return { follow, stopBecause, abandon };
}

/** Why it was stopped, for the root message and the log. */
function reasonOf({ config, clock, log }: Deckhand, state: FollowedTest, error: unknown): string {
  const at = { word: config.SLACK_COMMAND, now: clock.now() };
  return failureWords(explainAndLog(error, at, log, { job: FOLLOW_TEST, ...logFields(state) }));
}

function logFields(state: FollowedTest): Record<string, unknown> {
  const { workspace, target, run } = state;
  return { workspace, account: target.account, project: target.project.permalink, run };
}
