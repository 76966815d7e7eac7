import type { Job } from '../../core/job.ts';
import { code } from '../../core/mrkdwn.ts';
import { pausedMessage } from '../../views/schedules/paused.ts';
import type { Account } from '../../workspace/accounts.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import { type Paused, RECONCILE_SCHEDULES, type Scheduled } from '../../workspace/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { notifyOwner } from './notify-owner.ts';

/** A kind of schedule, as far as the state of the accounts concerns it: digests, invoice notices, watches. */
export interface ScheduleKind {
  list(workspace: Workspace): Promise<Scheduled[]>;
  /** Ends its slots and keeps why; one that is paused already, or gone, stays as it is. */
  pause(workspace: Workspace, id: string, paused: Paused): Promise<void>;
  /** Only what is paused for the same cause goes on. */
  resume(workspace: Workspace, id: string, cause: Paused['cause']): Promise<void>;
}

/**
 * Pauses every schedule that has no working account left to ask, with one message to each person who set some up, and
 * resumes those that were paused for that and have one again. Safe to repeat.
 */
export async function reconcileSchedules(
  workspace: Workspace,
  kinds: readonly ScheduleKind[],
  job: Job<{ at: number }>,
): Promise<void> {
  const { at } = job.data;
  const during = `settling ${at}`;
  // One after the other, so that an older look at the accounts is never carried out after a newer one.
  const unserved = await workspace.store.exclusive('settle', async () => {
    const accounts = await workspace.accounts.list();
    const each = kinds.map((kind) => settleKind(workspace, kind, { accounts, during }));
    return (await Promise.all(each)).flat();
  });
  const pausedNow = unserved.filter(({ state }) => state.kind === 'active' || state.during === during);
  await tellOwners(workspace, during, pausedNow, job.signal);
}

/** @returns those that have no working account, as they stood before */
async function settleKind(
  workspace: Workspace,
  kind: ScheduleKind,
  { accounts, during }: { accounts: readonly Account[]; during: string },
): Promise<Scheduled[]> {
  const all = await kind.list(workspace);
  for (const scheduled of all.filter(isPausedForAccount).filter((one) => isServed(one, accounts)))
    await kind.resume(workspace, scheduled.id, 'account');
  const unserved = all.filter((one) => !isServed(one, accounts));
  for (const scheduled of unserved.filter(({ state }) => state.kind === 'active')) {
    const reason = reasonOf(scheduled, accounts);
    const paused = { kind: 'paused', cause: 'account', reason, at: workspace.clock.now(), during } as const;
    await kind.pause(workspace, scheduled.id, paused);
  }
  return unserved;
}

function isPausedForAccount({ state }: Scheduled): boolean {
  return state.kind === 'paused' && state.cause === 'account';
}

/** True where at least one account that it asks works. */
export function isServed({ account }: Pick<Scheduled, 'account'>, accounts: readonly Account[]): boolean {
  return accounts.some(({ name, state }) => state === 'ok' && (account === undefined || name === account));
}

async function tellOwners(
  workspace: Workspace,
  during: string,
  paused: readonly Scheduled[],
  signal: AbortSignal,
): Promise<void> {
  const accounts = await workspace.accounts.list();
  for (const [user, theirs] of Map.groupBy(paused, ({ setUpBy }) => setUpBy)) {
    const [first] = theirs;
    if (first === undefined) continue;
    const message = pausedMessage({
      reason: reasonOf(first, accounts),
      what: theirs.map(({ what }) => what),
      next: nextOf(workspace.config.SLACK_COMMAND, first, accounts, theirs.length > 1),
    });
    const { channel } = first;
    await notifyOwner(workspace, {
      id: `${during} ${user}`,
      user,
      message,
      channel,
      signal,
    });
  }
}

/** The account that is to blame: its own, else the first that is connected. */
function culprit({ account }: Scheduled, accounts: readonly Account[]): Account | undefined {
  return account === undefined ? accounts[0] : accounts.find(({ name }) => name === account);
}

function reasonOf(scheduled: Scheduled, accounts: readonly Account[]): string {
  const found = culprit(scheduled, accounts);
  if (found?.state === 'unverified')
    return `the e-mail address of the account ${code(found.name)} is not verified yet`;
  if (found !== undefined) return `the key of the account ${code(found.name)} was revoked or rotated`;
  if (scheduled.account === undefined) return 'no account is connected any more';
  return `the account ${code(scheduled.account)} is not connected any more`;
}

function nextOf(
  word: string,
  scheduled: Scheduled,
  accounts: readonly Account[],
  isSeveral: boolean,
): string {
  const found = culprit(scheduled, accounts);
  const goesOn = isSeveral ? 'They go on by themselves' : 'It goes on by itself';
  if (found?.state === 'unverified') return `${goesOn} once it is.`;
  const name = found?.name ?? scheduled.account;
  const connect = code(`${word} connect${name === undefined ? '' : ` ${name}`}`, 120);
  return `${goesOn} once an admin connects it again with ${connect}.`;
}

export function reconcileJob(kinds: readonly ScheduleKind[]): JobDefinition<{ at: number }> {
  return defineJob({
    ...RECONCILE_SCHEDULES,
    options: { concurrency: 10, attempts: 10, backoffMs: 1_000 },
    run: (workspace, job) => reconcileSchedules(workspace, kinds, job),
  });
}
