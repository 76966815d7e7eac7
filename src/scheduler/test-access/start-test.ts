import { showCard } from '../../cards/card.ts';
import { UserError } from '../../core/errors.ts';
import type { Invocation, Reply } from '../../core/message.ts';
import { projectId } from '../../core/project-ref.ts';
import { readOpen, subjectKey } from '../../records/episodes.ts';
import {
  type GuardCheck,
  isUnasked,
  makeGuardRequestId,
  type NewRun,
  type Run,
  type Target,
} from '../../records/test-runs.ts';
import { isThreadRefused } from '../../slack/failure.ts';
import type { MessageRef } from '../../slack/slack.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { alreadyRunningMessage, type TestStarter, type TestState } from '../../views/test-access/test-run.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { closeRun, drawRoot } from './close-run.ts';
import { FOLLOW_TEST } from './follow-test.ts';

/** Added to the longest time that Deckhand follows a run. An older claim is abandoned. */
const GRACE_MS = 5 * 60_000;

/** A test to start, and where to show it. */
export interface TestRequest
  extends Pick<Run, 'requestId' | 'target' | 'requestedBy' | 'channel' | 'threadTs' | 'unasked'> {
  /** The execution of a workflow step that ends with the run. */
  step?: string;
  /** The guard that waits for the end of the run. */
  guard?: GuardCheck;
}

/**
 * Starts a test for a person, or links to the run that already tests the target.
 * @throws SlackFailure if Slack rejects posts in the channel
 */
export async function startTest(
  workspace: Workspace,
  { requestId, user: requestedBy, answerTs: threadTs }: Invocation,
  channel: string,
  target: Target,
): Promise<Reply> {
  const other = await beginTest(workspace, { requestId, target, requestedBy, channel, threadTs });
  return other === undefined ? { kind: 'nothing' } : pointTo(workspace, other, channel);
}

/**
 * Posts the root message and starts to follow the run. A repeat after a kill finds its own claim and
 * continues.
 * @returns the run of the same target that goes on already; a workflow step then ends with that one. The
 * latest run, if an unasked run comes too soon
 * @throws SlackFailure if Slack rejects posts in the channel
 */
export async function beginTest(workspace: Workspace, request: TestRequest): Promise<Run | undefined> {
  const { step, guard, ...identity } = request;
  const { runs, clock, config } = workspace;
  const startedAt = clock.now();
  const longest = config.FOLLOW_TIMEOUT_MINUTES * 60_000 + GRACE_MS;
  const steps = step === undefined ? {} : { steps: [step] };
  const guards = guard === undefined ? {} : { guards: [guard] };
  const layout = await readLayout(workspace, identity.channel);
  const headline = (await workspace.accounts.hasSeveral()) ? { isAccountShown: true } : {};
  const newRun: NewRun = {
    ...identity,
    ...layout,
    ...headline,
    startedAt,
    status: 'running',
    ...steps,
    ...guards,
  };
  const claim = await runs.claim(newRun, startedAt - longest);
  if (!claim.mine) return claim.run;
  if (claim.run.status === 'running') await postAndFollow(workspace, claim.run, claim.isResumed);
  return undefined;
}

