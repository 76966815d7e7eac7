import type { z } from 'zod';
import { InstallationEnded } from '../core/errors.ts';
import { Line } from '../core/locks.ts';
import { type Engine, type Job, type JobData, JobUnreadable } from '../jobs/jobs.ts';
import type { Logger } from '../observability/log.ts';
import type { JobDefinition } from '../workspace/define-job.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';

/** Work that continues after its ack. Bolt's `stop()` does not wait for it; ours does. */
export type BackgroundWork = ReturnType<typeof createBackgroundWork>;

export function createBackgroundWork(log: Logger, turns: Pick<Turns, 'run'>) {
  const running = new Set<Promise<void>>();

  function track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) =>
        log.error({ event: 'bug', err: error }, 'work after an ack failed without an answer'),
      )
      .finally(() => running.delete(tracked));
    running.add(tracked);
  }

  return {
    /**
     * Begins `work` after the acks of what has come in by then, so that under load the work of some requests does not
     * delay the acks of others: Slack waits three seconds for each. Those of one key, a workspace, take its turns. `work`
     * must answer its own failures.
     */
    begin: (key: string, work: () => Promise<void>) => track(turns.run(key, true, work)),
    /** Waits for work that has begun already, because its ack depends on it. */
    track,
    /** Resolves when everything has ended. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Decides when work begins, so that it delays no acknowledgement: Slack waits three seconds for each. */
export interface Turns {
  /**
   * Runs work when it is its turn. Keys take turns, so one with much work delays no other; in each, what a person waits
   * for goes before what runs by itself, of which little is begun until it has ended.
   */
  run<T>(key: string, isAwaited: boolean, work: () => Promise<T>): Promise<T>;
  /** A request has come in. The returned function says, once, that it is acknowledged. */
  arrive(): () => void;
  /** A connection has come in: what it brings is not known before it is read. */
  connect(): void;
}

/** How long work may go on in a turn of the event loop before what came in is read, in milliseconds. */
const BUDGET_MS = 8;

/** While requests wait for their acks, which take several turns. */
const BUDGET_WHILE_ACKING_MS = 3;

/** Where work that began before fills the turns, one is begun in so many: all of it goes on in the longest flood. */
const TURNS_WITHOUT_ROOM = 4;

/** While a person waits for work of a key, one of what runs by itself there is begun in so many turns. */
const TURNS_BETWEEN_OTHERS = 10;

const MOST_PER_TURN = 50;

/** The works of a key that people wait for and that have begun. */
interface UnderWay {
  amount: number;
  /** The turn in which another work was begun meanwhile. */
  otherAt: number;
}

export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting = new Map<string, Line<() => void>>();
  const underWay = new Map<string, UnderWay>();
  let unacknowledged = 0;
  let turn = 0;
  let left = 0;
  let endsAt = 0;
  /** When no more was begun in the turn before; undefined where nothing waited then. */
  let endedAt: number | undefined;
  let turnsWithoutRoom = 0;

  /** All of them run in one turn of the event loop, each with what follows from it before the next. */
  function plan(): void {
    if (left > 0 || waiting.size === 0) return;
    left = MOST_PER_TURN;
    for (let at = 0; at < MOST_PER_TURN; at += 1) setImmediate(step);
  }

  function step(): void {
    if (left === MOST_PER_TURN) beginTurn();
    else if (now() < endsAt) beginNext();
    left -= 1;
    if (left > 0) return;
    endedAt = waiting.size > 0 ? now() : undefined;
    plan();
  }

  function beginTurn(): void {
    const at = now();
    turn += 1;
    // What began before goes on between the turns.
    const spentMs = at - (endedAt ?? at);
    endsAt = at + (unacknowledged > 0 ? BUDGET_WHILE_ACKING_MS : BUDGET_MS) - spentMs;
    turnsWithoutRoom = endsAt > at ? 0 : turnsWithoutRoom + 1;
    if (turnsWithoutRoom % TURNS_WITHOUT_ROOM === 0) beginNext();
  }

  function beginNext(): void {
    const [next] = waiting;
    if (next === undefined) return;
    const [key, line] = next;
    waiting.delete(key);
    const awaited = underWay.get(key);
    const mayBeOther = awaited === undefined || turn - awaited.otherAt >= TURNS_BETWEEN_OTHERS;
    if (awaited !== undefined && mayBeOther) awaited.otherAt = turn;
    line.next(mayBeOther)?.();
    // Behind all the others.
    if (!line.isEmpty) waiting.set(key, line);
  }

  function take(key: string, isAwaited: boolean): Promise<void> {
    return new Promise((resolve) => {
      const line = waiting.get(key) ?? new Line();
      waiting.set(key, line);
      line.add(resolve, isAwaited);
      plan();
    });
  }

  function arrive(): () => void {
    unacknowledged += 1;
    return () => {
      unacknowledged -= 1;
    };
  }

  return {
    async run(key, isAwaited, work) {
      await take(key, isAwaited);
      return isAwaited ? runAwaited(underWay, key, turn, work) : work();
    },
    arrive,
    connect: () => void setImmediate(arrive()),
  };
}

async function runAwaited<T>(
  underWay: Map<string, UnderWay>,
  key: string,
  turn: number,
  work: () => Promise<T>,
): Promise<T> {
  const all = underWay.get(key) ?? { amount: 0, otherAt: turn };
  all.amount += 1;
  underWay.set(key, all);
  try {
    return await work();
  } finally {
    all.amount -= 1;
    if (all.amount === 0) underWay.delete(key);
  }
}

/** Declares the worker of a queue: its jobs run in turn, with the context of the workspace that they belong to. */
export function workInTurns<Data>(
  { engine, workspaces, turns }: { engine: Engine; workspaces: Workspaces; turns: Turns },
  { queue, schema, options, isAwaited = false, run, onDeadLetter }: JobDefinition<Data>,
): void {
  engine.work(
    queue,
    ({ data: { workspace: id, lane, tenancy, ...data }, ...job }) =>
      turns.run(id, isAwaited, async () => {
        const workspace = await workspaces.enter(id, tenancy);
        const save = savingWith(job.save, { workspace: id, lane, tenancy });
        // Not awaited here, where what the job came with would be kept as long as it runs.
        return untilEnded(workspace, run(workspace, { ...job, data: readData(schema, data), save }));
      }),
    {
      ...options,
      async onDeadLetter({ workspace: id, lane: _, tenancy: __, ...data }, error) {
        const workspace = await workspaces.enter(id);
        await untilEnded(workspace, onDeadLetter?.(workspace, schema.parse(data), error));
      },
    },
  );
}

/** Saves with what a job carries beside its own data. */
function savingWith<Data>(save: Job<JobData>['save'], envelope: JobData): Job<Data>['save'] {
  return (next) => save({ ...next, ...envelope });
}

/** @throws JobUnreadable */
function readData<Data>(schema: z.ZodType<Data>, data: unknown): Data {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new JobUnreadable('The data of a job has an unexpected shape', { cause: parsed.error });
}

/** What a workspace had under way ends with its installation, and is not tried again. */
async function untilEnded({ log }: Workspace, work: Promise<void> | undefined): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof InstallationEnded)) throw error;
    log.info({ event: 'installation_ended' }, 'work of an installation that has ended was dropped');
  }
}
