import { z } from 'zod';
import { AccountFailure, UserError } from '../../core/errors.ts';
import { isSameProject, type ProjectRef, projectId } from '../../core/project-ref.ts';
import { type Account, createNoSharedKey, SCHEDULES } from '../../records/accounts.ts';
import type { Push, PushPlace } from '../../records/pushes.ts';
import { SCHEDULES_LOCK, type Watch } from '../../records/schedules.ts';
import { BASIC_FLAGS, createIntegration, updateIntegration } from '../../service/integrations.ts';
import { type StillOn, stillOnMessage } from '../../views/watches/watch-messages.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { makePublicAddress } from '../../workspace/installations.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { notifyOwner } from '../schedules/pause-schedule.ts';
import { type Ending, endAtService, isCallRefused } from './end-integration.ts';

/** Path of the addresses that the service calls. A token follows it. */
export const HOOK_PATH = '/hooks';

const ON = Object.fromEntries(BASIC_FLAGS.map((flag) => [flag, true]));

function makeLockName(account: string): string {
  return `pushes ${account}`;
}

/** The person who asks for a push, and the channel of their watch. */
export type PushRequest = Pick<Push, 'requestedBy' | 'channel'>;

/**
 * Makes the service call Deckhand about a project's deployments: switches its old integration on again, or
 * creates one. API 4.8 (docs/service-api.md).
 * @returns false if the last watch of the project was removed in the meantime: the integration is then
 * switched off
 * @throws AccountFailure
 * @throws UserError if the project has no watch, or its account no shared key
 */
export function switchPushOn(
  workspace: Workspace,
  account: Account,
  project: ProjectRef,
  request: PushRequest,
): Promise<boolean> {
  const { pushes, store } = workspace;
  const place = { account: account.name, project };
  return store.exclusive(makeLockName(account.name), async () => {
    await endUnknown(workspace, place);
    const { push, before, token } = await storeIntent(workspace, place, request);
    let integration: string | undefined;
    try {
      const url = makePublicAddress(push.publicUrl, `${HOOK_PATH}/${token}`);
      integration = await callUs(workspace, account, push, url);
    } catch (error) {
      await forgetIntent(workspace, push, { before, isDone: isDoubtful(error) });
      throw error;
    }
    const current = await pushes.change(push, ({ isUnanswered, earlierToken, removalRequest, ...rest }) => ({
      ...rest,
      integration,
      ...(rest.state === 'on' ? {} : { removalRequest }),
    }));
    if (push.earlierToken !== undefined) await pushes.tokens.revoke(push.earlierToken);
    return current?.state === 'on';
  });
}

/** Deckhand cannot use an integration again whose identifier it does not know. */
async function endUnknown(workspace: Workspace, place: PushPlace): Promise<void> {
  const push = await workspace.pushes.get(place);
  if (push?.state === 'on' && push.integration === undefined) await endPush(workspace, push);
  await settlePush(workspace, place);
}

/** Stores what the service is asked for, so that Deckhand can end it after a kill. */
function storeIntent(
  workspace: Workspace,
  place: PushPlace,
  request: PushRequest,
): Promise<{ push: Push; before: Push | undefined; token: string }> {
  const { accounts, clock, config, jobs, pushes, schedules, store } = workspace;
  return store.exclusive(SCHEDULES_LOCK, async () => {
    if (!(await schedules.list('watch')).some((watch) => isPushFor(place, watch)))
      throw new UserError('Nothing watches this project any more.', 'watch list');
    // The shared key switches it off again.
    if ((await accounts.get(place.account, SCHEDULES)) === undefined) throw createNoSharedKey(place.account);
    const before = await pushes.get(place);
    const { token, digest } = await pushes.tokens.issue(place.account, projectId(place.project));
    const push: Push = {
      ...place,
      ...request,
      state: 'on',
      integration: before?.integration,
      token: digest,
      publicUrl: config.PUBLIC_URL ?? '',
      requestedAt: clock.now(),
      isUnanswered: true,
      earlierToken: before?.token,
      removalRequest: before?.removalRequest,
    };
    await jobs.send(SETTLE_PUSHES, {});
    await pushes.put(push);
    return { push, before, token };
  });
}

