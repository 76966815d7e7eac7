import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { type DrawnEpisode, findDrawnEpisode, makeProjectRef } from '../../records/episodes.ts';
import { readOutage } from '../../scheduler/episodes/count-failures.ts';
import { startTest } from '../../scheduler/test-access/start-test.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type ActionContext, defineButton } from '../action.ts';
import { expectAllowed } from '../permission.ts';
import { replyPrivately } from '../replies.ts';
import { expectCurrentProject } from '../targets/targets.ts';

const FailureButton = z.object({ key: z.string(), id: z.string() });

/** Tests the project of a failure, and shows the result in the failure's thread. */
export const failureTest = defineButton(FailureButton, {
  actionId: 'failure:test',
  role: 'member',
  durable: true,
  change: 'test',
  async handle(button, context) {
    const { workspace, invocation } = context;
    const failure = await findDrawnEpisode(workspace.store, button);
    if (failure === undefined)
      throw new UserError('That failure is over, and too old to be tested again.', 'test');
    const { subject } = failure.record;
    await expectAllowed(context, subject.channel, { command: 'test', role: 'member' });
    const account = await workspace.accounts.resolve(invocation, subject.account);
    const project = await expectCurrentProject(context, account, makeProjectRef(subject));
    const ts = await findFailureThread(workspace, failure);
    const target = { account: subject.account, project };
    const reply = await startTest(workspace, { ...invocation, answerTs: ts }, subject.channel, target);
    if (reply.kind === 'private') return reply;
    const audit = { target: `${subject.account}/${project.permalink}`, where: subject.channel };
    return { ...(await pointToThread(context, subject.channel, ts)), audit };
  },
});

/** Thread of the message that shows a failure; undefined if the channel has no threads. */
export async function findFailureThread(
  workspace: Workspace,
  { record, episode }: DrawnEpisode,
): Promise<string | undefined> {
  if ((await workspace.channels.get(record.subject.channel)).threads === false) return undefined;
  const { outage, rootRef } = episode;
  const ts = rootRef?.ts ?? (outage && (await readOutage(workspace, outage))?.outage.root?.ts);
  return ts || undefined;
}

/** A person who clicked elsewhere does not see the thread. */
async function pointToThread(
  { workspace, invocation }: ActionContext,
  channel: string,
  ts: string | undefined,
): Promise<Reply> {
  if (ts === undefined || [invocation.messageTs, invocation.threadTs].includes(ts))
    return { kind: 'nothing' };
  const link = await workspace.home.permalink({ channel, ts });
  const where = link === undefined ? 'the failure’s thread' : `<${link}|the failure’s thread>`;
  return replyPrivately(say(`:mag: The test is running. Its result comes into ${where}.`));
}
