import { z } from 'zod';
import { code } from '../../core/mrkdwn.ts';
import type { Requester } from '../../records/account-keys.ts';
import { Target } from '../../records/test-runs.ts';
import { getServer, managedStatus, type Server } from '../../service/servers.ts';
import {
  orderedNews,
  type ProvisioningState,
  provisioningMessage,
  statusNews,
} from '../../views/servers/provisioning.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { Follower, type Following, pollsOf } from '../follow.ts';
import { FollowedState } from '../followed-thread.ts';
import { pollUntil } from '../poll-loop.ts';

export const ServerTarget = Target.required({ server: true }).extend({ cost: z.string().optional() });
export type ServerTarget = z.infer<typeof ServerTarget>;

/** A managed server that is followed: enough to go on from anywhere after a kill. */
export const FollowedServer = FollowedState.extend({
  target: ServerTarget,
  askedBy: z.string(),
  channel: z.string(),
  rootTs: z.string(),
  /** The request that had it followed again. */
  resumedRequest: z.string().optional(),
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

async function follow(following: Following<FollowedServer, ProvisioningState>): Promise<void> {
  const { workspace, thread, signal } = following;
  const { log } = workspace;
  const { target, askedBy, resumedBy: user = askedBy } = thread.state;
  let seen: Server | undefined;
  const polls = pollsOf(following, (trouble) =>
    thread.showRunning({ kind: 'running', server: seen, trouble }, true),
  );

  /** The server in its final state; undefined while that may change. */
  async function poll(recovered: boolean): Promise<Server | undefined> {
    const server = await readServer(workspace, { user }, target, signal);
    const isNews = seen === undefined || shownOf(seen) !== shownOf(server);
    seen = server;
    if (FINAL_STATUSES.has(managedStatus(server))) return server;
    const running = { kind: 'running', server } as const;
    await thread.showRunning(running, recovered || isNews);
    await thread.post(statusNews(server));
    return undefined;
  }

  await thread.post([orderedNews(target)]);
  const ended = await pollUntil(workspace, polls, poll);
  const status = ended === undefined ? 'lost' : managedStatus(ended);
  await thread.showEnd(
    ended === undefined ? { kind: 'lost', server: seen } : { kind: 'ended', server: ended },
  );
  if (ended !== undefined) await thread.post(statusNews(ended));
  log.info({ event: 'follow_ended', ...logFields(thread.state), status }, 'following a server ended');
}

async function readServer(
  { accounts }: Pick<Workspace, 'accounts'>,
  requester: Requester,
  { account: name, project, server }: ServerTarget,
  signal: AbortSignal,
): Promise<Server> {
  const account = await accounts.resolve(requester, name);
  const what = `server ${code(server.identifier)} in ${code(project.permalink)}`;
  return accounts.use(
    account,
    (client) => getServer(client, project.permalink, server.identifier, { signal, retries: 0 }),
    { what, list: 'projects' },
  );
}

function logFields({ target }: FollowedServer): Record<string, unknown> {
  return { account: target.account, server: target.server.identifier };
}

/** The part of a server that the root message shows, to find out whether it changed. */
function shownOf({ static_hosting: site, managed_vps: machine }: Server): string {
  return JSON.stringify([site, machine]);
}

/** Follows a managed server until its state is final. A server is followed once in one message. */
export const FOLLOW_PROVISIONING = new Follower<FollowedServer, ProvisioningState>({
  queue: 'follow-provisioning',
  schema: FollowedServer,
  idOf: ({ channel, rootTs, resumedRequest }) =>
    [channel, rootTs, ...(resumedRequest === undefined ? [] : [resumedRequest])].join(' '),
  draw: (followed, now, state) => provisioningMessage({ ...followed, now, state }),
  fields: logFields,
  follow,
});