/** @param isResumed true if an earlier attempt may have posted the message */
async function postAndFollow(workspace: Workspace, run: Run, isResumed: boolean): Promise<void> {
  const { channel, requestId, target } = run;
  let { rootTs, threadTs } = run;
  const show = async (place: string, ts: string | undefined, state: TestState): Promise<MessageRef> =>
    showCard(workspace, {
      id: `test ${requestId}`,
      channel: place,
      threadTs,
      ref: ts === undefined ? undefined : { channel: place, ts },
      root: drawRoot(workspace, { ...run, threadTs }, state),
      cause: `outcome:${state.kind}`,
      ifRefused: 'leave',
      isAwaited: true,
      attempt: isResumed ? 2 : 1,
    });
  const postFirst = async (place: string): Promise<MessageRef> => {
    try {
      return await show(place, undefined, { kind: 'starting' });
    } catch (error) {
      if (threadTs === undefined || !isThreadRefused(error)) throw error;
      await workspace.channels.turnThreadsOff(place);
      threadTs = undefined;
      return show(place, undefined, { kind: 'starting' });
    }
  };
  try {
    if (channel !== undefined && rootTs === undefined) {
      rootTs = (await postFirst(channel)).ts;
      await workspace.runs.change(run, { rootTs, threadTs });
    }
    await FOLLOW_TEST.begin(workspace, run.id, requestId);
  } catch (error) {
    const { account, project } = target;
    // Without a message the error is thrown, and the caller reports it.
    const explained = rootTs
      ? workspace.report(error, { account, project: project.permalink })
      : workspace.explain(error);
    const reason = failureWords(explained);
    await closeRun(workspace, run, { status: 'stopped', reason });
    if (channel === undefined || !rootTs) throw error;
    await show(channel, rootTs, { kind: 'stopped', reason });
  }
}

/** The channel's settings for runs. */
async function readLayout(
  { channels }: Pick<Workspace, 'channels'>,
  channel: string | undefined,
): Promise<Pick<Run, 'threads' | 'layout'>> {
  const { threads = true, layout = 'compact' } = await channels.get(channel);
  return { threads, layout };
}

async function pointTo(workspace: Workspace, run: Run, here: string): Promise<Reply> {
  const { target, startedAt, createdAt = startedAt } = run;
  const { starter, channel, ts } = await findStarter(workspace, run, here);
  const link = channel !== undefined && ts ? await workspace.slack.permalink({ channel, ts }) : undefined;
  const where = { link, isPostedLater: run.channel === undefined };
  return { kind: 'private', message: alreadyRunningMessage(target, starter, createdAt, where) };
}

/** The person or failure that started a run, and the message that shows it: the run's own, or that of the failure. */
async function findStarter(
  { store }: Workspace,
  run: Run,
  here: string,
): Promise<{ starter: TestStarter; channel?: string | undefined; ts?: string | undefined }> {
  const { requestId, requestedBy, channel, rootTs: ts, target, guards = [], unasked } = run;
  if (requestedBy !== undefined) return { starter: { user: requestedBy }, channel, ts };
  if (guards.some((check) => makeGuardRequestId(check) === requestId)) return { starter: { noun: 'guard' } };
  if (unasked === undefined || !isUnasked(run)) return { starter: { noun: 'workflow' }, channel, ts };
  const { account, project } = target;
  const own = { kind: 'deployments', channel: here, account, project: projectId(project) } as const;
  const failures = await Promise.all([subjectKey(own), unasked.episode].map((key) => readOpen(store, key)));
  const failure = failures.find((open) => open !== undefined);
  if (failure?.subject.channel !== here) return { starter: { failureIn: failure?.subject.channel } };
  return { starter: { failureIn: here }, channel: here, ts: failure.episode.rootRef?.ts };
}

/** Follows a run again after Deckhand gave it up, with the same root message. */
export async function resumeTest(
  workspace: Workspace,
  { user: resumedBy, requestId: resumedRequest, messageTs, threadTs }: Invocation,
  channel: string,
  target: Target,
  run: string,
): Promise<Reply> {
  const latest = await workspace.runs.latest(target);
  const isShownHere = [latest?.rootTs, latest?.threadTs].some(
    (ts) => ts !== undefined && [messageTs, threadTs].includes(ts),
  );
  if (latest === undefined || !isShownHere)
    throw new UserError('That test is too old to be followed again.', 'test');
  const layout = await readLayout(workspace, channel);
  await workspace.runs.change(latest, (current) =>
    current.resumedRequest === resumedRequest
      ? {}
      : {
          ...layout,
          status: 'running',
          run,
          channel,
          resumedBy,
          resumedRequest,
          endedAt: undefined,
          shownAt: undefined,
        },
  );
  await FOLLOW_TEST.begin(workspace, latest.id, resumedRequest);
  return { kind: 'nothing' };
}
