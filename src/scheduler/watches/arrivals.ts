import { isSameProject, projectId } from '../../core/project-ref.ts';
import { identifyEvent } from '../../records/feed-cursor.ts';
import type { Push } from '../../records/pushes.ts';
import type { Watch } from '../../records/schedules.ts';
import { type ActivityEvent, readEventOutcome } from '../../service/activity.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { isPushFor } from './switch-push.ts';

/** If a poll finds a deployment and no call comes within this time, calls do not arrive. */
const LATEST_MS = 30_000;
/** While calls arrive, polls are this many intervals apart. */
const SLOWER = 5;

interface ReadPage {
  account: string;
  watches: readonly Watch[];
  /** The latest first; undefined if the read failed. */
  events: readonly ActivityEvent[] | undefined;
  /** The projects that calls named; none for a poll. */
  pushed: ReadonlySet<string>;
}

/** Returns how long the next poll of the account may wait, given the usual interval. */
export async function notePushes(
  workspace: Workspace,
  { account, watches, events, pushed }: ReadPage,
  intervalMs: number,
): Promise<number> {
  // Without `PUBLIC_URL` the service cannot call Deckhand.
  if (workspace.config.PUBLIC_URL === undefined) return intervalMs;
  const on: Push[] = [];
  for (const push of await workspace.pushes.list(account))
    if (push.state === 'on')
      on.push(await noteEvents(workspace, push, events, pushed.has(projectId(push.project))));
  if (on.some(({ awaitedSince }) => awaitedSince !== undefined)) return Math.min(intervalMs, LATEST_MS);
  const arriving = on.filter(({ arrivedAt, isMissing }) => arrivedAt !== undefined && isMissing !== true);
  // Projects without calls are polled as often as before.
  const isAll = watches.every((watch) => arriving.some((push) => isPushFor(push, watch)));
  return isAll ? SLOWER * intervalMs : intervalMs;
}

async function noteEvents(
  { clock, log, metrics, pushes }: Workspace,
  push: Push,
  events: ReadPage['events'],
  isPushed: boolean,
): Promise<Push> {
  const newest = events && findNewestMark(push, events);
  // Notes a call even if the feed could not be read, because a later poll finds its deployment.
  if (newest === undefined && !isPushed) return push;
  const now = clock.now();
  const next = afterRead(push, newest, isPushed, now);
  if (JSON.stringify(next) === JSON.stringify(push)) return push;
  const { account, isMissing } = next;
  if (isMissing === true && push.isMissing !== true) {
    metrics.push('missing');
    log.warn({ event: 'pushes_missing', account }, 'Deployment found without a call from the service');
  }
  // Something else of it may have changed since it was read.
  await pushes.change(push, (current) => afterRead(current, newest, isPushed, now));
  return next;
}

/** Mark of the project's newest ended deployment; empty if the page has none. */
function findNewestMark({ project }: Push, events: readonly ActivityEvent[]): string {
  const newest = events.find(
    (event) =>
      ['succeeded', 'failed'].includes(readEventOutcome(event.event) ?? '') &&
      event.project !== null &&
      isSameProject(project, event.project),
  );
  return newest === undefined ? '' : identifyEvent(newest);
}

/** Pure. @param now milliseconds since the epoch */
export function afterRead(push: Push, newest: string | undefined, isPushed: boolean, now: number): Push {
  const { awaitedSince, isMissing, ...rest } = push;
  if (isPushed) return { ...rest, newest, arrivedAt: now };
  const isTold = now - (push.arrivedAt ?? Number.NEGATIVE_INFINITY) < LATEST_MS;
  const isFound = push.newest !== undefined && newest !== '' && newest !== push.newest && !isTold;
  const since = awaitedSince ?? (isFound && isMissing !== true ? now : undefined);
  if (since !== undefined && now - since >= LATEST_MS) return { ...rest, newest, isMissing: true };
  return {
    ...rest,
    newest,
    ...(since === undefined ? {} : { awaitedSince: since }),
    ...(isMissing === true ? { isMissing } : {}),
  };
}
