import { z } from 'zod';
import type { ServiceErrorKind } from '../../core/errors.ts';
import type { Job } from '../../core/job.ts';
import type { Message } from '../../core/message.ts';
import { listProjects } from '../../service/projects.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import {
  type DeployKey,
  neverVerifiedMessage,
  verifiedButRefusedMessage,
  verifiedMessage,
} from '../../views/accounts/signup-reply.ts';
import { explain } from '../../views/blocks/failures.ts';
import { type Account, AccountFailure } from '../../workspace/accounts.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { nextPollMs } from '../poll-interval.ts';

const FIRST_LOOK_MS = 30_000;
const LONGEST_PAUSE_MS = 15 * 60_000;
const WATCHED_MS = 7 * 24 * 60 * 60_000;

/** A sign-up whose e-mail is not verified yet. Each look is a job of its own. */
const Watched = z.object({
  account: z.string(),
  /** Who signed up, and when (ms since the epoch): a later connection of the account is somebody else's affair. */
  user: z.string(),
  since: z.number(),
  looks: z.number(),
  deployKey: z.object({ publicKey: z.string(), fingerprint: z.string() }).optional(),
  /** The person is being told: if the process dies now, once is enough. */
  told: z.boolean().optional(),
});
type Watched = z.infer<typeof Watched>;

/** Answers that may turn into a yes by themselves: the e-mail's, and what passes. */
const WAITS: ReadonlySet<ServiceErrorKind> = new Set([
  'unauthorized',
  'email_verification_required',
  'account_not_found',
  'busy',
  'unexpected',
  'unreachable',
]);

/** Watches for the account's key to begin to work, and tells its owner. Spec 3.2, 5.1.6. */
export async function watchFor(
  workspace: Workspace,
  account: Account,
  deployKey: DeployKey | undefined,
): Promise<void> {
  const { name, connectedBy: user, connectedAt: since } = account;
  const watched = {
    account: name,
    user,
    since,
    looks: 0,
    ...(deployKey ? { deployKey } : {}),
  };
  await planLook(workspace, watched, undefined);
}

/** One look. Safe to repeat after a kill: the next look has a key of its own. */
export async function watchVerification(workspace: Workspace, job: Job<Watched>): Promise<void> {
  const watched = job.data;
  const account = await workspace.accounts.get(watched.account);
  if (account === undefined || account.connectedAt !== watched.since || account.state === 'broken') return;
  const seen = await look(workspace, account, job.signal);
  const word = workspace.config.SLACK_COMMAND;
  if (seen.kind === 'works')
    return tell(workspace, job, watched, verifiedMessage(account.name, watched.deployKey, word));
  if (seen.kind === 'refused') {
    const explained = explain(seen.error, { word, now: workspace.clock.now() });
    const reason = [explained.text, explained.next].filter(Boolean).join(' ');
    return tell(workspace, job, watched, verifiedButRefusedMessage(account.name, reason));
  }
  if (workspace.clock.now() - watched.since >= WATCHED_MS)
    return tell(workspace, job, watched, neverVerifiedMessage(account.name));
  await planLook(workspace, { ...watched, looks: watched.looks + 1 }, seen.retryAt);
}

type Seen =
  | { kind: 'works' }
  | { kind: 'waits'; retryAt: number | undefined }
  | { kind: 'refused'; error: AccountFailure };

async function look(workspace: Workspace, account: Account, signal: AbortSignal): Promise<Seen> {
  // A command may have found out before us.
  if (account.state === 'ok') return { kind: 'works' };
  try {
    await workspace.accounts.use(account, (client) => listProjects(client, { signal, retries: 0 }));
    return { kind: 'works' };
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    if (WAITS.has(error.cause.kind)) return { kind: 'waits', retryAt: error.cause.retryAt };
    return { kind: 'refused', error };
  }
}

/** Pauses of 30 s, doubled each time up to 15 min, and never before the service asked for. */
async function planLook(workspace: Workspace, watched: Watched, retryAt: number | undefined): Promise<void> {
  const now = workspace.clock.now();
  const pause = nextPollMs({
    intervalMs: FIRST_LOOK_MS,
    failures: watched.looks,
    longestMs: LONGEST_PAUSE_MS,
    retryAt,
    now,
    random: Math.random(),
  });
  const key = `${watched.account} ${watched.since} ${watched.looks}`;
  await workspace.jobs.send(WATCH_VERIFICATION, watched, { key, startAfter: now + pause, newTrace: true });
}

async function tell(
  workspace: Workspace,
  job: Job<Watched>,
  watched: Watched,
  message: Message,
): Promise<void> {
  const { user, account } = watched;
  if (watched.told) return;
  await job.save({ ...watched, told: true });
  try {
    await workspace.slack.sendDirectMessage(user, message);
  } catch (error) {
    if (!isSlackFailure(error, 'gone', 'revoked')) {
      await job.save({ ...watched, told: false });
      throw error;
    }
    workspace.log.warn({ event: 'answer_failed', user, account, err: error }, 'nobody to tell');
  }
}

export const WATCH_VERIFICATION = defineJob({
  queue: 'watch-verification',
  schema: Watched,
  options: { concurrency: 10, attempts: 5, backoffMs: 60_000 },
  run: watchVerification,
});
