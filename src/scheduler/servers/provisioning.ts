import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import type { KeyUse } from '../../records/accounts.ts';
import { Draft } from '../../records/known-servers.ts';
import { Followed, Target } from '../../records/test-runs.ts';

import {
  getHostedResource,
  getServer,
  type HostedResource,
  managedStatus,
  type Server,
} from '../../service/servers.ts';
import { type Addressee, notifyUser } from '../../slack/slack.ts';
import type { Collection, WorkspaceStore } from '../../store/store.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { resourceMessage } from '../../views/servers/hosting-messages.ts';
import {
  orderedNews,
  type ProvisioningState,
  provisioningMessage,
  statusNews,
} from '../../views/servers/server.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { readCurrency } from '../../workspace/hosting-catalog.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import {
  createPolls,
  FOLLOWED_AT_ONCE,
  Follower,
  type Following,
  isExplained,
  pollUntil,
} from '../follow.ts';

export const ServerTarget = Target.required({ server: true }).extend(
  Draft.pick({ cost: true, names: true }).shape,
);
export interface ServerTarget extends z.infer<typeof ServerTarget> {}

/** A managed server that Deckhand follows, with all that it needs to continue after a kill. */
export const FollowedServer = Followed.extend({
  target: ServerTarget,
  requestedBy: z.string(),
  channel: z.string(),
  rootTs: z.string(),
  /** The request that resumed following. */
  resumedRequest: z.string().optional(),
});
export interface FollowedServer extends z.infer<typeof FollowedServer> {}

/** States that do not change any more (API 3.1, docs/service-api.md). An unknown one may change. */
const FINAL_STATUSES: ReadonlySet<string | undefined> = new Set([
  'active',
  'error',
  'suspended',
  'disabled',
  'destroying',
]);

async function followProvisioning(following: Following<FollowedServer, ProvisioningState>): Promise<void> {
  const { workspace, state, signal } = following;
  const { target, requestedBy, resumedBy: user = requestedBy } = state;
  let latest: Server | undefined;
  const polls = createPolls(following, (trouble) =>
    following.showRunning({ kind: 'running', server: latest, trouble }, true),
  );

  /** Returns the server in its final state; undefined before that. */
  async function poll(recovered: boolean): Promise<Server | undefined> {
    const server = await readServer(workspace, { user }, target, signal);
    const isNews = latest === undefined || serializeShown(latest) !== serializeShown(server);
    latest = server;
    if (FINAL_STATUSES.has(managedStatus(server))) return server;
    const running = { kind: 'running', server } as const;
    await following.showRunning(running, recovered || isNews);
    await following.reply(statusNews(server));
    return undefined;
  }

  await following.reply([orderedNews(target)]);
  const ended = await pollUntil(workspace, polls, poll);
  const end =
    ended === undefined
      ? ({ kind: 'lost', server: latest } as const)
      : ({ kind: 'ended', server: ended } as const);
  await following.showEnd(end, ended === undefined ? [] : statusNews(ended));
  const status = ended === undefined ? 'lost' : managedStatus(ended);
  workspace.log.info({ event: 'follow_ended', ...logFields(state), status }, 'Following of a server ended');
}

async function readServer(
  { accounts }: Pick<Workspace, 'accounts'>,
  keyUse: KeyUse,
  { account: name, project, server }: ServerTarget,
  signal: AbortSignal,
): Promise<Server> {
  const account = await accounts.resolve(keyUse, name);
  const what = `server ${code(server.identifier)} in ${code(project.permalink)}`;
  return accounts.use(
    account,
    (client) => getServer(client, projectId(project), server.identifier, { signal, retries: 0 }),
    { what, list: 'projects' },
  );
}

function logFields({ target }: FollowedServer): Record<string, unknown> {
  return { account: target.account, server: target.server.identifier };
}

/** The fields of a server that the root message shows. Compared to find changes. */
function serializeShown({ static_hosting: site, managed_vps: machine }: Server): string {
  return JSON.stringify([site, machine]);
}

/** Follows a managed server until its state is final. */
export const FOLLOW_PROVISIONING = new Follower<FollowedServer, ProvisioningState>({
  queue: 'follow-provisioning',
  documents: openFollowedServers,
  draw: ({ clock, pages }, followed, state) =>
    provisioningMessage({ ...followed, pages, now: clock.now(), state }),
  fields: logFields,
  follow: followProvisioning,
});

