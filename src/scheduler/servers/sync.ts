import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import type { Job, JobData } from '../../jobs/jobs.ts';
import { getHostedResource, type HostedResource } from '../../service/hosted-resources.ts';
import { type Addressee, notifyUser } from '../../slack/notify-user.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { type Message, say } from '../../views/blocks/message.ts';
import { bold, code } from '../../views/blocks/text.ts';
import { resourceMessage } from '../../views/servers/hosting.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import { currencyOf } from '../../workspace/managed-hosting.ts';
import { explainAndLog } from '../explain.ts';
import { createPolling } from '../polling.ts';

export const FOLLOW_SYNC = 'follow-sync';

/** A requested sync, as its job keeps it. */
const FollowedSync = z.object({
  workspace: z.string(),
  account: z.string(),
  resource: z.string(),
  /** What the resource said of itself before. */
  before: z.string(),
  user: z.string(),
  channel: z.string().optional(),
  threadTs: z.string().optional(),
  until: z.number(),
});

/** The provider's answer comes in seconds; who waits for longer can look. */
const PATIENCE_MS = 2 * 60_000;

/** Looks after a sync until the resource changes, and shows it then to whoever asked. */
export async function followSync(
  deckhand: Deckhand,
  { workspace, user, channel, threadTs }: Addressee & { workspace: string },
  account: string,
  resource: HostedResource,
): Promise<void> {
  const followed: z.infer<typeof FollowedSync> = {
    workspace,
    account,
    resource: resource.identifier,
    before: stateOf(resource),
    user,
    until: deckhand.clock.now() + PATIENCE_MS,
    ...(channel === undefined ? {} : { channel }),
    ...(threadTs === undefined ? {} : { threadTs }),
  };
  const key = JSON.stringify([workspace, account, resource.identifier, user]);
  await deckhand.engine.send(FOLLOW_SYNC, followed, { key });
}

export async function awaitSync(deckhand: Deckhand, job: Job<JobData>): Promise<void> {
  const followed = FollowedSync.parse(job.data);
  await notifyUser(
    deckhand.slack,
    followed.workspace,
    followed,
    await outcomeOf(deckhand, followed, job.signal),
  );
}

/** After the last failed attempt. */
export async function syncFailed(deckhand: Deckhand, data: JobData): Promise<void> {
  const followed = FollowedSync.parse(data);
  const look = code(`${deckhand.config.SLACK_COMMAND} hosting show ${followed.resource}`);
  const said = `:warning: I could not see what came of the sync of ${code(followed.resource)}. Look with ${look}.`;
  await notifyUser(deckhand.slack, followed.workspace, followed, say(said));
}

async function outcomeOf(
  deckhand: Deckhand,
  followed: z.infer<typeof FollowedSync>,
  signal: AbortSignal,
): Promise<Message> {
  const { workspace, account: name, resource: id, user } = followed;
  const word = deckhand.config.SLACK_COMMAND;
  const polling = createPolling(deckhand, { signal, deadline: followed.until });
  try {
    const resource = await polling.until(async () => {
      const account = await deckhand.accounts.resolve(workspace, name, undefined);
      const seen = await deckhand.accounts.use(workspace, account, (client) =>
        getHostedResource(client, id, { signal, retries: 0 }),
      );
      return stateOf(seen) === followed.before ? undefined : { seen, account };
    });
    if (resource === undefined)
      return say(
        `:hourglass: The sync of ${code(id)} has changed nothing so far. Look again with ${code(`${word} hosting show ${id}`, 120)}.`,
      );
    const { seen, account } = resource;
    const currency = await currencyOf(deckhand, workspace, account);
    const maySync = await deckhand.roles.holds(workspace, user, 'operator');
    const news = `:white_check_mark: The sync of ${bold(seen.name || id)} is done.`;
    return resourceMessage({ account: name, resource: seen, currency, maySync, news });
  } catch (error) {
    const isAnswerable = error instanceof AccountFailure || error instanceof UserError;
    if (!isAnswerable || signal.aborted) throw error;
    const at = { word, now: deckhand.clock.now() };
    return failureMessage(explainAndLog(error, at, deckhand.log, { workspace, job: FOLLOW_SYNC }));
  }
}

/** What a sync may change (spec 2.6). */
function stateOf({ status, ip_address, updated_at }: HostedResource): string {
  return JSON.stringify([status, ip_address, updated_at]);
}
