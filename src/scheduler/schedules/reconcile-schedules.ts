import { code } from '../../core/mrkdwn.ts';
import type { Job } from '../../jobs/jobs.ts';
import type { Account } from '../../records/accounts.ts';
import { type Paused, RECONCILE_SCHEDULES, type Schedule } from '../../records/schedules.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { pauseSchedule, resumeSchedule, type ScheduleKind } from './lifecycle.ts';
import { notifyOwners } from './notify-owner.ts';

/**
 * Pauses every schedule whose accounts have stopped working, with one message to each owner, and resumes those that
 * were paused for that and work again. Safe to repeat.
 */
async function reconcileSchedules(
  workspace: Workspace,
  kinds: readonly ScheduleKind[],
  { data: { at }, signal }: Job<{ at: number }>,
): Promise<void> {
  const during = `settling ${at}`;
  // One after the other, so that an older list of accounts never decides after a newer one.
  const paused = await workspace.store.exclusive('settle', async () => {
    const each = kinds.map((kind) => reconcileKind(workspace, kind, during));
    return (await Promise.all(each)).flat();
  });
  const accounts = await workspace.accounts.list();
  const next = (theirs: readonly Schedule[]): string => nextStep(workspace, theirs, accounts);
  await notifyOwners(workspace, paused, { during, next, signal });
}

/** @returns those that this run paused, also before a kill */
async function reconcileKind(workspace: Workspace, kind: ScheduleKind, during: string): Promise<Schedule[]> {
  const accounts = await workspace.accounts.list(kind.asker);
  const paused: Schedule[] = [];
  for (const schedule of await kind.list(workspace)) {
    const { state } = schedule;
    if (isServed(schedule, accounts)) {
      if (state.kind === 'paused' && state.cause === 'account')
        await resumeSchedule(workspace, kind, schedule, { cause: 'account' });
      continue;
    }
    const reason = reasonOf(schedule, accounts);
    const why: Paused = { kind: 'paused', cause: 'account', reason, at: workspace.clock.now(), during };
    const standing = state.kind === 'active' ? await pauseSchedule(workspace, kind, schedule, why) : schedule;
    if (standing?.state.kind === 'paused' && standing.state.during === during) paused.push(standing);
  }
  return paused;
}

/** True where at least one of its accounts works. */
export function isServed({ account }: Pick<Schedule, 'account'>, accounts: readonly Account[]): boolean {
  return accounts.some(({ name, state }) => state === 'ok' && (account === undefined || name === account));
}

/** Its own account, else the first that is connected. */
function accountOf({ account }: Schedule, accounts: readonly Account[]): Account | undefined {
  return account === undefined ? accounts[0] : accounts.find(({ name }) => name === account);
}

function reasonOf(schedule: Schedule, accounts: readonly Account[]): string {
  const found = accountOf(schedule, accounts);
  if (found?.state === 'unverified')
    return `the e-mail address of the account ${code(found.name)} is not verified yet`;
  const key = found?.purpose === 'billing' ? 'billing key' : 'key';
  if (found?.isUnreadable === true)
    return `the stored ${key} of the account ${code(found.name)} cannot be read`;
  if (found !== undefined) return `the ${key} of the account ${code(found.name)} was revoked or rotated`;
  if (schedule.account === undefined) return 'no account is connected any more';
  return `the account ${code(schedule.account)} is not connected any more`;
}

function nextStep(
  { word }: Pick<Workspace, 'word'>,
  paused: readonly Schedule[],
  accounts: readonly Account[],
): string {
  const [first] = paused;
  const found = first && accountOf(first, accounts);
  const resumes = paused.length > 1 ? 'They resume by themselves' : 'It resumes by itself';
  if (found?.state === 'unverified') return `${resumes} once it is verified.`;
  const name = found?.name ?? first?.account;
  const connect = code(`${word} connect${name === undefined ? '' : ` ${name}`}`, 120);
  return `${resumes} once an admin connects the account again with ${connect}.`;
}

export function reconcileJob(kinds: readonly ScheduleKind[]): JobDefinition<{ at: number }> {
  return defineJob({
    ...RECONCILE_SCHEDULES,
    options: { concurrency: 10, attempts: 10, backoffMs: 1_000 },
    run: (workspace, job) => reconcileSchedules(workspace, kinds, job),
  });
}
