import { z } from 'zod';
import type { ServiceErrorKind } from '../../core/errors.ts';
import { sanitize, unmarked } from '../../core/mrkdwn.ts';
import type { Run, Target } from '../../records/test-runs.ts';
import { isFailing, listItems, type TestRun } from '../../service/projects.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { BACKGROUND } from '../../slack/rate-limit.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** A choice of a menu in Workflow Builder. */
const Choice = z.object({
  text: z.object({ type: z.literal('plain_text'), text: z.string() }),
  value: z.string(),
});

const Ending = z.union([
  z.object({ outputs: z.record(z.string(), z.union([z.string(), z.number(), z.array(Choice)])) }),
  /** Plain text for the owner of the workflow. */
  z.object({ error: z.string() }),
]);
/** End of a step: the outputs that the manifest names, or a reason. */
export type Ending = z.infer<typeof Ending>;

export const EndStep = z.object({ execution: z.string(), ending: Ending });
type EndStep = z.infer<typeof EndStep>;

export type RunEnding =
  | { run: Omit<TestRun, 'identifier'> }
  /** Mrkdwn that says why the outcome is unknown. */
  | {
      status: 'stopped' | 'lost';
      reason: string;
      /** Kind and reason (half a sentence) of the service's failure, if that ended the run. */
      failure?: { kind: ServiceErrorKind; reason: string } | undefined;
    };

/** Ends steps, even if the process is killed in between. A step that has ended stays as it is. */
export async function endSteps(
  { jobs }: Pick<Workspace, 'jobs'>,
  executions: readonly string[],
  ending: Ending,
): Promise<void> {
  for (const execution of executions) await jobs.send(END_STEP, { execution, ending }, { key: execution });
}

/** Ends a step while Slack waits for the ack; by a job if Slack cannot take it now. */
export async function endStepNow(workspace: Workspace, execution: string, ending: Ending): Promise<void> {
  try {
    await endStep(workspace, { execution, ending });
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    await endSteps(workspace, [execution], ending);
  }
}

/** Outputs of the steps that wait for a run, as declared for `test_access` in manifest.yml. */
export async function stepEnding({ slack, log }: Workspace, closed: Run, ending: RunEnding): Promise<Ending> {
  if ('status' in ending) return { error: unmarked(ending.reason) };
  const { reachable = 0, total = 0, channel, rootTs: ts } = closed;
  const status = sanitize(ending.run.status, 60);
  const outputs = { status, reachable, total, failing: failingItems(closed.target, ending.run) };
  if (channel === undefined || ts === undefined) return { outputs };
  try {
    const permalink = await slack.permalink({ channel, ts });
    return { outputs: { ...outputs, ...(permalink === undefined ? {} : { permalink }) } };
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    log.warn({ event: 'permalink_unknown', reason: error.reason }, 'Permalink of a message not found');
    return { outputs };
  }
}

const MAX_FAILING = 100;

/** Failed items as plain text, one on each line; empty if nothing failed. A run without results counts as failed. */
function failingItems(target: Target, { results }: Pick<TestRun, 'results'>): string {
  const items = listItems(target, results);
  const unread = (results?.skipped ?? []).map(
    (rows) => `${rows.count} not readable, reference ${rows.reference}`,
  );
  if (items.length + unread.length === 0) return 'No results';
  const failing = items
    .filter(isFailing)
    .slice(0, MAX_FAILING)
    .map(({ title, message }) => `${sanitize(title)}: ${sanitize(message ?? 'no reason given', 300)}`);
  return [...failing, ...unread].join('\n');
}

/** Completes a step with the bot's own token. The step's token is a secret, and jobs are stored unsealed. */
async function endStep(workspace: Workspace, { execution, ending }: EndStep): Promise<void> {
  try {
    await complete(workspace, execution, ending);
  } catch (error) {
    if (!isSlackFailure(error) || isSlackFailure(error, 'busy', 'unreachable')) throw error;
    const { reason } = error;
    workspace.log.warn({ event: 'step_refused', execution, reason }, 'Workflow step not ended');
    if (reason !== 'parameter_validation_failed') return;
    await complete(workspace, execution, { error: 'The outcome does not fit this step.' });
  }
}

async function complete(
  { slack }: Pick<Workspace, 'slack'>,
  execution: string,
  ending: Ending,
): Promise<void> {
  const ended = { function_execution_id: execution, ...ending };
  if ('outputs' in ended) await slack.call('functions.completeSuccess', ended, BACKGROUND);
  else await slack.call('functions.completeError', ended, BACKGROUND);
}

export const END_STEP = defineJob({
  queue: 'end-step',
  schema: EndStep,
  options: { concurrency: 50, attempts: 10, backoffMs: 5_000 },
  handle: (workspace, { data }) => endStep(workspace, data),
});
