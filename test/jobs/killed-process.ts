import process from 'node:process';
import { systemClock } from '../../src/core/clock.ts';
import type { JobData } from '../../src/jobs/jobs.ts';
import { createJobs } from '../../src/jobs/runner.ts';
import { createSqliteJobs } from '../../src/jobs/sqlite-jobs.ts';
import { openStore } from '../../src/store/open-store.ts';

/** A process that is to be killed: works on jobs of five steps each and says what it does, line by line. */
const [, , url = '', jobs = '0'] = process.argv;
const STEPS = 5;

type Steps = JobData & { name: number; step: number };

function say(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}

const { sqlite } = await openStore(url);
if (sqlite === undefined) throw new Error(`${url} is no SQLite file`);
const engine = createJobs({
  backend: createSqliteJobs(sqlite, systemClock),
  clock: systemClock,
});
engine.work<Steps>(
  'steps',
  async (job) => {
    for (let step = job.data.step + 1; step <= STEPS; step += 1) {
      await say(`step ${job.data.name} ${step}`);
      await job.save({ ...job.data, step });
    }
    await say(`end ${job.data.name}`);
  },
  { concurrency: 3, attempts: 1, backoffMs: 10 },
);
for (let name = 0; name < Number(jobs); name += 1) {
  await engine.send('steps', { workspace: 'T1', name, step: 0 }, { key: String(name) });
}
await say('sent');
await engine.start();