/** Keys hold the message that shows the server and the request that resumed following it. */
function openFollowedServers(store: WorkspaceStore): Collection<FollowedServer> {
  return store.collection('followed-servers', FollowedServer);
}

/** Longer than Deckhand follows a server, and than Slack repeats a request. */
export const KEPT_MS = 7 * DAY_MS;

/** Starts to follow a server in its message, once even if it is sent twice. */
export async function followServer(
  workspace: Pick<Workspace, 'store' | 'jobs' | 'clock' | 'accounts'>,
  server: Omit<FollowedServer, 'isAccountShown'>,
): Promise<void> {
  const { channel, rootTs, resumedRequest = '' } = server;
  const id = `${channel} ${rootTs} ${resumedRequest}`;
  const followed = { ...server, isAccountShown: await workspace.accounts.hasSeveral() };
  await openFollowedServers(workspace.store).create(id, followed, workspace.clock.now() + KEPT_MS);
  await FOLLOW_PROVISIONING.begin(workspace, id, id);
}

export const FollowedSync = z.object({
  account: z.string(),
  resource: z.string(),
  before: z.string(),
  user: z.string(),
  channel: z.string().optional(),
  threadTs: z.string().optional(),
  until: z.number(),
});
type FollowedSync = z.infer<typeof FollowedSync>;

/** The provider answers within seconds. */
const MAX_SYNC_MS = 2 * 60_000;

/** Polls after a sync until the resource changes, then shows it to the person who asked. */
export async function followSync(
  { jobs, clock }: Pick<Workspace, 'jobs' | 'clock'>,
  { user, channel, threadTs }: Addressee,
  account: string,
  resource: HostedResource,
): Promise<void> {
  const followed: FollowedSync = {
    account,
    resource: resource.identifier,
    before: serializeState(resource),
    user,
    until: clock.now() + MAX_SYNC_MS,
    channel,
    threadTs,
  };
  const key = JSON.stringify([account, resource.identifier, user]);
  await jobs.send(FOLLOW_SYNC, followed, { key });
}

async function syncFailed(
  { slack, word }: Pick<Workspace, 'slack' | 'word'>,
  followed: FollowedSync,
): Promise<void> {
  const show = code(`${word} hosting show ${followed.resource}`, 120);
  const text = `:warning: The outcome of the sync of ${code(followed.resource)} is not known. See it with ${show}.`;
  await notifyUser(slack, followed, say(text));
}

async function awaitSync(
  workspace: Workspace,
  followed: FollowedSync,
  signal: AbortSignal,
): Promise<Message> {
  const { account: name, resource: id, user } = followed;
  const { word } = workspace;
  try {
    const resource = await pollUntil(workspace, { signal, deadline: followed.until }, async () => {
      const account = await workspace.accounts.resolve({ user }, name);
      const current = await workspace.accounts.use(account, (client) =>
        getHostedResource(client, id, { signal, retries: 0 }),
      );
      return serializeState(current) === followed.before ? undefined : { current, account };
    });
    if (resource === undefined)
      return say(
        `:hourglass: The sync of ${code(id)} has changed nothing so far. Check again with ${code(`${word} hosting show ${id}`, 120)}.`,
      );
    const { current, account } = resource;
    const currency = await readCurrency(workspace, account);
    const maySync = await workspace.roles.holds(user, 'operator');
    const news = `:white_check_mark: The sync of ${bold(current.name || id)} is done.`;
    return resourceMessage({ account: name, resource: current, currency, maySync, news });
  } catch (error) {
    if (!isExplained(error) || signal.aborted) throw error;
    return failureMessage(workspace.report(error, { job: FOLLOW_SYNC.queue }));
  }
}

/** Serializes the fields that a sync may change (API 2.6, docs/service-api.md). */
function serializeState({ status, ip_address, updated_at }: HostedResource): string {
  return JSON.stringify([status, ip_address, updated_at]);
}

export const FOLLOW_SYNC = defineJob({
  queue: 'follow-sync',
  schema: FollowedSync,
  options: { concurrency: FOLLOWED_AT_ONCE, attempts: 3, backoffMs: 1000, isSleeper: true },
  async handle(workspace, { data, signal }) {
    await notifyUser(workspace.slack, data, await awaitSync(workspace, data, signal));
  },
  onDeadLetter: syncFailed,
});
