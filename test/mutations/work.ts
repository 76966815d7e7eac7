import type { Mutation } from './mutation.ts';

const LIMITS = 'src/scheduler/schedules/lifecycle.ts';
const GUARD = 'src/store/sqlite-guard.ts';
const CRON = 'src/jobs/cron-occurrences.ts';
const ADD_SERVER = 'src/scheduler/servers/add-server.ts';
const QUARANTINE_TEST = 'test/trust/quarantine.test.ts';
const DIGEST_TEST = 'test/commands/digests/digest.test.ts';
const GUARD_TEST = 'test/store/sqlite-guard.test.ts';
const CRON_TEST = 'test/jobs/cron-occurrences.test.ts';
const DOUBLES_TEST = 'test/process/doubles.test.ts';
const ORDER_TEST = 'test/commands/servers/order.test.ts';
const FOLLOWED_TEST = 'test/commands/servers/followed.test.ts';

/** How work is done: whose turn it is, what cannot be read, when it is due, what may stand twice. */
export const WORK: readonly Mutation[] = [
  {
    name: 'one channel may take all that its workspace may run',
    file: 'src/core/shares.ts',
    from: 'if (lane === undefined) return true;',
    to: 'if (lane !== null) return true;',
    tests: ['test/jobs/shares.test.ts'],
    only: 'lane runs no more',
  },
  {
    name: 'a slow account takes all connections to the service',
    file: 'src/core/shares.ts',
    from: 'if (this.#shares.hasRoom({ workspace: key })) {',
    to: 'if (this.#shares.free > 0) {',
    tests: ['test/core/locks.test.ts'],
  },
  {
    name: 'a workspace with much work goes first, until it has none',
    file: 'src/listeners/background-work.ts',
    from: `const [key, line] = next;
    this.#waiting.delete(key);`,
    to: `const [key, line] = next;
    if (line.isEmpty) this.#waiting.delete(key);`,
    tests: ['test/listeners/turns.test.ts'],
    only: 'between workspaces',
  },
  {
    name: 'a channel may have any number of schedules',
    file: LIMITS,
    from: 'if (here + added > MOST_IN_CHANNEL)',
    to: 'if (here + added < 0)',
    tests: [DIGEST_TEST],
    only: 'in a channel with 50',
  },
  {
    name: 'a workspace may have any number of schedules',
    file: LIMITS,
    from: 'if (channels.length + added > MOST_IN_WORKSPACE)',
    to: 'if (channels.length + added < 0)',
    tests: [DIGEST_TEST],
    only: 'in a workspace with 500',
  },
  {
    name: 'a job of an unknown shape is not set aside',
    file: 'src/jobs/run-job.ts',
    from: 'if (error instanceof JobUnreadable) return this.#setAside();',
    to: '',
    tests: [QUARANTINE_TEST],
    only: 'jobs and schedules',
  },
  {
    name: 'a schedule of an unknown zone keeps the others from their turn',
    file: 'src/jobs/occurrences.ts',
    from: 'return { schedule, nextAt: undefined, job: undefined };',
    to: 'throw err;',
    tests: ['test/jobs/backend.test.ts'],
    only: 'whose zone is unknown',
  },
  {
    name: 'the owner of what cannot be read is not told',
    file: 'src/store/quarantine.ts',
    from: 'if (isFirst) onQuarantined?.(record);',
    to: 'void [isFirst, onQuarantined];',
    tests: [QUARANTINE_TEST],
    only: 'jobs and schedules',
  },
  {
    name: 'a record that cannot be read is not counted',
    file: 'src/open.ts',
    from: "metrics.quarantined('document', kind);",
    to: '',
    tests: [QUARANTINE_TEST],
    only: 'bad records',
  },
  {
    name: 'two processes run on one SQLite file by two names',
    file: GUARD,
    from: 'if (existsSync(path) && lastGuard(path) !== id) expectFree(path);',
    to: 'void [lastGuard, expectFree];',
    tests: [GUARD_TEST],
    only: 'is refused by',
  },
  {
    name: 'two processes run on one SQLite file',
    file: GUARD,
    from: 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE',
    to: 'PRAGMA journal_mode = MEMORY',
    tests: [GUARD_TEST],
    only: 'a folder’s symbolic link',
  },
  {
    name: 'a lock that another process holds stops the event loop',
    file: 'src/open.ts',
    from: "file.database.exec('PRAGMA busy_timeout = 0');",
    to: '',
    tests: [GUARD_TEST],
    only: 'a lock that another process holds',
  },
  {
    name: 'a watch that is resumed while its last poll ends is polled no more',
    file: 'src/scheduler/schedules/lifecycle.ts',
    from: 'await kind.start(workspace, changed);',
    to: '',
    tests: ['test/scheduler/schedules/resume.test.ts'],
  },
  {
    name: 'a snoozed week has an hour too many where the clocks change',
    file: 'src/commands/digests/lifecycle.ts',
    from: 'daysLater(schedule.record.zone, clock.now(), SNOOZED_DAYS)',
    to: 'clock.now() + SNOOZED_DAYS * 86_400_000',
    tests: [DIGEST_TEST],
    only: 'where the clocks change',
  },
  {
    name: 'minutes as a star are silent in the second of two hours of one name',
    file: CRON,
    from: 'if (!isRepeated || !hasChange) return [];',
    to: 'if (isRepeated || !hasChange) return [];',
    tests: [CRON_TEST],
    only: 'in both of two hours',
  },
  {
    name: 'a time that comes twice is due twice',
    file: CRON,
    from: 'if (!isRepeated || !hasChange) return [];',
    to: 'if (!hasChange) return [];',
    tests: [CRON_TEST],
    only: 'listed minutes, in the first',
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
    from: "countUnanswered(workspace, { operation: 'createServer', ...fields });",
    to: 'void [countUnanswered, fields];',
    tests: [ORDER_TEST],
    only: 'finds the server by its name',
  },
  {
    name: 'the root message of a server that may stand twice is not counted',
    file: ADD_SERVER,
    from: 'if (order.posting) countRepeated(workspace, { channel, delivery: clientMsgId });',
    to: 'void countRepeated;',
    tests: [DOUBLES_TEST],
    only: 'root message of a server',
  },
  {
    name: 'a test run that may run twice is neither counted nor said',
    file: 'src/scheduler/test-access/follow-test.ts',
    from: 'if (thread.state.run === undefined && thread.state.asked === true) await noteStartedTwice(following);',
    to: 'void noteStartedTwice;',
    tests: [DOUBLES_TEST],
    only: 'start of a test run',
  },
  {
    name: 'a reply that Slack may have is posted again',
    file: 'src/scheduler/followed-thread.ts',
    from: 'if (telling === key) {',
    to: 'if (telling === null) {',
    tests: [FOLLOWED_TEST],
    only: 'picked up after a kill',
  },
  {
    name: 'a reply that may be missing is not counted',
    file: 'src/scheduler/followed-thread.ts',
    from: 'countWithheld(this.#context, { channel, delivery: clientMsgId });',
    to: 'void countWithheld;',
    tests: [FOLLOWED_TEST],
    only: 'picked up after a kill',
  },
];