/** True if the service may have carried out a call that failed. */
export function isDoubtful(error: unknown): boolean {
  return error instanceof AccountFailure && !error.cause.certainlyNotDone;
}

/** @param isDone true if the service may have carried out the call */
async function forgetIntent(
  { pushes }: Workspace,
  intent: Push,
  { before, isDone }: { before: Push | undefined; isDone: boolean },
): Promise<void> {
  const forgotten = await pushes.change(intent, ({ isUnanswered, earlierToken, token, ...rest }) => {
    if (!isDone && rest.state === 'on' && before !== undefined) return before;
    const mayCall = rest.integration !== undefined && (isDone || before?.state === 'on');
    return { ...rest, state: mayCall ? 'ending' : 'off' };
  });
  for (const digest of [intent.token, intent.earlierToken])
    if (digest !== undefined && digest !== forgotten?.token) await pushes.tokens.revoke(digest);
}

/** Returns the identifier of the integration that calls the address. */
async function callUs(
  { accounts, pushes }: Workspace,
  account: Account,
  push: Push,
  url: string,
): Promise<string | undefined> {
  const changes = { ...ON, properties: { url } };
  const { integration } = push;
  const id = projectId(push.project);
  if (integration !== undefined)
    try {
      await accounts.use(account, (client) => updateIntegration(client, id, integration, changes));
      return integration;
    } catch (error) {
      // Somebody deleted it at the service.
      if (!(error instanceof AccountFailure) || error.cause.kind !== 'record_not_found') throw error;
      await pushes.change(push, (current) => ({ ...current, integration: undefined }));
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
  async handle(workspace, { data: { restored }, signal }) {
    await workspace.store.exclusive(SCHEDULES_LOCK, () => endUnwatched(workspace));
    const pushes = await workspace.pushes.list();
    // A failure of one account holds up no other.
    const settled = await Promise.allSettled(pushes.map((push) => settleInTurn(workspace, push, { signal })));
    for (const push of pushes)
      if (push.state !== 'on' && restored !== undefined && push.removalRequest === restored)
        await switchOnAgain(workspace, push);
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
  },
  async onDeadLetter(workspace) {
    for (const push of await workspace.pushes.list()) await settleInTurn(workspace, push, { isLast: true });
  },
});

interface Attempt {
  signal?: AbortSignal;
  /** True if Deckhand will not try again. */
  isLast?: boolean;
}

async function settleInTurn(workspace: Workspace, push: Push, attempt: Attempt): Promise<void> {
  if (push.state !== 'ending' && push.isUnanswered !== true) return;
  await workspace.store.exclusive(makeLockName(push.account), () => settlePush(workspace, push, attempt));
}

/** Ends a push whose answer was lost, and switches off one that has ended. Call it within the account's lock. */
async function settlePush(workspace: Workspace, place: PushPlace, attempt: Attempt = {}): Promise<void> {
  const push = await workspace.pushes.get(place);
  // The process that waited for the answer held the lock, so it was killed.
  if (push?.state === 'on' && push.isUnanswered === true) await endPush(workspace, push);
  await tellOff(workspace, place, attempt);
}

/** Ends the pushes of projects without a watch in the workspace. @param request the removal of the watches */
export async function endUnwatched(workspace: Workspace, request?: string): Promise<void> {
  const watches = await workspace.schedules.list('watch');
  for (const push of await workspace.pushes.list())
    if (push.state === 'on' && !watches.some((watch) => isPushFor(push, watch)))
      await endPush(workspace, push, request);
}

/** From now on Deckhand does not accept its address. */
async function endPush(
  { pushes }: Workspace,
  push: Push,
  removalRequest = push.removalRequest,
): Promise<void> {
  for (const digest of [push.token, push.earlierToken])
    if (digest !== undefined) await pushes.tokens.revoke(digest);
  await pushes.change(push, ({ token, earlierToken, ...current }) => ({
    ...current,
    state: 'ending',
    removalRequest,
  }));
}

