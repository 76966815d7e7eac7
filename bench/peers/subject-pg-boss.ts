import { setTimeout as pause } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { AT_ONCE, DAY_MS, type Subject } from './subject.ts';

const QUEUE = 'bench';
const LATER = 'bench-later';
/** How long a worker that found nothing waits, in milliseconds: pg-boss's own `work` waits half a second at least. */
const IDLE_MS = 5;

/** Jobs of pg-boss by hand: one a call, fetched and completed as many at once as are handled at once. */
export async function openPgBossByHand(
  url: string,
): Promise<Pick<Subject, 'fill' | 'send' | 'work' | 'close'>> {
  const boss = new PgBoss({ connectionString: url, max: 10, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  await boss.createQueue(LATER);
  let isOpen = true;
  let working: Promise<void> | undefined;

  async function handle(onHandled: () => void): Promise<void> {
    while (isOpen) {
      const jobs = await boss.fetch(QUEUE, { batchSize: AT_ONCE });
      for (const _ of jobs) onHandled();
      if (jobs.length === 0) await pause(IDLE_MS);
      else
        await boss.complete(
          QUEUE,
          jobs.map(({ id }) => id),
        );
    }
  }

  return {
    async fill(workspaces) {
      for (const workspace of workspaces)
        await boss.send(LATER, { workspace }, { startAfter: new Date(Date.now() + DAY_MS) });
    },
    send: (workspace) => boss.send(QUEUE, { workspace }),
    async work(onHandled) {
      working = handle(onHandled);
    },
    async close() {
      isOpen = false;
      await working;
      await boss.stop({ graceful: false });
    },
  };
}
