import { z } from 'zod';
import { code } from '../../core/mrkdwn.ts';
import type { Logger } from '../../observability/log.ts';
import type { Account } from '../../records/accounts.ts';
import { allows } from '../../records/channels.ts';
import type { Schedule } from '../../records/schedules.ts';
import { DATA_KEYS, GLOBAL, type Store } from '../../store/store.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace, Workspaces } from '../../workspace/workspace.ts';
import { SCHEDULE_TYPES } from '../schedule-types.ts';
import { isServed, notifyResumed, type Pausing, pauseAndNotify, type Reason } from './pause-schedule.ts';
import { resumeSchedule } from './start-schedule.ts';

/**
 * Pauses each schedule whose accounts have stopped working, or whose command is switched off in its channel.
 * Sends one message to each owner. Resumes schedules whose pause had such a cause and that may post again.
 * Safe to repeat.
 */
async function reconcileSchedules(workspace: Workspace, at: number): Promise<void> {
  const causeId = `settling ${at}`;
  // A lock, so that an older list of accounts never decides after a newer one.
  await workspace.store.exclusive('settle', async () => {
    const { pausing, resuming } = await findChanges(workspace);
    const { account: unserved = [], channel: switchedOff = [] } = Object.groupBy(
      pausing,
      ({ why }) => why.cause,
    );
    const accounts = await workspace.accounts.list();
    const next = (paused: readonly Schedule[]): string => describeRemedy(workspace, paused, accounts);
    for (const [reason, some] of Map.groupBy(unserved, ({ why }) => why.reason))
      await pauseAndNotify(workspace, some, { causeId: `${causeId} ${reason}`, next });
    for (const [channel, there] of Map.groupBy(switchedOff, ({ schedule }) => schedule.channel))
      await pauseAndNotify(workspace, there, {
        causeId: `${causeId} ${channel}`,
        next: (paused) =>
          `${resumes(paused)} once an admin allows ${paused.length > 1 ? 'them' : 'it'} there with ${code(`${workspace.word} roles`)}.`,
      });
    for (const [reason, some] of Map.groupBy(resuming, ({ why }) => why.reason))
      await notifyResumed(workspace, some, { causeId: `${causeId} ${reason}`, reason });
    for (const { schedule, why } of resuming) await resumeSchedule(workspace, schedule, { cause: why.cause });
  });
}

/** Reason why Deckhand resumes a schedule that it paused for `cause`. */
function whyResumed(cause: Reason['cause'], schedule: Schedule, accounts: readonly Account[]): Reason {
  if (cause === 'channel') return { cause, reason: 'an admin allows that here again' };
  const name = schedule.account ?? accounts.find(({ state }) => state === 'ok')?.name;
  return { cause, reason: `the account ${code(name)} works again` };
}

interface Changes {
  pausing: Pausing[];
  /** Schedules that were paused for an account or a channel and may resume. */
  resuming: Pausing[];
}

async function findChanges(workspace: Workspace): Promise<Changes> {
  const changes: Changes = { pausing: [], resuming: [] };
  for (const [kind, schedules] of Map.groupBy(await workspace.schedules.all(), (one) => one.kind)) {
    const accounts = await workspace.accounts.list(SCHEDULE_TYPES[kind].keyUse);
    for (const schedule of schedules) {
      const { state } = schedule;
      const why = await whyNot(workspace, schedule, accounts);
      if (state.kind === 'active' && why !== undefined) changes.pausing.push({ schedule, why });
      if (state.kind === 'active' || why !== undefined) continue;
      const { cause } = state;
      if (cause === 'account' || cause === 'channel')
        changes.resuming.push({ schedule, why: whyResumed(cause, schedule, accounts) });
    }
  }
  return changes;
}

/** Reason why a schedule may not post; undefined if it may. */
export async function whyNot(
  { channels }: Workspace,
  schedule: Schedule,
  accounts: readonly Account[],
): Promise<Reason | undefined> {
  const { command } = SCHEDULE_FACES[schedule.kind];
  if (!allows(await channels.get(schedule.channel), command))
    return { cause: 'channel', reason: `${code(command)} is switched off in <#${schedule.channel}>` };
  if (isServed(schedule, accounts)) return undefined;
  return { cause: 'account', reason: explainPause(schedule, accounts) };
}

/** The schedule's own account, else the first connected one. */
function findAccount({ account }: Schedule, accounts: readonly Account[]): Account | undefined {
  return account === undefined ? accounts[0] : accounts.find(({ name }) => name === account);
}

function explainPause(schedule: Schedule, accounts: readonly Account[]): string {
  const account = findAccount(schedule, accounts);
  if (account?.state === 'unverified')
    return `the e-mail address of the account ${code(account.name)} is not verified yet`;
  const key = account?.purpose === 'billing' ? 'billing key' : 'key';
  if (account?.isUnreadable === true)
    return `the stored ${key} of the account ${code(account.name)} cannot be read`;
  if (account !== undefined) return `the ${key} of the account ${code(account.name)} was revoked or rotated`;
  if (schedule.account === undefined) return 'no account is connected any more';
  return `the account ${code(schedule.account)} is not connected any more`;
}

function resumes(paused: readonly Schedule[]): string {
  return paused.length > 1 ? 'They resume by themselves' : 'It resumes by itself';
}

function describeRemedy(
  { word }: Pick<Workspace, 'word'>,
  paused: readonly Schedule[],
  accounts: readonly Account[],
): string {
  const [first] = paused;
  const account = first && findAccount(first, accounts);
  if (account?.state === 'unverified') return `${resumes(paused)} once it is verified.`;
  const name = account?.name ?? first?.account;
  const connect = code(`${word} connect${name === undefined ? '' : ` ${name}`}`, 120);
  return `${resumes(paused)} once an admin connects the account again with ${connect}.`;
}

/** `at`: milliseconds since the epoch. */
export const AccountsChanged = z.object({ at: z.number() });

/** Sent after accounts or the allowed commands of a channel changed. */
export const RECONCILE = defineJob({
  queue: 'settle-accounts',
  schema: AccountsChanged,
  options: { concurrency: 10, attempts: 10, backoffMs: 1_000 },
  async handle(workspace, { data: { at } }) {
    await reconcileSchedules(workspace, at);
    await startAlways(workspace);
  },
});

/**
 * Sends missing jobs of schedules again at the start. An unreadable schedule does not stop the others. Never
 * rejects.
 */
export async function startSchedules(
  { workspaces, store, log }: { workspaces: Workspaces; store: Store; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const report = (err: unknown, workspace?: string): void => {
    const fields = { event: 'schedules_not_started', workspace, err };
    if (!signal.aborted) log.error(fields, 'Schedules not started');
  };
  try {
    for (const { id } of await store.of(GLOBAL).collection(DATA_KEYS, z.unknown()).list()) {
      if (signal.aborted) return;
      await startAll(workspaces, id).catch((error: unknown) => report(error, id));
    }
  } catch (error) {
    report(error);
  }
}

async function startAlways(workspace: Workspace): Promise<void> {
  for (const type of Object.values(SCHEDULE_TYPES)) await type.startAlways?.(workspace);
}

/** A workspace with an account has a data key. */
async function startAll(workspaces: Workspaces, id: string): Promise<void> {
  const workspace = await workspaces.enterInstalled(id);
  if (workspace === undefined) return;
  await startAlways(workspace);
  for (const schedule of await workspace.schedules.all())
    if (schedule.state.kind === 'active') await SCHEDULE_TYPES[schedule.kind].start(workspace, schedule);
}
