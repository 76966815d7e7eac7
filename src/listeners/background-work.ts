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

/** While a person waits for work of a key, one of what runs by itself there is begun after so many milliseconds. */
const BETWEEN_OTHERS_MS = 50;

const MOST_PER_TURN = 50;

/** The works of a key that people wait for and that have begun. */
interface UnderWay {
  amount: number;
  /** When one of what runs by itself might begin meanwhile. */
  otherAt: number;
}

export function createTurns(now: () => number = () => performance.now()): Turns {
  return new TurnTaking(now);
}

class TurnTaking implements Turns {
  readonly #now: () => number;
  readonly #waiting = new Map<string, Line<() => void>>();
  /** What runs by itself, where a person's work goes on. */
  readonly #resting = new Map<string, Line<() => void>>();
  readonly #underWay = new Map<string, UnderWay>();
  #unacknowledged = 0;
  #left = 0;
  #endsAt = 0;
  /** When no more was begun in the turn before; undefined where nothing waited then. */
  #endedAt: number | undefined;
  #turnsWithoutRoom = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  async run<T>(key: string, isAwaited: boolean, work: () => Promise<T>): Promise<T> {
    await this.#take(key, isAwaited);
    return isAwaited ? this.#runAwaited(key, work) : work();
  }

  arrive(): () => void {
    this.#unacknowledged += 1;
    return () => {
      this.#unacknowledged -= 1;
    };
  }

  readonly connect = (): void => {
    setImmediate(this.arrive());
  };

  #take(key: string, isAwaited: boolean): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(key) ?? this.#resting.get(key) ?? new Line();
      line.add(resolve, isAwaited);
      if (!this.#resting.has(key)) this.#waiting.set(key, line);
      else if (isAwaited) this.#wake(key);
      this.#plan();
    });
  }

  /** All of them run in one turn of the event loop, each with what follows from it before the next. */
  #plan(): void {
    if (this.#left > 0 || this.#waiting.size === 0) return;
    this.#left = MOST_PER_TURN;
    const step = (): void => this.#step();
    for (let at = 0; at < MOST_PER_TURN; at += 1) setImmediate(step);
  }

  #step(): void {
    if (this.#left === MOST_PER_TURN) this.#beginTurn();
    else if (this.#now() < this.#endsAt) this.#beginNext();
    this.#left -= 1;
    if (this.#left > 0) return;
    this.#endedAt = this.#waiting.size > 0 ? this.#now() : undefined;
    this.#plan();
  }

  #beginTurn(): void {
    const at = this.#now();
    // What began before goes on between the turns.
    const spentMs = at - (this.#endedAt ?? at);
    this.#endsAt = at + (this.#unacknowledged > 0 ? BUDGET_WHILE_ACKING_MS : BUDGET_MS) - spentMs;
    this.#turnsWithoutRoom = this.#endsAt > at ? 0 : this.#turnsWithoutRoom + 1;
    if (this.#turnsWithoutRoom % TURNS_WITHOUT_ROOM === 0) this.#beginNext();
  }

  #beginNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [key, line] = next;
    this.#waiting.delete(key);
    const restMs = this.#restOfOthers(key);
    const begin = line.next(restMs <= 0);
    begin?.();
    if (line.isEmpty) return;
    // Behind all the others.
    if (begin !== undefined) this.#waiting.set(key, line);
    else this.#rest(key, line, restMs);
  }

  /** For how many milliseconds what runs by itself does not begin; where for none, the pause begins anew. */
  #restOfOthers(key: string): number {
    const awaited = this.#underWay.get(key);
    if (awaited === undefined) return 0;
    const restMs = awaited.otherAt + BETWEEN_OTHERS_MS - this.#now();
    if (restMs <= 0) awaited.otherAt = this.#now();
    return restMs;
  }

  #rest(key: string, line: Line<() => void>, ms: number): void {
    this.#resting.set(key, line);
    setTimeout(() => this.#wake(key), ms);
  }

  #wake(key: string): void {
    const line = this.#resting.get(key);
    if (line === undefined) return;
    this.#resting.delete(key);
    this.#waiting.set(key, line);
    this.#plan();
  }

  async #runAwaited<T>(key: string, work: () => Promise<T>): Promise<T> {
    const all = this.#underWay.get(key) ?? { amount: 0, otherAt: this.#now() };
    all.amount += 1;
    this.#underWay.set(key, all);
    try {
      return await work();
    } finally {
      all.amount -= 1;
      if (all.amount === 0) {
        this.#underWay.delete(key);
        this.#wake(key);
      }
    }
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
      isAwaited,
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
export async function untilEnded(
  { log }: Pick<Workspace, 'log'>,
  work: Promise<void> | undefined,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof InstallationEnded)) throw error;
    log.info({ event: 'installation_ended' }, 'work of an installation that has ended was dropped');
  }
}
