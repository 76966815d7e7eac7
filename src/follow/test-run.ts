import { z } from 'zod';
import { AccountFailure } from '../accounts.ts';
import type { Deckhand } from '../deckhand.ts';
import type { Job, JobData } from '../engine/engine.ts';
import { UserError } from '../errors.ts';
import { explain } from '../failures.ts';
import { type Run, Target } from '../runs.ts';
import type { AccountClient } from '../service/client.ts';
import type { ServiceErrorKind } from '../service/errors.ts';
import { getTestAccess, startTestAccess, type TestRun } from '../service/test-access.ts';
import { isSlackFailure } from '../slack/failure.ts';
import {
  countReachable,
  type News,
  newsOf,
  startedMessage,
  type TestState,
  testRootMessage,
} from '../views/test-run.ts';
import { dateTime } from '../views/time.ts';
import { nextPollMs } from './backoff.ts';
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

/** The service said no, and asking again will not change that. */
const FINAL: ReadonlySet<ServiceErrorKind> = new Set([
  'unauthorized',
  'forbidden',
  'api_access_restricted',
  'admin_required',
  'email_verification_required',
  'account_not_found',
  'record_not_found',
  'invalid',
  'rejected',
]);

/** How often a running root message shows how long it has been, in milliseconds; `chat.update` takes 50 a minute. */
const REFRESH_MS = 20_000;

/** Follows a run from its start to its end. DESIGN: "Test access, the main job". */
export async function followTest(deckhand: Deckhand, job: Job<JobData>): Promise<void> {
  const follower = createFollower(deckhand, job, FollowedTest.parse(job.data));
  deckhand.metrics.followed(1);
  try {
    await endingWell(follower, job.signal);
  } catch (error) {
    if (!isSlackFailure(error, 'gone', 'revoked')) throw error;
    // Nobody can see this run any more: editing a lost message for ever helps no one.
    await follower.abandon(error.reason);
  } finally {
    deckhand.metrics.followed(-1);
  }
}

/** Ends with a reason in the root message where the service, or the person's own doing, stops the run. */
async function endingWell(follower: ReturnType<typeof createFollower>, signal: AbortSignal): Promise<void> {
  try {
    await follower.follow();
  } catch (error) {
    const isAnswerable = error instanceof AccountFailure || error instanceof UserError;
    if (!isAnswerable || signal.aborted) throw error;
    await follower.stopBecause(error);
  }
}

/** After the last failed attempt at a job: the root message must not say "running" for ever. */
export async function buryTest(deckhand: Deckhand, data: JobData): Promise<void> {
  const state = FollowedTest.parse(data);
  const shown: TestState = { kind: 'stopped', reason: 'Something went wrong on our side. Try again.' };
  const message = testRootMessage({ ...state, now: deckhand.clock.now(), state: shown });
  await deckhand.runs.change(state.workspace, state, {
    status: 'stopped',
    endedAt: deckhand.clock.now(),
  });
  await deckhand.slack.update(state.workspace, rootOf(state), message);
}

function createFollower(deckhand: Deckhand, job: Job<JobData>, initial: FollowedTest) {
  let state = initial;
  let shownAt = 0;
  const { workspace, target } = state;
  const { clock, config, log } = deckhand;
  const deadline = state.followedSince + config.FOLLOW_TIMEOUT_MINUTES * 60_000;

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
    const explained = explain(error, { word: config.SLACK_COMMAND, now: clock.now() });
    await settle({ status: 'stopped' });
    await show({ kind: 'stopped', reason: [explained.text, explained.next].filter(Boolean).join(' ') });
  }

  function call<T>(work: (client: AccountClient) => Promise<T>): Promise<T> {
    return deckhand.accounts
      .resolve(workspace, target.account, undefined)
      .then((account) => deckhand.accounts.use(workspace, account, work));
  }

  /** Waits for the next look; false once the time limit has passed. */
  async function wait(pace: Pace): Promise<boolean> {
    const { failures, retryAt } = pace;
    const now = clock.now();
    const ms = nextPollMs({
      intervalMs: config.POLL_INTERVAL_MS,
      failures,
      retryAt,
      now,
      random: Math.random(),
    });
    await clock.sleep(Math.min(ms, Math.max(0, deadline - now)), job.signal);
    return clock.now() < deadline;
  }

  /** What a failed call means for the pace. Throws what waiting will not change. */
  async function slowDown(
    error: unknown,
    pace: Pace,
    isFinal: (kind: ServiceErrorKind) => boolean,
  ): Promise<Pace> {
    if (!(error instanceof AccountFailure) || job.signal.aborted || isFinal(error.cause.kind)) throw error;
    const next = { failures: pace.failures + 1, retryAt: error.cause.retryAt };
    if (next.failures === 2) await show({ kind: 'running', trouble: troubleWords(next) });
    return next;
  }

  /** Starts the run. Only a busy service is asked again: then the test was certainly not started. */
  async function start(): Promise<string | undefined> {
    for (let pace = STEADY; state.run === undefined; ) {
      try {
        const { project, server } = target;
        const run = await call((client) =>
          startTestAccess(client, project.permalink, server?.identifier, { signal: job.signal }),
        );
        await save({ ...state, run: run.identifier });
        await show({ kind: 'running' });
      } catch (error) {
        pace = await slowDown(error, pace, (kind) => kind !== 'busy');
        if (!(await wait(pace))) throw error;
      }
    }
    await tell([{ key: 'started', message: startedMessage(target) }]);
    return state.run;
  }

  /** Looks at the run until it ends; undefined where it was followed as long as we follow. */
  async function watch(run: string): Promise<TestRun | undefined> {
    let pace = STEADY;
    while (await wait(pace)) {
      try {
        const options = { signal: job.signal, retries: 0 };
        const seen = await call((client) => getTestAccess(client, target.project.permalink, run, options));
        if (seen.status !== 'running') return seen;
        if (pace !== STEADY || clock.now() - shownAt >= REFRESH_MS) await show({ kind: 'running' });
        pace = STEADY;
        await tell(newsOf(target, seen, state.layout));
      } catch (error) {
        pace = await slowDown(error, pace, (kind) => FINAL.has(kind));
      }
    }
    return undefined;
  }

  async function follow(): Promise<void> {
    const run = (await start()) ?? '';
    const ended = await watch(run);
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

interface Pace {
  /** Looks in a row without a proper answer. */
  failures: number;
  retryAt: number | undefined;
}

const STEADY: Pace = { failures: 0, retryAt: undefined };

function troubleWords(pace: Pace): string {
  const when = pace.retryAt === undefined ? 'I keep trying' : `I try again ${dateTime(pace.retryAt)}`;
  return `The service is busy or does not answer; ${when}.`;
}

function logFields(state: FollowedTest): Record<string, unknown> {
  const { workspace, target, run } = state;
  return { workspace, account: target.account, project: target.project.permalink, run };
}
