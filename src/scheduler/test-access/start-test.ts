import type { Caller, Reply } from '../../core/reply.ts';
import { explain, failureWords } from '../../views/blocks/failures.ts';
import { alreadyRunningMessage, testRootMessage } from '../../views/test-access/test-run.ts';
import type { Run, Target } from '../../workspace/test-runs.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { postId } from '../post-once.ts';
import { closeRun } from './close-run.ts';
import { FOLLOW_TEST, type FollowedTest } from './follow-test.ts';

/** A claim older than the longest following belongs to nobody any more. */
const GRACE_MS = 5 * 60_000;

/** Who wants what tested, and where it is to be shown. */
export interface TestAsk {
  /** Names this wish for ever, so that a repetition after a kill finds its own run. */
  requestId: string;
  target: Target;
  askedBy?: string;
  /** Without one it is shown nowhere. */
  channel?: string;
  /** The execution of a workflow step that ends with the run. */
  step?: string;
}

/**
 * Starts a test for a person; where the target is being tested already, points there.
 * @throws SlackFailure where the channel cannot be posted in
 */
export async function startTest(
  workspace: Workspace,
  { requestId, user: askedBy }: Caller,
  channel: string,
  target: Target,
): Promise<Reply> {
  const other = await beginTest(workspace, { requestId, target, askedBy, channel });
  return other === undefined ? { kind: 'nothing' } : pointTo(workspace, other);
}

/**
 * Posts the root message and hands the run to its follower. A wish that is carried out again after a kill finds its
 * own claim and goes on.
 * @returns the run of the same target that goes on already; the step then ends with that
 * @throws SlackFailure where the channel cannot be posted in
 */
export async function beginTest(workspace: Workspace, ask: TestAsk): Promise<Run | undefined> {
  const { step, ...asked } = ask;
  const now = workspace.clock.now();
  const longest = workspace.config.FOLLOW_TIMEOUT_MINUTES * 60_000 + GRACE_MS;
  const wanted: Run = {
    ...asked,
    startedAt: now,
    status: 'running',
    ...(step === undefined ? {} : { steps: [step] }),
  };
  const claim = await workspace.runs.claim(wanted, now - longest);
  if (!claim.mine) return claim.run;
  if (claim.run.status === 'running') await follow(workspace, claim.run);
  return undefined;
}

async function follow(workspace: Workspace, run: Run): Promise<void> {
  const { target, requestId, askedBy, channel, startedAt } = run;
  try {
    const rootTs = run.rootTs ?? (await postRoot(workspace, run));
    const settings = await workspace.channels.get(channel);
    const followed: FollowedTest = {
      target,
      requestId,
      askedBy,
      channel,
      rootTs,
      startedAt,
      threads: settings.threads ?? true,
      layout: settings.layout ?? 'full',
      told: [],
    };
    const key = rootTs === undefined ? requestId : `${channel} ${rootTs}`;
    await workspace.jobs.send(FOLLOW_TEST, followed, { key: `${key}` });
  } catch (error) {
    const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
    const reason = failureWords(explain(error, at));
    await closeRun(workspace, run, { status: 'stopped', reason });
    throw error;
  }
}

/** Undefined where the run is shown nowhere. */
async function postRoot(workspace: Workspace, run: Run): Promise<string | undefined> {
  const { channel } = run;
  if (channel === undefined) return undefined;
  const message = testRootMessage({
    ...run,
    now: run.startedAt,
    state: { kind: 'starting' },
    layout: 'full',
  });
  const clientMsgId = postId(workspace.id, run.requestId, 'root');
  const shown = await workspace.slack.post({ channel, message, clientMsgId });
  await workspace.runs.change(run, { rootTs: shown.ts });
  return shown.ts;
}

async function pointTo(workspace: Workspace, run: Run): Promise<Reply> {
  const { channel, rootTs: ts, target, askedBy, startedAt } = run;
  const isShown = channel !== undefined && ts !== undefined;
  const link = isShown ? await workspace.slack.permalink({ channel, ts }) : undefined;
  return { kind: 'private', message: alreadyRunningMessage(target, askedBy, startedAt, link) };
}
