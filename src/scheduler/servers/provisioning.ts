import { z } from 'zod';
import type { Job } from '../../core/job.ts';
import { code } from '../../core/mrkdwn.ts';
import { getServer, managedStatus, type Server } from '../../service/servers.ts';
import {
  orderedNews,
  type ProvisioningState,
  provisioningMessage,
  type ServerTarget as ShownTarget,
  statusNews,
} from '../../views/servers/provisioning.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { failureReason } from '../explain.ts';
import { createPolling } from '../polling.ts';
import { FOLLOWED_AT_ONCE, type Follower, followToTheEnd, openFollowedThread } from '../run-follower.ts';

export const ServerTarget = z.object({
  account: z.string(),
  project: z.object({ permalink: z.string(), name: z.string() }),
  server: z.object({ identifier: z.string(), name: z.string() }),
  cost: z.string().optional(),
}) satisfies z.ZodType<ShownTarget>;
export type ServerTarget = z.infer<typeof ServerTarget>;

/** A managed server that is followed, as its job keeps it: enough to go on from anywhere after a kill. */
export const FollowedServer = z.object({
  target: ServerTarget,
  askedBy: z.string(),
  channel: z.string(),
  rootTs: z.string(),
  startedAt: z.number(),
  threads: z.boolean(),
  told: z.array(z.string()),
  telling: z.string().optional(),
});
export type FollowedServer = z.infer<typeof FollowedServer>;

/** States that a server stays in (API 3.1, docs/service-api.md); an unknown one may pass. */
const FINAL_STATUSES: ReadonlySet<string | undefined> = new Set([
  'active',
  'error',
  'suspended',
  'disabled',
  'destroying',
]);

/** How often the root message shows how long it has been; `chat.update` takes 50 a minute. */
const REFRESH_MS = 20_000;

/** Hands a server to its follower; a server is followed once in one message. */
export async function sendToFollow(
  { jobs }: Pick<Workspace, 'jobs'>,
  followed: FollowedServer,
): Promise<void> {
  const { channel, rootTs } = followed;
  await jobs.send(FOLLOW_PROVISIONING, followed, { key: `${channel} ${rootTs}` });
}

/** Follows a managed server until its state is final. */
export async function followProvisioning(workspace: Workspace, job: Job<FollowedServer>): Promise<void> {
  await followToTheEnd(workspace, job.signal, createFollower(workspace, job));
}

/** After the last failed attempt: the root message must not say "provisioning" from then on. */
async function provisioningFailed(
  workspace: Workspace,
  followed: FollowedServer,
  error: unknown,
): Promise<void> {
  const state = { kind: 'stopped', reason: reasonOf(workspace, followed, error) } as const;
  const message = provisioningMessage({ ...followed, now: workspace.clock.now(), state });
  await workspace.slack.update({ channel: followed.channel, ts: followed.rootTs }, message);
}

function createFollower(workspace: Workspace, job: Job<FollowedServer>): Follower {
  const { clock, config, log } = workspace;
  const { target } = job.data;
  let seen: Server | undefined;
  const thread = openFollowedThread(workspace, job, (followed, state: ProvisioningState) =>
    provisioningMessage({ ...followed, now: clock.now(), state }),
  );
  const polling = createPolling(workspace, {
    signal: job.signal,
    // Each process counts anew: the clock of the one before may have been another.
    deadline: clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000,
    onTrouble: (trouble) => thread.show({ kind: 'running', server: seen, trouble }),
  });

  /** The server in its final state; undefined while that may change. */
  async function poll(recovered: boolean): Promise<Server | undefined> {
    const server = await readServer(workspace, target, job.signal);
    const isNews = seen === undefined || shownOf(seen) !== shownOf(server);
    seen = server;
    if (FINAL_STATUSES.has(managedStatus(server))) return server;
    const isRefreshDue = clock.now() - thread.shownAt >= REFRESH_MS;
    if (recovered || isNews || isRefreshDue) await thread.show({ kind: 'running', server });
    await thread.post(statusNews(server));
    return undefined;
  }

  return {
    async follow() {
      await thread.post([orderedNews(target)]);
      const ended = await polling.until(poll);
      const status = ended === undefined ? 'lost' : managedStatus(ended);
      await thread.show(
        ended === undefined ? { kind: 'lost', server: seen } : { kind: 'ended', server: ended },
      );
      if (ended !== undefined) await thread.post(statusNews(ended));
      log.info({ event: 'follow_ended', ...logFields(job.data), status }, 'following a server ended');
    },
    async stopBecause(error) {
      await thread.show({ kind: 'stopped', reason: reasonOf(workspace, job.data, error) });
    },
    async abandon(reason) {
      const event = 'follow_abandoned';
      log.warn({ event, ...logFields(job.data), reason }, 'the message of a new server is gone');
    },
  };
}

async function readServer(
  { accounts }: Pick<Workspace, 'accounts'>,
  { account: name, project, server }: ServerTarget,
  signal: AbortSignal,
): Promise<Server> {
  const account = await accounts.resolve(name, undefined);
  const what = `server ${code(server.identifier)} in ${code(project.permalink)}`;
  return accounts.use(
    account,
    (client) => getServer(client, project.permalink, server.identifier, { signal, retries: 0 }),
    { what, list: 'projects' },
  );
}

/** Why it was stopped, for the root message and the log. */
function reasonOf(workspace: Workspace, followed: FollowedServer, error: unknown): string {
  return failureReason(workspace, error, { job: FOLLOW_PROVISIONING.queue, ...logFields(followed) });
}

function logFields({ target }: FollowedServer): Record<string, unknown> {
  return { account: target.account, server: target.server.identifier };
}

/** The part of a server that the root message shows, to find out whether it changed. */
function shownOf({ static_hosting: site, managed_vps: machine }: Server): string {
  return JSON.stringify([site, machine]);
}

export const FOLLOW_PROVISIONING = defineJob({
  queue: 'follow-provisioning',
  schema: FollowedServer,
  options: { concurrency: FOLLOWED_AT_ONCE, attempts: 5, backoffMs: 1000, resumable: true },
  run: followProvisioning,
  onDeadLetter: provisioningFailed,
});
