import type { Message } from '../../core/message.ts';
import { asClause } from '../../core/mrkdwn.ts';
import { GUARD_RESULTS, type GuardCheck, type GuardResult } from '../../records/guards.ts';
import { type Run, type Target, targetKey, usualDuration, withDuration } from '../../records/test-runs.ts';
import { accountUrl } from '../../service/addresses.ts';
import { isFailing, itemsOf } from '../../views/test-access/items.ts';
import {
  outcomeOf,
  outcomeWords,
  type TestState,
  testRootMessage,
  timesOf,
} from '../../views/test-access/test-run.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, isUndeliverable } from '../deliver.ts';
import { endSteps, type RunEnding, stepEnding } from '../workflows/end-steps.ts';

/** Records how a run ended: its target is free again, and whoever waits for it is told. Safe to repeat. */
export async function closeRun(workspace: Workspace, run: Run, ending: RunEnding): Promise<void> {
  const endedAt = workspace.clock.now();
  const closed = await workspace.runs.change(run, (current) => ({
    ...changeOf(ending),
    ...('run' in ending ? withDuration(current, timesOf(ending.run), endedAt) : {}),
    endedAt,
  }));
  if (closed === undefined) return;
  const { steps = [], guards = [] } = closed;
  if (steps.length > 0) await endSteps(workspace, steps, await stepEnding(workspace, closed, ending));
  for (const check of guards) {
    const key = `${check.id} ${check.at} ${run.requestId}`;
    await workspace.jobs.send(GUARD_RESULTS, resultOf(closed, check, ending), { key });
  }
  await postToRequesters(workspace, closed, ending);
}

function changeOf(ending: RunEnding): Partial<Run> {
  if ('status' in ending) return { status: ending.status };
  const status = ending.run.status === 'failed' ? 'failed' : 'completed';
  return { status, ...outcomeOf(ending.run), ...timesOf(ending.run) };
}

/** A guard's episode has no room for more. */
const MAX_UNREACHABLE = 20;

function resultOf({ target, requestId }: Run, check: GuardCheck, ending: RunEnding): GuardResult {
  if ('status' in ending) {
    const { reason, failure } = ending;
    return { check, requestId, words: failure?.reason ?? asClause(reason), failure: failure?.kind };
  }
  const { run } = ending;
  const { words, isSuccess } = outcomeWords(outcomeOf(run), target);
  const failing = itemsOf(target, run.results).filter(isFailing).slice(0, MAX_UNREACHABLE);
  const unreachable = failing.map(({ key, title, message }) => ({
    key: key.slice(0, 200),
    title: title.slice(0, 200),
    message: message?.slice(0, 300) ?? null,
  }));
  if (unreachable.length > 0 || isSuccess) return { check, requestId, words, unreachable };
  if (run.status !== 'failed') return { check, requestId, words };
  // Without results it says nothing of the servers, and is worth as much attention.
  return { check, requestId, words, unreachable: [{ key: 'test', title: 'Test', message: null }] };
}

/** Those who asked for it while it was shown nowhere read its outcome where they asked. */
async function postToRequesters(workspace: Workspace, run: Run, ending: RunEnding): Promise<void> {
  const state: TestState =
    'run' in ending ? { kind: 'ended', run: ending.run } : { kind: 'stopped', reason: ending.reason };
  for (const { requestId, askedBy, channel, threadTs } of run.requests ?? []) {
    if (channel === undefined) continue;
    const message = drawRoot(workspace, { ...run, askedBy }, state);
    try {
      await deliver(workspace, { id: `test ${requestId}`, channel, threadTs, message });
    } catch (error) {
      if (!isUndeliverable(error)) throw error;
      const fields = { event: 'message_refused', channel, method: error.method, reason: error.reason };
      workspace.log.warn(fields, 'Slack refused a message');
    }
  }
}

/** The root message of a run. */
export function drawRoot({ clock, config }: Workspace, run: Run, state: TestState): Message {
  return testRootMessage({
    ...run,
    now: clock.now(),
    usualMs: usualDuration(run),
    state,
    projectUrl: projectUrlOf(run.target, config.SERVICE_BASE_URL),
    runKey: targetKey(run.target),
  });
}

/** The project's page at the service. */
function projectUrlOf({ account, project }: Target, baseUrl: string): string {
  return `${accountUrl(account, baseUrl)}/projects/${encodeURIComponent(project.permalink)}`;
}
