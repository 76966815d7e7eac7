import { plain, unmarked } from '../../core/mrkdwn.ts';
import type { TestRun } from '../../service/test-access.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { countReachable } from '../../views/test-access/test-run.ts';
import type { Run } from '../../workspace/test-runs.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Ending, endSteps } from '../workflows/end-steps.ts';

export type RunEnding =
  | { run: Pick<TestRun, 'status' | 'results'> }
  /** Mrkdwn: why nobody knows how it ended. */
  | { status: 'stopped' | 'lost'; reason: string };

/** The target is free again, and the workflows that wait for the run go on. */
export async function closeRun(
  workspace: Workspace,
  run: Pick<Run, 'target' | 'requestId'>,
  ending: RunEnding,
): Promise<void> {
  const endedAt = workspace.clock.now();
  const closed = await workspace.runs.change(run, { ...recordOf(ending), endedAt });
  const { steps = [] } = closed ?? {};
  if (closed === undefined || steps.length === 0) return;
  await endSteps(workspace, steps, await endingOf(workspace, closed, ending));
}

function recordOf(ending: RunEnding): Pick<Run, 'status' | 'reachable' | 'total'> {
  if ('status' in ending) return { status: ending.status };
  const status = ending.run.status === 'failed' ? 'failed' : 'completed';
  return { status, ...countReachable(ending.run.results) };
}

/** The outputs are those of `test_access` in manifest.yml. */
async function endingOf(workspace: Workspace, closed: Run, ending: RunEnding): Promise<Ending> {
  if ('status' in ending) return { error: unmarked(ending.reason) };
  const { status, reachable = 0, total = 0 } = closed;
  const permalink = await permalinkOf(workspace, closed);
  return {
    outputs: {
      status,
      reachable,
      total,
      failing: failingItems(ending.run),
      ...(permalink === undefined ? {} : { permalink }),
    },
  };
}

const MOST_FAILING = 100;

/** One a line, as plain text; empty where all is well. */
function failingItems({ results }: Pick<TestRun, 'results'>): string {
  const { repository, servers = [] } = results ?? {};
  const items = [...(repository ? [{ name: 'Repository', ...repository }] : []), ...servers];
  return items
    .filter(({ status }) => status === 'error')
    .slice(0, MOST_FAILING)
    .map(({ name, message }) => `${plain(name)}: ${plain(message ?? 'no reason given', 300)}`)
    .join('\n');
}

async function permalinkOf(
  { slack, log }: Workspace,
  { channel, rootTs: ts }: Run,
): Promise<string | undefined> {
  if (channel === undefined || ts === undefined) return undefined;
  try {
    return await slack.permalink({ channel, ts });
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    log.warn({ event: 'permalink_unknown', reason: error.reason }, 'a message has no address');
    return undefined;
  }
}
