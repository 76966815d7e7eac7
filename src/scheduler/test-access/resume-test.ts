import type { Caller, Reply } from '../../commands/command.ts';
import { UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import { type Target, targetKey } from '../../workspace/test-runs.ts';
import { FOLLOW_TEST, type FollowedTest } from './follow-test.ts';

/** Follows a run again that was followed too long: the same root message, the same run. */
export async function resumeTest(
  deckhand: Deckhand,
  caller: Caller,
  channel: string,
  target: Target,
  run: string,
): Promise<Reply> {
  const { workspace, messageTs } = caller;
  const known = (await deckhand.runs.list(workspace)).find(
    (candidate) => candidate.rootTs === messageTs && targetKey(candidate.target) === targetKey(target),
  );
  if (messageTs === undefined || known === undefined)
    throw new UserError('That test is too long ago.', 'test');
  const settings = await deckhand.channels.get(workspace, channel);
  const followed: FollowedTest = {
    workspace,
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
  await deckhand.runs.change(workspace, known, { status: 'running' });
  await deckhand.engine.send(FOLLOW_TEST, followed, { key: `${workspace} ${channel} ${messageTs}` });
  return { kind: 'nothing' };
}
