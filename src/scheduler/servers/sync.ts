import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { getHostedResource, type HostedResource } from '../../service/hosted-resources.ts';
import { type Addressee, notifyUser } from '../../slack/slack.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { say } from '../../views/blocks/message.ts';
import { resourceMessage } from '../../views/servers/hosting.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { currencyOf } from '../../workspace/hosting-catalog.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { FOLLOWED_AT_ONCE, isExplained, pollUntil } from '../follow.ts';

/** A requested sync, as its job keeps it. */
const FollowedSync = z.object({
  account: z.string(),
  resource: z.string(),
  /** The resource's state before the sync. */
  before: z.string(),
  user: z.string(),
  channel: z.string().optional(),
  threadTs: z.string().optional(),
  until: z.number(),
});
type FollowedSync = z.infer<typeof FollowedSync>;

/** The provider's answer comes in seconds. */
const MAX_WAIT_MS = 2 * 60_000;

/** Polls after a sync until the resource changes, and shows it then to the person who asked. */
export async function followSync(
  { jobs, clock }: Pick<Workspace, 'jobs' | 'clock'>,
  { user, channel, threadTs }: Addressee,
  account: string,
  resource: HostedResource,
): Promise<void> {
  const followed: FollowedSync = {
    account,
    resource: resource.identifier,
    before: stateOf(resource),
    user,
    until: clock.now() + MAX_WAIT_MS,
    channel,
    threadTs,
  };
  const key = JSON.stringify([account, resource.identifier, user]);
  await jobs.send(FOLLOW_SYNC, followed, { key });
}

/** After the last failed attempt. */
async function syncFailed(
  { slack, word }: Pick<Workspace, 'slack' | 'word'>,
  followed: FollowedSync,
): Promise<void> {
  const show = code(`${word} hosting show ${followed.resource}`, 120);
  const text = `:warning: The outcome of the sync of ${code(followed.resource)} is not known. See it with ${show}.`;
  await notifyUser(slack, followed, say(text));
}

async function outcomeOf(
  workspace: Workspace,
  followed: FollowedSync,
  signal: AbortSignal,
): Promise<Message> {
  const { account: name, resource: id, user } = followed;
  const { word } = workspace;
  try {
    const resource = await pollUntil(workspace, { signal, deadline: followed.until }, async () => {
      const account = await workspace.accounts.resolve({ user }, name);
      const seen = await workspace.accounts.use(account, (client) =>
        getHostedResource(client, id, { signal, retries: 0 }),
      );
      return stateOf(seen) === followed.before ? undefined : { seen, account };
    });
    if (resource === undefined)
      return say(
        `:hourglass: The sync of ${code(id)} has changed nothing so far. Check again with ${code(`${word} hosting show ${id}`, 120)}.`,
      );
    const { seen, account } = resource;
    const currency = await currencyOf(workspace, account);
    const maySync = await workspace.roles.holds(user, 'operator');
    const news = `:white_check_mark: The sync of ${bold(seen.name || id)} is done.`;
    return resourceMessage({ account: name, resource: seen, currency, maySync, news });
  } catch (error) {
    if (!isExplained(error) || signal.aborted) throw error;
    return failureMessage(workspace.report(error, { job: FOLLOW_SYNC.queue }));
  }
}

/** What a sync may change (API 2.6, docs/service-api.md). */
function stateOf({ status, ip_address, updated_at }: HostedResource): string {
  return JSON.stringify([status, ip_address, updated_at]);
}

export const FOLLOW_SYNC = defineJob({
  queue: 'follow-sync',
  schema: FollowedSync,
  options: { concurrency: FOLLOWED_AT_ONCE, attempts: 3, backoffMs: 1000, isSleeper: true },
  async run(workspace, { data, signal }) {
    await notifyUser(workspace.slack, data, await outcomeOf(workspace, data, signal));
  },
  onDeadLetter: syncFailed,
});
