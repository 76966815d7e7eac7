import { z } from 'zod';
import { postReplies } from '../../cards/deliver.ts';
import { UserError } from '../../core/errors.ts';
import { maskLines } from '../../core/mask-secrets.ts';
import { projectId } from '../../core/project-ref.ts';
import { type DrawnEpisode, findDrawnEpisode, makeProjectRef } from '../../records/episodes.ts';
import { readStepLog } from '../../service/deployments.ts';
import { readLines } from '../../service/step-log.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { FOLLOWED_BY } from '../../views/episodes/episode-buttons.ts';
import { type LogLines, logMessage, sharedLogMessage } from '../../views/episodes/log-message.ts';
import { type ActionContext, defineButton } from '../action.ts';
import { expectAllowed } from '../permission.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { findFailureThread } from './failure-actions.ts';

const LogButton = z.object({ key: z.string(), id: z.string() });
/** The step whose lines the person has read. A later failure may have another. */
const ShareButton = LogButton.extend({ deployment: z.string(), step: z.string() });

/** Shows a person the last lines of the failed step. */
export const failureLog = defineButton(LogButton, {
  actionId: 'failure:log',
  role: 'member',
  async handle(button, context) {
    const failure = await findLogged(button, context);
    const { deployment, step } = failure.episode.step ?? {};
    if (deployment === undefined || step === undefined) throw new UserError(NO_LOG);
    const log = await readLog(failure, { deployment, step }, context);
    return replyPrivately(logMessage(log, { ...button, deployment, step }));
  },
});

/** Posts the same lines in the thread of the failure, once. They are read again, because they are stored nowhere. */
export const failureShareLog = defineButton(ShareButton, {
  actionId: 'failure:share-log',
  role: 'member',
  durable: true,
  change: 'share log',
  async handle({ deployment, step, ...button }, context) {
    const { workspace, invocation } = context;
    const failure = await findLogged(button, context);
    const { subject } = failure.record;
    const message = sharedLogMessage(await readLog(failure, { deployment, step }, context), invocation.user);
    const threadTs = await findFailureThread(workspace, failure);
    const thread = { id: `episode ${failure.episode.id}`, channel: subject.channel, threadTs };
    const outcome = await postReplies(workspace, thread, [[`log ${deployment} ${step}`, message]]);
    if (outcome === 'refused')
      throw new UserError(
        'This channel has no threads, so the lines cannot be shared. Copy what others need into a message.',
      );
    if (outcome === 'gone') throw new UserError('Somebody deleted the message of this failure.', 'failing');
    const audit = { target: subject.name, where: subject.channel };
    return replyInPlace(say(':white_check_mark: The lines are in the thread of the failure.'), audit);
  },
});

const NO_LOG = 'The service has no log of this failure for Deckhand. Open the deployment there to see more.';

/** @throws Refusal, or UserError if nobody may read a log there */
async function findLogged(button: z.infer<typeof LogButton>, context: ActionContext): Promise<DrawnEpisode> {
  const { workspace, invocation } = context;
  const failure = await findDrawnEpisode(workspace.store, button);
  if (failure === undefined)
    throw new UserError('That failure is over, and its log is no longer known.', 'failing');
  const { channel, kind } = failure.record.subject;
  await expectAllowed(context, channel, { command: FOLLOWED_BY[kind], role: 'member' });
  if ((await workspace.channels.get(channel)).diagnose === false)
    throw new UserError('“Diagnose failures” is switched off in this channel.', 'settings');
  for (const place of new Set([invocation.channel, channel]))
    if (place !== undefined && (await workspace.isSharedOutside(place)))
      throw new UserError(
        'People of other organisations may read this channel, or Slack does not say whether they do, so no log is shown here. Open the deployment at the service to read it.',
      );
  return failure;
}

/** Number of lines at the end of a log. */
const MAX_LINES = 20;

async function readLog(
  { record, episode }: DrawnEpisode,
  { deployment, step }: { deployment: string; step: string },
  { workspace, invocation }: ActionContext,
): Promise<LogLines> {
  const { subject } = record;
  const account = await workspace.accounts.resolve(invocation, subject.account);
  const place = { project: projectId(makeProjectRef(subject)), deployment, step };
  const entries = await workspace.offered.use(
    account,
    'GET /projects/{}/deployments/{}/steps/{}/logs',
    (client) => readStepLog(client, place),
    { what: 'such step', list: 'projects' },
  );
  if (entries === undefined) throw new UserError(NO_LOG);
  const texts = readLines(entries).map(({ text }) => text);
  const lines = maskLines(texts, MAX_LINES);
  const isSame = episode.step?.step === step && episode.step.deployment === deployment;
  return {
    project: subject.name,
    step: (isSame ? episode.step?.title : undefined) ?? 'the failed step',
    lines,
  };
}
