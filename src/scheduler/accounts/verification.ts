import { z } from 'zod';
import { AccountFailure, MAY_PASS, type ServiceErrorKind } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { nextPollMs } from '../../core/retry.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import type { Job } from '../../jobs/jobs.ts';
import type { Account } from '../../records/accounts.ts';
import { listProjects } from '../../service/projects.ts';
import {
  type DeployKey,
  neverVerifiedMessage,
  verifiedButRefusedMessage,
  verifiedMessage,
} from '../../views/accounts/signup-messages.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { notifyOwner } from '../schedules/pause-schedule.ts';

const FIRST_POLL_MS = 30_000;
const MAX_PAUSE_MS = 15 * 60_000;
const WATCHED_MS = 7 * DAY_MS;

/** A sign-up whose e-mail is not verified yet. Each poll is a job of its own. */
export const Watched = z.object({
  account: z.string(),
  /**
   * The person who signed up, and the time (milliseconds since the epoch). Later connections of the account
   * are not watched.
   */
  user: z.string(),
  since: z.number(),
  looks: z.number(),
  deployKey: z.object({ publicKey: z.string(), fingerprint: z.string() }).optional(),
});
type Watched = z.infer<typeof Watched>;

/** Failures that may end by themselves: an unverified e-mail, and passing ones. */
const PASSING: ReadonlySet<ServiceErrorKind> = new Set([
  ...MAY_PASS,
  'unauthorized',
  'email_verification_required',
  'account_not_found',
]);

/** Waits until the account's key works, and notifies the person who signed up. */
export async function watchFor(
  workspace: Pick<Workspace, 'clock' | 'jobs'>,
  account: Account,
  deployKey: DeployKey | undefined,
): Promise<void> {
  const { name, createdBy: user, createdAt: since } = account;
  await planPoll(workspace, { account: name, user, since, looks: 0, deployKey }, undefined);
}

/** One poll. Safe to repeat after a kill: the next poll has a key of its own. */
async function watchVerification(
  workspace: Workspace,
  { data: watched, signal }: Job<Watched>,
): Promise<void> {
  const { accounts, clock, word } = workspace;
  const account = await accounts.get(watched.account);
  if (account === undefined || account.createdAt !== watched.since || account.state === 'broken') return;
  const { name, state } = account;
  try {
    // A command may have changed the state in the meantime.
    if (state !== 'ok') await accounts.use(account, (client) => listProjects(client, { signal, retries: 0 }));
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    const { kind, retryAt } = error.cause;
    if (!PASSING.has(kind)) {
      const reason = failureWords(workspace.explain(error));
      return notifyCreator(workspace, watched, verifiedButRefusedMessage(name, reason));
    }
    if (clock.now() - watched.since >= WATCHED_MS)
      return notifyCreator(workspace, watched, neverVerifiedMessage(name));
    return planPoll(workspace, { ...watched, looks: watched.looks + 1 }, retryAt);
  }
  const isNamed = (await accounts.defaultName({ user: watched.user })) !== name;
  await notifyCreator(
    workspace,
    watched,
    verifiedMessage({ account: name, deployKey: watched.deployKey, isNamed, word }),
  );
}

/** Pauses of 30 s, doubled each time up to 15 min, or longer if the service asks for it. */
async function planPoll(
  { clock, jobs }: Pick<Workspace, 'clock' | 'jobs'>,
  watched: Watched,
  retryAt: number | undefined,
): Promise<void> {
  const now = clock.now();
  const pause = nextPollMs({
    intervalMs: FIRST_POLL_MS,
    failures: watched.looks,
    maxMs: MAX_PAUSE_MS,
    retryAt,
    now,
    random: Math.random(),
  });
  const key = `${watched.account} ${watched.since} ${watched.looks}`;
  await jobs.send(WATCH_VERIFICATION, watched, { key, at: now + pause });
}

async function notifyCreator(
  workspace: Workspace,
  { user, account, since }: Watched,
  message: Message,
): Promise<void> {
  await notifyOwner(workspace, { id: `verification ${account} ${since}`, user, message });
}

export const WATCH_VERIFICATION = defineJob({
  queue: 'watch-verification',
  schema: Watched,
  options: { concurrency: 10, attempts: 5, backoffMs: 60_000 },
  handle: watchVerification,
});
