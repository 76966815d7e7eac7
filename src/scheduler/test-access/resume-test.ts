import { UserError } from '../../core/errors.ts';
import type { Caller, Reply } from '../../core/reply.ts';
import { type Target, targetKey } from '../../workspace/test-runs.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { FOLLOW_TEST, type FollowedTest } from './follow-test.ts';

/** Follows a run again that was followed too long: the same root message, the same run. */
export async function resumeTest(
  workspace: Workspace,
  caller: Caller,
  channel: string,
  target: Target,
  run: string,
): Promise<Reply> {
  const { messageTs } = caller;
  const known = (await workspace.runs.list()).find(
    (candidate) => candidate.rootTs === messageTs && targetKey(candidate.target) === targetKey(target),
  );
  if (messageTs === undefined || known === undefined)
    throw new UserError('That test is too long ago.', 'test');
  const settings = await workspace.channels.get(channel);
  const followed: FollowedTest = {
    target,
    requestId: known.requestId,
    askedBy: known.askedBy,
    channel,
    rootTs: messageTs,
    startedAt: known.startedAt,
    threads: settings.threads ?? true,
    layout: settings.layout ?? 'full',
    run,
    told: ['started'],
  };
  await workspace.runs.change(known, { status: 'running' });
  await workspace.jobs.send(FOLLOW_TEST, followed, { key: `${channel} ${messageTs}` });
  return { kind: 'nothing' };
}
