import { z } from 'zod';
import type { Deckhand } from '../../deckhand.ts';
import type { Job, JobData } from '../../jobs/jobs.ts';
import type { Collection, Store } from '../../store/store.ts';
import { nextPollMs } from '../poll-interval.ts';
import type { PollState } from '../polling.ts';

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

const RoundJob = z.object({ workspace: z.string(), account: z.string(), number: z.number() });

/** A look at one account of one workspace. */
export interface Poll {
  workspace: string;
  account: string;
  /** Names this round for ever. */
  id: string;
  pace: PollState;
  signal: AbortSignal;
}

/** How often something is looked at. */
export interface PollInterval {
  queue: string;
  intervalMs(deckhand: Deckhand): number;
  /** No pause after failures is longer than this many intervals, unless the service asks for it. */
  longestIntervals: number;
}

/** Something that is looked at again and again, once an account and workspace however many channels want it. */
export interface Poller {
  beat: PollInterval;
  isWanted(deckhand: Deckhand, workspace: string, account: string): Promise<boolean>;
  /** @returns how it went; rejects only for a bug, and then the round is repeated */
  look(deckhand: Deckhand, look: Poll): Promise<PollState>;
}

/** Declares the worker; before the engine starts. */
export function declarePoller(deckhand: Deckhand, kind: Poller): void {
  deckhand.engine.work(kind.beat.queue, (job) => goRound(deckhand, kind, job), {
    concurrency: 50,
    attempts: 5,
    backoffMs: 5_000,
    // A round that fails for good must not be the last.
    onDeadLetter: async (data) => {
      const { workspace, account, number } = RoundJob.parse(data);
      const standing = await rounds(deckhand.store).get(workspace, roundsId(kind.beat, account));
      if (standing?.number !== number) return;
      const failures = standing.failures + 1;
      await goOn(deckhand, kind, { workspace, account, number }, { failures, retryAt: undefined });
    },
  });
}

/** Lets the rounds of an account go on, or begin; the next one after an interval. Safe to repeat. */
export async function ensurePolling(
  deckhand: Deckhand,
  beat: PollInterval,
  workspace: string,
  account: string,
): Promise<void> {
  const dueAt = deckhand.clock.now() + pauseMs(deckhand, beat, { failures: 0, retryAt: undefined });
  const standing = await rounds(deckhand.store).update(workspace, roundsId(beat, account), (current) =>
    current?.goesOn ? current : { number: (current?.number ?? 0) + 1, goesOn: true, dueAt, failures: 0 },
  );
  if (standing !== undefined) await send(deckhand, beat, workspace, account, standing);
}

/** When the service answered last, and how many looks have failed since; for people who ask. */
export async function roundsOf(
  store: Store,
  beat: PollInterval,
  workspace: string,
  account: string,
): Promise<Pick<Round, 'lookedAt' | 'failures'>> {
  return (await rounds(store).get(workspace, roundsId(beat, account))) ?? { failures: 0 };
}

/** One round. Repeated after a kill it finds by its number whether the next one stands already. */
async function goRound(deckhand: Deckhand, kind: Poller, job: Job<JobData>): Promise<void> {
  const round = RoundJob.parse(job.data);
  const { workspace, account, number } = round;
  const standing = await rounds(deckhand.store).get(workspace, roundsId(kind.beat, account));
  if (standing === undefined) return;
  if (standing.number !== number) {
    if (standing.goesOn) await send(deckhand, kind.beat, workspace, account, standing);
    return;
  }
  const { failures, retryAt } = standing;
  const id = `${kind.beat.queue} ${account} ${number}`;
  const look = { workspace, account, id, pace: { failures, retryAt }, signal: job.signal };
  await goOn(deckhand, kind, round, await kind.look(deckhand, look));
}

/** Plans the next round, or none where nobody wants one any more. */
async function goOn(
  deckhand: Deckhand,
  kind: Poller,
  { workspace, account, number }: z.infer<typeof RoundJob>,
  pace: PollState,
): Promise<void> {
  const { beat } = kind;
  const now = deckhand.clock.now();
  const goesOn = await kind.isWanted(deckhand, workspace, account);
  const standing = await rounds(deckhand.store).update(workspace, roundsId(beat, account), (current) => {
    if (current?.number !== number) return current;
    const { failures, retryAt } = pace;
    const lookedAt = failures === 0 ? now : current.lookedAt;
    return {
      number: number + 1,
      goesOn,
      dueAt: now + pauseMs(deckhand, beat, pace),
      failures,
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(lookedAt === undefined ? {} : { lookedAt }),
    };
  });
  if (standing === undefined) return;
  if (standing.goesOn) return send(deckhand, beat, workspace, account, standing);
  // Whoever began to want it just before the rounds stood still found them going on.
  if (await kind.isWanted(deckhand, workspace, account))
    await ensurePolling(deckhand, beat, workspace, account);
}

function pauseMs(deckhand: Deckhand, beat: PollInterval, { failures, retryAt }: PollState): number {
  const intervalMs = beat.intervalMs(deckhand);
  const longestMs = beat.longestIntervals * intervalMs;
  const now = deckhand.clock.now();
  return nextPollMs({ intervalMs, failures, retryAt, now, random: Math.random(), longestMs });
}

async function send(
  { engine }: Deckhand,
  { queue }: PollInterval,
  workspace: string,
  account: string,
  { number, dueAt }: Round,
): Promise<void> {
  const key = `${workspace} ${account} ${number}`;
  await engine.send(queue, { workspace, account, number }, { key, startAfter: dueAt, newTrace: true });
}

function rounds(store: Store): Collection<Round> {
  return store.collection('rounds', Round);
}

function roundsId({ queue }: PollInterval, account: string): string {
  return `${queue} ${account}`;
}
