import type { Mutation } from './mutation.ts';

const LIMITS = 'src/scheduler/schedules/lifecycle.ts';
const GUARD = 'src/store/sqlite.ts';
const CRON = 'src/core/time/cron.ts';
const ADD_SERVER = 'src/scheduler/servers/add-server.ts';
const UNREADABLE_TEST = 'test/trust/unreadable.test.ts';
const DIGEST_TEST = 'test/commands/digests/digest.test.ts';
const GUARD_TEST = 'test/store/sqlite-guard.test.ts';
const CRON_TEST = 'test/core/cron.test.ts';
const CHAIN_TEST = 'test/scheduler/schedules/chain.test.ts';
const DOUBLES_TEST = 'test/process/doubles.test.ts';
const ORDER_TEST = 'test/commands/servers/order.test.ts';

/** How work is done: whose turn it is, what cannot be read, when it is due, what may stand twice. */
export const WORK: readonly Mutation[] = [
  {
    name: 'a slow account takes all connections to the service',
    file: 'src/service/transport.ts',
    from: 'if (authorization === undefined) return common;',
    to: 'if (authorization !== null) return common;',
    tests: ['test/service/transport.test.ts'],
    only: 'leaves others theirs',
  },
  {
    name: 'a channel may have any number of schedules',
    file: LIMITS,
    from: 'if (here + added > MAX_IN_CHANNEL)',
    to: 'if (here + added < 0)',
    tests: [DIGEST_TEST],
    only: 'in a channel with 50',
  },
  {
    name: 'a workspace may have any number of schedules',
    file: LIMITS,
    from: 'if (all.length + added > MAX_IN_WORKSPACE)',
    to: 'if (all.length + added < 0)',
    tests: [DIGEST_TEST],
    only: 'in a workspace with 500',
  },
  {
    name: 'a job of an unknown shape is tried again and again',
    file: 'src/jobs/run-job.ts',
    from: 'store: () => backend.keepUnreadable(job)',
    to: 'store: () => backend.release(job, 1_000)',
    tests: ['test/jobs/jobs.test.ts'],
    only: 'cannot be read',
  },
  {
    name: 'a digest in an unknown zone is read',
    file: 'src/records/schedules.ts',
    from: 'cadence: Cadence,\n  zone: ZoneName,',
    to: 'cadence: Cadence,\n  zone: z.string(),',
    tests: [UNREADABLE_TEST],
    only: 'unknown zone',
  },
  {
    name: 'an occurrence that was done is done again',
    file: 'src/scheduler/schedules/timed.ts',
    from: 'if (doneAt >= scheduledAt || ',
    to: 'if (doneAt === Infinity || ',
    tests: [CHAIN_TEST],
    only: 'has been done',
  },
  {
    name: 'an occurrence of a schedule that was edited since is done',
    file: 'src/scheduler/schedules/timed.ts',
    from: 'next(scheduledAt - 1) !== scheduledAt',
    to: 'next(scheduledAt - 1) < 0',
    tests: [CHAIN_TEST],
    only: 'other times by now',
  },
  {
    name: 'a record that cannot be read is not counted',
    file: 'src/open.ts',
    from: "metrics.unreadable('document', kind);",
    to: '',
    tests: [UNREADABLE_TEST],
    only: 'bad records',
  },
  {
    name: 'two processes run on one SQLite file by two names',
    file: GUARD,
    from: 'if (statSync(path).nlink > 1)',
    to: 'if (statSync(path).nlink < 0)',
    tests: [GUARD_TEST],
    only: 'is refused by',
  },
  {
    name: 'two processes run on one SQLite file',
    file: GUARD,
    from: 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE',
    to: 'PRAGMA journal_mode = MEMORY',
    tests: [GUARD_TEST],
    only: 'is refused by',
  },
  {
    name: 'a lock that another process holds stops the event loop',
    file: 'src/open.ts',
    from: "database.exec('PRAGMA busy_timeout = 0');",
    to: '',
    tests: [GUARD_TEST],
    only: 'a lock that another process holds',
  },
  {
    name: 'a watch that is resumed while its last poll ends is polled no more',
    file: 'src/scheduler/schedules/start.ts',
    from: "if (changed?.state.kind === 'active') await",
    to: 'if (changed === null) await',
    tests: ['test/scheduler/schedules/resume.test.ts', 'test/scheduler/schedules/accounts.test.ts'],
  },
  {
    name: 'a snoozed week has an hour too many where the clocks change',
    file: 'src/commands/digests/digest.ts',
    from: 'daysLater(digest.zone, clock.now(), SNOOZED_DAYS)',
    to: 'clock.now() + SNOOZED_DAYS * 86_400_000',
    tests: [DIGEST_TEST],
    only: 'where the clocks change',
  },
  {
    name: 'a guard tells of what one test found',
    file: 'src/scheduler/guards/guard.ts',
    from: 'return still.length === 0 ? undefined : still;',
    to: 'return unreachable;',
    tests: ['test/scheduler/guards/guard.test.ts'],
    only: 'flickers',
  },
  {
    name: 'what is due every hour is silent in the second of two hours of one name',
    file: CRON,
    from: 'return isHourly ? instants : ',
    to: 'return isHourly ? instants.slice(0, 1) : ',
    tests: [CRON_TEST],
    only: 'in both of two hours',
  },
  {
    name: 'a time that comes twice is due twice',
    file: CRON,
    from: 'return isHourly ? instants : ',
    to: 'return isHourly || instants.length > 0 ? instants : ',
    tests: [CRON_TEST],
    only: 'the first one only',
  },
  {
    name: 'an order whose answer was lost is not looked for',
    file: 'src/scheduler/servers/server-order.ts',
    from: 'look <= LOOKS; look += 1',
    to: 'look < 1 && LOOKS > 0; look += 1',
    tests: [ORDER_TEST],
    only: 'finds the server by its name',
  },
  {
    name: 'an order whose answer was lost is not counted',
    file: ADD_SERVER,
    from: "countPossibleDuplicate(workspace, 'order', fields);",
    to: 'void [countPossibleDuplicate, fields];',
    tests: [ORDER_TEST],
    only: 'finds the server by its name',
  },
  {
    name: 'the root message of a server that may stand twice is not counted',
    file: ADD_SERVER,
    from: 'possibleDuplicate: attempt > 1,',
    to: 'possibleDuplicate: attempt < 0,',
    tests: [DOUBLES_TEST],
    only: 'root message of a server',
  },
  {
    name: 'a test run that may run twice is not counted',
    file: 'src/scheduler/test-access/follow-test.ts',
    from: 'if (following.possibleDuplicate)',
    to: 'if (following.signal.aborted)',
    tests: [DOUBLES_TEST],
    only: 'start of a test run',
  },
  {
    name: 'a reply that may stand twice is not counted',
    file: 'src/scheduler/followed-thread.ts',
    from: 'this.#possibleDuplicate = mayHavePosted(error)',
    to: 'this.#possibleDuplicate = false',
    tests: ['test/slack/repeats.test.ts'],
    only: 'not answered 9 times',
  },
  {
    name: 'work that is under way at the end is failed instead of handed back',
    file: 'src/jobs/run-job.ts',
    from: 'if (!abort.signal.aborted) return afterFailure(queue, job, data, error, context);',
    to: 'if (data !== null) return afterFailure(queue, job, data, error, context);',
    tests: ['test/jobs/jobs.test.ts'],
    only: 'hands back at a stop',
  },
];