/** Removes the integration of an ended push at the service, or switches it off there, or asks a person to remove it. */
async function tellOff(
  workspace: Workspace,
  place: PushPlace,
  { signal, isLast = false }: Attempt,
): Promise<void> {
  const push = await workspace.pushes.get(place);
  if (push?.state !== 'ending') return;
  let end: Ending;
  try {
    end = await endAtService(workspace, push, signal);
  } catch (error) {
    if (!isLast || !(error instanceof AccountFailure)) throw error;
    end = 'refused';
  }
  if (end !== 'off' && end !== 'removed') await askToRemove(workspace, push, end);
  await workspace.pushes.change(push, ({ isUnanswered, ...current }) =>
    end === 'removed' ? toRemoved(current) : { ...current, state: 'off' },
  );
}

function toRemoved({ integration: _, ...push }: Push): Push {
  return { ...push, state: 'off', isRemoved: true };
}

/** Ends the push of an integration that a person has removed at the service. Its watches are polled from then on. */
export function forgetPush(workspace: Workspace, place: PushPlace, integration: string): Promise<void> {
  const { pushes, store } = workspace;
  return store.exclusive(makeLockName(place.account), async () => {
    const push = await pushes.get(place);
    if (push?.integration !== integration) return;
    await endPush(workspace, push);
    await pushes.change(push, toRemoved);
  });
}

/** Tells the person who asked for it, else an admin. The watch's channel is told if that person has left. */
async function askToRemove(workspace: Workspace, push: Push, why: StillOn): Promise<void> {
  const { account, project, requestedAt = 0, requestedBy, channel } = push;
  const user = requestedBy ?? (await workspace.roles.admins(undefined))[0];
  const id = `push ${account} ${projectId(project)} ${requestedAt}`;
  await notifyOwner(workspace, { id, user, channel, message: stillOnMessage(push, why) });
}

/** If the service refuses, Deckhand polls for the watch as before. */
async function switchOnAgain(workspace: Workspace, place: PushPlace): Promise<void> {
  const { accounts, config, log, pushes } = workspace;
  const account = await accounts.get(place.account, SCHEDULES);
  const push = await pushes.get(place);
  if (account === undefined || config.PUBLIC_URL === undefined || push === undefined) return;
  const { integration, isRemoved, requestedBy, channel } = push;
  // One without an identifier may still be at the service.
  if (integration === undefined && isRemoved !== true) return;
  try {
    await switchPushOn(workspace, account, push.project, { requestedBy, channel });
  } catch (error) {
    // The watch or the account is gone.
    if (error instanceof UserError) return;
    const current = await pushes.get(place);
    if (isDoubtful(error) && current?.integration === undefined)
      return askToRemove(workspace, current ?? push, 'noAnswer');
    if (!isCallRefused(error)) throw error;
    log.warn(
      { event: 'push_not_switched_on', account: place.account, kind: error.cause.kind },
      'The service refused to switch an integration on',
    );
  }
}

/** Maximum time for the last calls to an account that a person disconnects. */
const FAREWELL_MS = 5_000;

/**
 * Ends the pushes of an account, and then deletes its shared key by `disconnect`. No push begins in between,
 * because Deckhand could not switch it off any more.
 */
export function endPushesOfAccount<T>(
  workspace: Workspace,
  account: string,
  disconnect: () => Promise<T>,
): Promise<T> {
  const { log, pushes, store } = workspace;
  return store.exclusive(makeLockName(account), async () => {
    // The job tells a person about those that stay on.
    await planSettling(workspace);
    const signal = AbortSignal.timeout(FAREWELL_MS);
    for (const push of await pushes.list(account)) {
      if (push.state === 'on') await endPush(workspace, push);
      await tellOff(workspace, push, { signal }).catch((err: unknown) =>
        log.warn({ event: 'push_not_switched_off', account, err }, 'Integration not switched off'),
      );
    }
    return disconnect();
  });
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

export function isPushFor(
  { account, project }: PushPlace,
  watch: Pick<Watch, 'account' | 'project'>,
): boolean {
  return watch.account === account && watch.project !== undefined && isSameProject(project, watch.project);
}
