import { z } from 'zod';
import { AccountFailure } from '../../core/errors.ts';
import { isSameProject, type ProjectRef, projectId } from '../../core/project-ref.ts';
import { type Account, SCHEDULES } from '../../records/accounts.ts';
import type { Push } from '../../records/feeds.ts';
import { SCHEDULES_LOCK, type Watch } from '../../records/schedules.ts';
import { type ActivityEvent, readEventOutcome } from '../../service/activity.ts';
import { createIntegration, INTEGRATION_FLAGS, updateIntegration } from '../../service/integrations.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { makePublicAddress } from '../../workspace/installations.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { REFUSALS } from '../schedules/polling.ts';
import { identifyEvent } from './news.ts';

/** Path of the addresses that the service calls. A token follows it. */
export const HOOK_PATH = '/hooks';

const ON = flags(true);
const OFF = flags(false);

function flags(isOn: boolean) {
  return Object.fromEntries(INTEGRATION_FLAGS.map((flag) => [flag, isOn]));
}

function makeLockName(account: string): string {
  return `pushes ${account}`;
}

/**
 * Makes the service call Deckhand about a project's deployments: switches its old integration on again, or
 * creates one. API 4.8 (docs/service-api.md).
 * @throws AccountFailure
 */
export function switchPushOn(workspace: Workspace, account: Account, project: ProjectRef): Promise<void> {
  const { config, pushes, store } = workspace;
  const { PUBLIC_URL: publicUrl = '' } = config;
  return store.exclusive(makeLockName(account.name), async () => {
    const before = await pushes.get({ account: account.name, project });
    const { token, digest } = await pushes.tokens.issue(account.name, projectId(project));
    const place = { account: account.name, project };
    const push: Push = { ...place, state: 'on', token: digest, publicUrl, integration: before?.integration };
    // Stored first, so that after a kill Deckhand can revoke every token.
    await pushes.put(push);
    try {
      const url = makePublicAddress(publicUrl, `${HOOK_PATH}/${token}`);
      await pushes.put({ ...push, integration: await callUs(workspace, account, push, url) });
    } catch (error) {
      await pushes.tokens.revoke(digest);
      await pushes.put(before ?? { ...place, state: 'off', publicUrl });
      throw error;
    }
    if (before?.token !== undefined) await pushes.tokens.revoke(before.token);
  });
}

/** Returns the identifier of the integration that calls the address. */
async function callUs(
  { accounts }: Workspace,
  account: Account,
  { project, integration }: Push,
  url: string,
): Promise<string | undefined> {
  const changes = { ...ON, properties: { url } };
  const id = projectId(project);
  if (integration !== undefined)
    try {
      await accounts.use(account, (client) => updateIntegration(client, id, integration, changes));
      return integration;
    } catch (error) {
      // Somebody deleted it at the service.
      if (!(error instanceof AccountFailure) || error.cause.kind !== 'record_not_found') throw error;
    }
  const answer = await accounts.use(account, (client) =>
    createIntegration(client, id, { hook_type: 'http_req', name: 'Deckhand', ...changes }),
  );
  return answer.kind === 'integration' ? answer.integration.identifier : answer.identifier;
}

export const Settling = z.object({
  /** The removal that was undone. */
  restored: z.string().optional(),
});

/**
 * Call it before watches are removed or changed, within `SCHEDULES_LOCK`. It sends a job that switches off
 * pushes without a watch, and switches on those of a removal that was undone. The job runs after a kill too.
 */
export async function planSettling(
  { jobs, pushes }: Workspace,
  settling: z.infer<typeof Settling> = {},
): Promise<void> {
  if ((await pushes.list()).length > 0) await jobs.send(SETTLE_PUSHES, settling);
}

export const SETTLE_PUSHES = defineJob({
  queue: 'settle-pushes',
  schema: Settling,
  options: { concurrency: 20, attempts: 8, backoffMs: 5_000 },
  async run(workspace, { data: { restored }, signal }) {
    await workspace.store.exclusive(SCHEDULES_LOCK, () => endUnwatched(workspace));
    for (const push of await workspace.pushes.list()) {
      if (push.state === 'ending') await tellOff(workspace, push, signal);
      if (push.state !== 'on' && restored !== undefined && push.removalRequest === restored)
        await switchOnAgain(workspace, push);
    }
  },
});

