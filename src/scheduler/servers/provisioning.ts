import { z } from 'zod';
import type { Job } from '../../core/job.ts';
import { code } from '../../core/mrkdwn.ts';
import { getServer, managedStatus, type Server } from '../../service/servers.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import {
  orderedNews,
  type ProvisioningState,
  provisioningMessage,
  type ServerTarget as ShownTarget,
  statusNews,
} from '../../views/servers/provisioning.ts';
import type { News } from '../../views/test-access/test-run.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { explainAndLog } from '../explain.ts';
import { createPolling } from '../polling.ts';
import { postOnce, rootOf } from '../post-once.ts';
import { FOLLOWED_AT_ONCE, type Follower, followToTheEnd } from '../run-follower.ts';

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

/** States that a server stays in (spec 3.1); an unknown one may pass, so it is followed on. */
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
export async function sendToFollow(workspace: Workspace, followed: FollowedServer): Promise<void> {
  const { channel, rootTs } = followed;
  await workspace.jobs.send(FOLLOW_PROVISIONING, followed, { key: `${channel} ${rootTs}` });
}

/** Follows a managed server until it stays as it is. Spec 4.4. */
export async function followProvisioning(workspace: Workspace, job: Job<FollowedServer>): Promise<void> {
  const follower = createFollower(workspace, job, job.data);
  await followToTheEnd(workspace, job.signal, follower);
}

/** After the last failed attempt at a job: the root message must not say "provisioning" for ever. */
export async function provisioningFailed(
  workspace: Workspace,
  data: FollowedServer,
  error: unknown,
): Promise<void> {
  const followed = data;
  const state = { kind: 'stopped', reason: reasonOf(workspace, followed, error) } as const;
  const message = provisioningMessage({ ...followed, now: workspace.clock.now(), state });
  await workspace.slack.update(rootOf(followed), message);
}

function createFollower(workspace: Workspace, job: Job<FollowedServer>, initial: FollowedServer): Follower {
  let followed = initial;
  let seen: Server | undefined;
  let shownAt = 0;
  const { target } = followed;
  const { clock, config, log } = workspace;
  const polling = createPolling(workspace, {
    signal: job.signal,
    // Counted by each process anew: the clock of the one before may have been another.
    deadline: clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000,
    onTrouble: (trouble) => show({ kind: 'running', server: seen, trouble }),
  });

  async function save(next: FollowedServer): Promise<void> {
    followed = next;
    await job.save(next);
  }

  async function show(state: ProvisioningState): Promise<void> {
    shownAt = clock.now();
    const message = provisioningMessage({ ...followed, now: clock.now(), state });
    await workspace.slack.update(rootOf(followed), message, job.signal);
  }

  async function tell(news: readonly News[]): Promise<void> {
    if (!followed.threads) return;
    for (const item of news) await postOnce(workspace, followed, item, save, job.signal);
  }

  async function look(recovered: boolean): Promise<Server | undefined> {
    const account = await workspace.accounts.resolve(target.account, undefined);
    const options = { signal: job.signal, retries: 0 };
    const { permalink } = target.project;
    const server = await workspace.accounts.use(
      account,
      (client) => getServer(client, permalink, target.server.identifier, options),
      { what: `server ${code(target.server.identifier)} in ${code(permalink)}`, list: 'projects' },
    );
    const isNews = seen === undefined || shownOf(seen) !== shownOf(server);
    seen = server;
    if (FINAL_STATUSES.has(managedStatus(server))) return server;
    if (recovered || isNews || clock.now() - shownAt >= REFRESH_MS) await show({ kind: 'running', server });
    await tell(statusNews(server));
    return undefined;
  }

  return {
    async follow() {
      await tell([orderedNews(target)]);
      const ended = await polling.until(look);
      const status = ended === undefined ? 'lost' : managedStatus(ended);
      await show(ended === undefined ? { kind: 'lost', server: seen } : { kind: 'ended', server: ended });
      if (ended !== undefined) await tell(statusNews(ended));
      log.info({ event: 'follow_ended', ...logFields(followed), status }, 'following a server ended');
    },
    async stopBecause(error) {
      await show({ kind: 'stopped', reason: reasonOf(workspace, followed, error) });
    },
    async abandon(reason) {
      log.warn(
        { event: 'follow_abandoned', ...logFields(followed), reason },
        'the message of a new server is gone',
      );
    },
  };
}

/** Why it was stopped, for the root message and the log. */
function reasonOf({ config, clock, log }: Workspace, followed: FollowedServer, error: unknown): string {
  const at = { word: config.SLACK_COMMAND, now: clock.now() };
  return failureWords(explainAndLog(error, at, log, { job: FOLLOW_PROVISIONING, ...logFields(followed) }));
}

function logFields({ target }: FollowedServer): Record<string, unknown> {
  return { account: target.account, server: target.server.identifier };
}

/** What the root message shows of a server, to tell whether it changed. */
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
