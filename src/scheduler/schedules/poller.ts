import { z } from 'zod';
import type { Job, JobType } from '../../core/job.ts';
import type { WorkspaceCollection, WorkspaceStore } from '../../store/workspace-store.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { PollState } from '../polling.ts';
import { nextPollMs } from '../polling.ts';

/** Where the rounds of an account stand. Each round is a job of its own, named by its number. */
const Round = z.object({
  number: z.number(),
  /** False where nothing is to be looked at: then no job waits. */
  goesOn: z.boolean(),
  dueAt: z.number(),
  failures: z.number(),
  retryAt: z.number().optional(),
  /** When the service answered last, milliseconds since the epoch. */
  lookedAt: z.number().optional(),
});
type Round = z.infer<typeof Round>;

const RoundJob = z.object({ account: z.string(), number: z.number() });
type RoundJob = z.infer<typeof RoundJob>;

/** A look at one account of one workspace. */
export interface Poll {
  account: string;
  /** Names this round for ever. */
  id: string;
  pace: PollState;
  signal: AbortSignal;
}

/** How often something is looked at. */
export interface PollInterval {
  queue: string;
  intervalMs(workspace: Workspace): number;
  /** No pause after failures is longer than this many intervals, unless the service asks for it. */
  longestIntervals: number;
}

/** Something that is looked at again and again, once an account and workspace however many channels want it. */
export interface Poller {
  beat: PollInterval;
  isWanted(workspace: Workspace, account: string): Promise<boolean>;
  /** @returns how it went; rejects only for a bug, and then the round is repeated */
  look(workspace: Workspace, look: Poll): Promise<PollState>;
}

export function pollerJob(kind: Poller): JobDefinition<RoundJob> {
  return defineJob({
    ...jobOf(kind.beat),
    options: { concurrency: 50, attempts: 5, backoffMs: 5_000 },
    run: (workspace, job) => goRound(workspace, kind, job),
    // A round that fails for good must not be the last.
    async onDeadLetter(workspace, { account, number }) {
      const standing = await rounds(workspace.store).get(roundsId(kind.beat, account));
      if (standing?.number !== number) return;
      const failures = standing.failures + 1;
      await goOn(workspace, kind, { account, number }, { failures, retryAt: undefined });
    },
  });
}

function jobOf({ queue }: PollInterval): JobType<RoundJob> {
  return { queue, schema: RoundJob };
}

/** Lets the rounds of an account go on, or begin; the next one after an interval. Safe to repeat. */
export async function ensurePolling(
  workspace: Workspace,
  beat: PollInterval,
  account: string,
): Promise<void> {
  const dueAt = workspace.clock.now() + pauseMs(workspace, beat, { failures: 0, retryAt: undefined });
  const standing = await rounds(workspace.store).update(roundsId(beat, account), (current) =>
    current?.goesOn ? current : { number: (current?.number ?? 0) + 1, goesOn: true, dueAt, failures: 0 },
  );
  if (standing !== undefined) await send(workspace, beat, account, standing);
}

/** When the service answered last, and how many looks have failed since; for people who ask. */
export async function roundsOf(
  store: WorkspaceStore,
  beat: PollInterval,
  account: string,
): Promise<Pick<Round, 'lookedAt' | 'failures'>> {
  return (await rounds(store).get(roundsId(beat, account))) ?? { failures: 0 };
}

/** One round. Repeated after a kill it finds by its number whether the next one stands already. */
async function goRound(workspace: Workspace, kind: Poller, job: Job<RoundJob>): Promise<void> {
  const round = job.data;
  const { account, number } = round;
  const standing = await rounds(workspace.store).get(roundsId(kind.beat, account));
  if (standing === undefined) return;
  if (standing.number !== number) {
    if (standing.goesOn) await send(workspace, kind.beat, account, standing);
    return;
  }
  const { failures, retryAt } = standing;
  const id = `${kind.beat.queue} ${account} ${number}`;
  const look = { account, id, pace: { failures, retryAt }, signal: job.signal };
  await goOn(workspace, kind, round, await kind.look(workspace, look));
}

/** Plans the next round, or none where nobody wants one any more. */
async function goOn(
  workspace: Workspace,
  kind: Poller,
  { account, number }: RoundJob,
  pace: PollState,
): Promise<void> {
  const { beat } = kind;
  const now = workspace.clock.now();
  const goesOn = await kind.isWanted(workspace, account);
  const standing = await rounds(workspace.store).update(roundsId(beat, account), (current) => {
    if (current?.number !== number) return current;
    const { failures, retryAt } = pace;
    const lookedAt = failures === 0 ? now : current.lookedAt;
    return {
      number: number + 1,
      goesOn,
      dueAt: now + pauseMs(workspace, beat, pace),
      failures,
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(lookedAt === undefined ? {} : { lookedAt }),
    };
  });
  if (standing === undefined) return;
  if (standing.goesOn) return send(workspace, beat, account, standing);
  // Whoever began to want it just before the rounds stood still found them going on.
  if (await kind.isWanted(workspace, account)) await ensurePolling(workspace, beat, account);
}

function pauseMs(workspace: Workspace, beat: PollInterval, { failures, retryAt }: PollState): number {
  const intervalMs = beat.intervalMs(workspace);
  const longestMs = beat.longestIntervals * intervalMs;
  const now = workspace.clock.now();
  return nextPollMs({ intervalMs, failures, retryAt, now, random: Math.random(), longestMs });
}

async function send(
  { jobs }: Workspace,
  beat: PollInterval,
  account: string,
  { number, dueAt }: Round,
): Promise<void> {
  const key = `${account} ${number}`;
  await jobs.send(jobOf(beat), { account, number }, { key, startAfter: dueAt, newTrace: true });
}

function rounds(store: WorkspaceStore): WorkspaceCollection<Round> {
  return store.collection('rounds', Round);
}

function roundsId({ queue }: PollInterval, account: string): string {
  return `${queue} ${account}`;
}