/** Ends the pushes of projects without a watch in the workspace. @param request the removal of the watches */
export async function endUnwatched(workspace: Workspace, request?: string): Promise<void> {
  const watches = await workspace.schedules.list('watch');
  for (const push of await workspace.pushes.list())
    if (push.state === 'on' && !watches.some((watch) => isPushFor(push, watch)))
      await endPush(workspace, push, request);
}

/** From now on Deckhand does not accept its address. */
async function endPush({ pushes }: Workspace, push: Push, removalRequest?: string): Promise<void> {
  if (push.token !== undefined) await pushes.tokens.revoke(push.token);
  await pushes.change(push, ({ token, ...current }) => ({ ...current, state: 'ending', removalRequest }));
}

/**
 * Switches the integration off at the service. Deckhand ignores a refusal, because it no longer accepts the
 * address.
 */
async function tellOff(workspace: Workspace, push: Push, signal?: AbortSignal): Promise<void> {
  const { accounts, log, pushes, store } = workspace;
  await store.exclusive(makeLockName(push.account), async () => {
    const current = await pushes.get(push);
    if (current?.state !== 'ending') return;
    const { integration } = current;
    const account = await accounts.get(push.account, SCHEDULES);
    try {
      if (account !== undefined && integration !== undefined)
        await accounts.use(account, (client) =>
          updateIntegration(client, projectId(push.project), integration, OFF, { signal }),
        );
    } catch (error) {
      if (!isCallRefused(error)) throw error;
      const { kind, status } = error.cause;
      const fields = { event: 'push_not_switched_off', account: push.account, kind, status };
      log.warn(fields, 'The service refused to switch an integration off');
    }
    await pushes.change(push, (current) => ({ ...current, state: 'off' }));
  });
}

function isCallRefused(error: unknown): error is AccountFailure {
  return (
    error instanceof AccountFailure && (REFUSALS.has(error.cause.kind) || error.cause.kind === 'unauthorized')
  );
}

/** If the service refuses, Deckhand polls for the watch as before. */
async function switchOnAgain(workspace: Workspace, push: Push): Promise<void> {
  const { accounts, config, log, schedules } = workspace;
  const account = await accounts.get(push.account, SCHEDULES);
  const isWatched = (await schedules.list('watch')).some((watch) => isPushFor(push, watch));
  if (account === undefined || !isWatched || config.PUBLIC_URL === undefined) return;
  try {
    await switchPushOn(workspace, account, push.project);
  } catch (error) {
    if (!isCallRefused(error)) throw error;
    log.warn(
      { event: 'push_not_switched_on', account: push.account, kind: error.cause.kind },
      'The service refused to switch an integration on',
    );
  }
}

/** Maximum time for the last calls to an account that a person disconnects. */
const FAREWELL_MS = 5_000;

/** Call it before the shared key of an account is deleted, because Deckhand then cannot call the service any more. */
export async function endPushesOfAccount(workspace: Workspace, account: string): Promise<void> {
  const signal = AbortSignal.timeout(FAREWELL_MS);
  for (const push of await workspace.pushes.list(account)) {
    if (push.state === 'on') await endPush(workspace, push);
    if (push.state !== 'off')
      await tellOff(workspace, push, signal).catch((err: unknown) =>
        workspace.log.warn({ event: 'push_not_switched_off', account, err }, 'Integration not switched off'),
      );
  }
}

/** True if “Hear within seconds” would change something for a watch. @param push of its project */
export function canBePushed(
  { config }: Pick<Workspace, 'config'>,
  { project, person }: Watch,
  push: Push | undefined,
): boolean {
  const isPossible = config.PUBLIC_URL !== undefined && project !== undefined && person === undefined;
  return (
    isPossible && (push?.state !== 'on' || push.isMissing === true || push.publicUrl !== config.PUBLIC_URL)
  );
}

export function isPushFor({ account, project }: Push, watch: Pick<Watch, 'account' | 'project'>): boolean {
  return watch.account === account && watch.project !== undefined && isSameProject(project, watch.project);
}

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
  const next = afterRead(push, newest, isPushed, clock.now());
  if (JSON.stringify(next) === JSON.stringify(push)) return push;
  const { account, isMissing } = next;
  if (isMissing === true && push.isMissing !== true) {
    metrics.push('missing');
    log.warn({ event: 'pushes_missing', account }, 'Deployment found without a call from the service');
  }
  await pushes.change(push, (current) => (current.token === push.token ? next : current));
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
