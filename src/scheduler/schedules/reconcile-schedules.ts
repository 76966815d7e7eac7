import { z } from 'zod';
import { code } from '../../core/mrkdwn.ts';
import type { Logger } from '../../observability/log.ts';
import type { Account } from '../../records/accounts.ts';
import { allows } from '../../records/channels.ts';
import { RECONCILE_SCHEDULES, type Schedule } from '../../records/schedules.ts';
import { DATA_KEYS, GLOBAL, type Store } from '../../store/store.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace, Workspaces } from '../../workspace/workspace.ts';
import { resumeSchedule, type ScheduleKind } from './lifecycle.ts';
import { notifyResumed, type Pausing, pauseAndNotify, type Reason } from './notify-owner.ts';

/**
 * Pauses every schedule whose accounts have stopped working, or whose command is switched off in its channel, with one
 * message to each owner, and resumes those that were paused for that and may post again. Safe to repeat.
 */
async function reconcileSchedules(
  workspace: Workspace,
  kinds: readonly ScheduleKind[],
  at: number,
): Promise<void> {
  const causeId = `settling ${at}`;
  // One after the other, so that an older list of accounts never decides after a newer one.
  await workspace.store.exclusive('settle', async () => {
    const { pausing, resuming } = await findChanges(workspace, kinds);
    const { account: unserved = [], channel: switchedOff = [] } = Object.groupBy(
      pausing,
      ({ why }) => why.cause,
    );
    const accounts = await workspace.accounts.list();
    const next = (theirs: readonly Schedule[]): string => nextStep(workspace, theirs, accounts);
    for (const [reason, some] of Map.groupBy(unserved, ({ why }) => why.reason))
      await pauseAndNotify(workspace, some, { causeId: `${causeId} ${reason}`, next });
    for (const [channel, there] of Map.groupBy(switchedOff, ({ schedule }) => schedule.channel))
      await pauseAndNotify(workspace, there, {
        causeId: `${causeId} ${channel}`,
        next: (theirs) =>
          `${resumes(theirs)} once an admin allows ${theirs.length > 1 ? 'them' : 'it'} there with ${code(`${workspace.word} roles`)}.`,
      });
    for (const [reason, some] of Map.groupBy(resuming, ({ why }) => why.reason))
      await notifyResumed(workspace, some, { causeId: `${causeId} ${reason}`, reason });
    for (const { kind, schedule, why } of resuming)
      await resumeSchedule(workspace, kind, schedule, { cause: why.cause });
  });
}

/** Why a schedule that Deckhand paused for `cause` goes on. */
function whyResumed(cause: Reason['cause'], schedule: Schedule, accounts: readonly Account[]): Reason {
  if (cause === 'channel') return { cause, reason: 'an admin allows that here again' };
  const name = schedule.account ?? accounts.find(({ state }) => state === 'ok')?.name;
  return { cause, reason: `the account ${code(name)} works again` };
}

interface Changes {
  pausing: Pausing[];
  /** Paused for an account or a channel, and nothing keeps them from going on. */
  resuming: Pausing[];
}

async function findChanges(workspace: Workspace, kinds: readonly ScheduleKind[]): Promise<Changes> {
  const changes: Changes = { pausing: [], resuming: [] };
  for (const kind of kinds) {
    const accounts = await workspace.accounts.list(kind.requester);
    for (const schedule of await kind.list(workspace)) {
      const { state } = schedule;
      const why = await whyNot(workspace, kind, schedule, accounts);
      if (state.kind === 'active' && why !== undefined) changes.pausing.push({ kind, schedule, why });
      if (state.kind === 'active' || why !== undefined) continue;
      const { cause } = state;
      if (cause === 'account' || cause === 'channel')
        changes.resuming.push({ kind, schedule, why: whyResumed(cause, schedule, accounts) });
    }
  }
  return changes;
}

/** Why a schedule may not post; undefined where it may. */
export async function whyNot(
  { channels }: Workspace,
  { command }: ScheduleKind,
  schedule: Schedule,
  accounts: readonly Account[],
): Promise<Reason | undefined> {
  if (!allows(await channels.get(schedule.channel), command))
    return { cause: 'channel', reason: `${code(command)} is switched off in <#${schedule.channel}>` };
  if (isServed(schedule, accounts)) return undefined;
  return { cause: 'account', reason: reasonOf(schedule, accounts) };
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

function resumes(paused: readonly Schedule[]): string {
  return paused.length > 1 ? 'They resume by themselves' : 'It resumes by itself';
}

function nextStep(
  { word }: Pick<Workspace, 'word'>,
  paused: readonly Schedule[],
  accounts: readonly Account[],
): string {
  const [first] = paused;
  const found = first && accountOf(first, accounts);
  if (found?.state === 'unverified') return `${resumes(paused)} once it is verified.`;
  const name = found?.name ?? first?.account;
  const connect = code(`${word} connect${name === undefined ? '' : ` ${name}`}`, 120);
  return `${resumes(paused)} once an admin connects the account again with ${connect}.`;
}

export function reconcileJob(kinds: readonly ScheduleKind[]): JobDefinition<{ at: number }> {
  return defineJob({
    ...RECONCILE_SCHEDULES,
    options: { concurrency: 10, attempts: 10, backoffMs: 1_000 },
    run: (workspace, { data: { at } }) => reconcileSchedules(workspace, kinds, at),
  });
}

/**
 * Sends missing jobs of schedules again at a start. An unreadable schedule keeps no other from its turn. Never rejects.
 */
export async function startSchedules(
  { workspaces, store, log }: { workspaces: Workspaces; store: Store; log: Logger },
  kinds: readonly ScheduleKind[],
  signal: AbortSignal,
): Promise<void> {
  const report = (err: unknown, workspace?: string): void => {
    const fields = { event: 'schedules_not_started', workspace, err };
    if (!signal.aborted) log.error(fields, 'schedules that have stopped go on after the next start');
  };
  try {
    for (const { id } of await store.of(GLOBAL).collection(DATA_KEYS, z.unknown()).list()) {
      if (signal.aborted) return;
      await startOf(workspaces, id, kinds).catch((error: unknown) => report(error, id));
    }
  } catch (error) {
    report(error);
  }
}

/** A workspace with a schedule has an account, and with it a data key. */
async function startOf(workspaces: Workspaces, id: string, kinds: readonly ScheduleKind[]): Promise<void> {
  const workspace = await workspaces.enterInstalled(id);
  if (workspace === undefined) return;
  for (const kind of kinds)
    for (const schedule of await kind.list(workspace))
      if (schedule.state.kind === 'active') await kind.start(workspace, schedule);
}
