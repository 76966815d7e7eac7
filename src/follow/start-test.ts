import type { Caller, Reply } from '../commands/command.ts';
import type { Deckhand } from '../deckhand.ts';
import type { Run, Target } from '../runs.ts';
import { alreadyRunningMessage, testRootMessage } from '../views/test-run.ts';
import { FOLLOW_TEST, type FollowedTest } from './test-run.ts';
import { postId } from './thread.ts';

/** A claim older than the longest following belongs to nobody any more. */
const GRACE_MS = 5 * 60_000;

/**
 * Posts the root message and hands the run to its follower; where the target is being tested already, points there.
 * A request that is carried out again after a kill finds its own claim and goes on.
 */
export async function startTest(
  deckhand: Deckhand,
  caller: Caller,
  channel: string,
  target: Target,
): Promise<Reply> {
  const { workspace } = caller;
  const now = deckhand.clock.now();
  const longest = deckhand.config.FOLLOW_TIMEOUT_MINUTES * 60_000 + GRACE_MS;
  const asked: Run = {
    target,
    requestId: caller.requestId,
    channel,
    askedBy: caller.user,
    startedAt: now,
    status: 'running',
  };
  const claim = await deckhand.runs.claim(workspace, asked, now - longest);
  if (!claim.mine) return pointTo(deckhand, workspace, claim.run);
  if (claim.run.status !== 'running') return { kind: 'nothing' };
  try {
    const rootTs = claim.run.rootTs ?? (await postRoot(deckhand, workspace, claim.run));
    const settings = await deckhand.channels.get(workspace, channel);
    const followed: FollowedTest = {
      workspace,
      target,
      requestId: claim.run.requestId,
      askedBy: claim.run.askedBy,
      channel,
      rootTs,
      startedAt: claim.run.startedAt,
      followedSince: claim.run.startedAt,
      threads: settings.threads ?? true,
      layout: settings.layout ?? 'full',
      told: [],
    };
    await recordRun(deckhand, workspace, claim.run);
    await deckhand.engine.send(FOLLOW_TEST, followed, { key: `${workspace} ${channel} ${rootTs}` });
  } catch (error) {
    await deckhand.runs.change(workspace, claim.run, { status: 'stopped', endedAt: deckhand.clock.now() });
    throw error;
  }
  return { kind: 'nothing' };
}

function recordRun(deckhand: Deckhand, workspace: string, { target, askedBy, channel }: Run): Promise<void> {
  const { account, project, server } = target;
  const about = [account, project.permalink, server?.identifier].filter(Boolean).join('/');
  const entry = { who: askedBy, what: 'test', where: channel, target: about, result: 'done' } as const;
  return deckhand.audit.record(workspace, entry);
}

async function postRoot(deckhand: Deckhand, workspace: string, run: Run): Promise<string> {
  const message = testRootMessage({
    ...run,
    now: run.startedAt,
    state: { kind: 'starting' },
    layout: 'full',
  });
  const clientMsgId = postId(workspace, run.requestId, 'root');
  const shown = await deckhand.slack.post(workspace, { channel: run.channel, message, clientMsgId });
  await deckhand.runs.change(workspace, run, { rootTs: shown.ts });
  return shown.ts;
}

async function pointTo(deckhand: Deckhand, workspace: string, run: Run): Promise<Reply> {
  const { channel, rootTs: ts } = run;
  const link = ts === undefined ? undefined : await deckhand.slack.permalink(workspace, { channel, ts });
  return { kind: 'private', message: alreadyRunningMessage(run.target, run.askedBy, run.startedAt, link) };
}
